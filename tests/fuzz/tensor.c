// SPDX-License-Identifier: MIT
// Fuzzes descriptors of tensor maps, on devices without tensor maps, with them, and with wide ones.
// A model follows the manual's rules and predicts each result. The bytes of a map are opaque, so it
// predicts only which maps should have equal ones. A refused call should change nothing. The lists
// that a call reads have no byte more than the manual says, so AddressSanitizer finds other reads.
#include "fuzz.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RANK_MOST = 5, MAPS = 4, STEPS = 24, MAP_B = sizeof(CUtensorMap), GUARD_B = 128 };
enum device { HOPPER, TURING, WIDE };

// The verdict of the manual. UNSUPPORTED: it does not say with which code. SILENT: it does not say.
enum verdict { VALID, INVALID, UNSUPPORTED, SILENT };

enum kind { TILED, IM2COL, IM2COL_WIDE };

struct request {
    enum kind kind;
    unsigned type, rank;
    uint64_t address;
    cuuint64_t dim[RANK_MOST], strides_B[RANK_MOST - 1];
    cuuint32_t box[RANK_MOST], steps[RANK_MOST];
    int lower[RANK_MOST], upper[RANK_MOST];
    unsigned channels, pixels, interleave, swizzle, promotion, fill, mode;
    unsigned null; // the number of the pointer that is NULL, counted from 1
};

struct map {
    bool alive;
    struct request request;
    uint8_t bytes[MAP_B];
};

struct model {
    enum device device;
    struct map maps[MAPS];
};

static bool as_driver(void)
{
    const char *name = getenv("CARDLESS_PERSONALITY");
    return name && !strcmp(name, "driver-580");
}

// ---- rules ----

static unsigned bits_of(unsigned type)
{
    static const uint8_t bits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};
    return type < sizeof bits ? bits[type] : 0;
}

static bool is_float(unsigned type)
{
    return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

static bool is_packed(unsigned type)
{
    return type >= CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B;
}

static bool is_align16(unsigned type)
{
    return type > CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B;
}

// "globalAddress … must be aligned to 16 bytes"; "32 byte aligned" if interleave is INTERLEAVE_32B
// or the type is one with ALIGN16B. The same of globalStrides, "and less than 2^40".
static unsigned align_B(const struct request *r)
{
    return r->interleave == CU_TENSOR_MAP_INTERLEAVE_32B || is_align16(r->type) ? 32 : 16;
}

static bool enums_are_valid(const struct request *r)
{
    return bits_of(r->type) && r->interleave <= CU_TENSOR_MAP_INTERLEAVE_32B &&
           r->swizzle <= CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B &&
           r->promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B &&
           r->fill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA &&
           (r->kind != IM2COL_WIDE || r->mode <= CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128) &&
           // "can only be used when tensorDataType represents a floating-point type"
           (!r->fill || is_float(r->type));
}

// "non-zero and less than or equal to the maximum supported dimensionality of 5. If interleave is
// not CU_TENSOR_MAP_INTERLEAVE_NONE, then tensorRank must additionally be greater than or equal to
// 3"; of the other maps "3, 4, or 5".
static bool rank_is_valid(const struct request *r)
{
    const unsigned least = r->kind == TILED && !r->interleave ? 1 : 3;
    return r->rank >= least && r->rank <= RANK_MOST;
}

// "globalDim … must be non-zero and less than or equal to 2^32"; with ALIGN16B "globalDim[0] must
// be a multiple of 128", with 16U4_ALIGN8B "of 2". "elementStrides … must be non-zero and less than
// or equal to 8. When interleave is CU_TENSOR_MAP_INTERLEAVE_NONE, the first element … is ignored".
static bool tensor_is_valid(const struct request *r)
{
    const unsigned unit = is_align16(r->type) ? 128 : is_packed(r->type) ? 2 : 1;
    if (r->address % align_B(r) || r->dim[0] % unit)
        return false;
    for (unsigned i = 0; i < r->rank; i++) {
        if (!r->dim[i] || r->dim[i] > UINT64_C(1) << 32)
            return false;
        if ((i || r->interleave) && (!r->steps[i] || r->steps[i] > 8))
            return false;
        if (i && (r->strides_B[i - 1] % align_B(r) || r->strides_B[i - 1] >> 40))
            return false;
    }
    return true;
}

// "CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B requires interleave to be CU_TENSOR_MAP_INTERLEAVE_NONE";
// "when interleave is CU_TENSOR_MAP_INTERLEAVE_32B, swizzle must be CU_TENSOR_MAP_SWIZZLE_32B"; the
// types with ALIGN16B and wide maps list the swizzles that they take.
static bool layout_is_valid(const struct request *r)
{
    const bool whole = r->swizzle == CU_TENSOR_MAP_SWIZZLE_128B ||
                       r->swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
    if (r->kind == IM2COL_WIDE && !whole && r->swizzle != CU_TENSOR_MAP_SWIZZLE_64B)
        return false;
    if (r->kind != IM2COL_WIDE && r->interleave == CU_TENSOR_MAP_INTERLEAVE_32B &&
        r->swizzle != CU_TENSOR_MAP_SWIZZLE_32B)
        return false;
    if (!is_align16(r->type))
        return true;
    if (r->type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B)
        return whole || !r->swizzle;
    return !r->interleave &&
           (whole || !r->swizzle || r->swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
}

// "the inner dimension … must be less than or equal to the swizzle size"; 128 elements with
// ALIGN16B.
static bool inner_is_valid(const struct request *r, unsigned elements)
{
    static const uint8_t most_B[] = {0, 32, 64, 128, 128, 128, 128};
    if (is_align16(r->type) && elements != 128)
        return false;
    return r->interleave || !r->swizzle || elements * bits_of(r->type) / 8 <= most_B[r->swizzle];
}

// "boxDim … must be non-zero and less than or equal to 256. … When interleave is
// CU_TENSOR_MAP_INTERLEAVE_NONE, { boxDim[0] * elementSizeInBytes( tensorDataType ) } must be a
// multiple of 16 bytes."
static bool box_is_valid(const struct request *r)
{
    for (unsigned i = 0; i < r->rank; i++) {
        if (!r->box[i] || r->box[i] > 256)
            return false;
    }
    return (r->interleave || r->box[0] * bits_of(r->type) % 128 == 0) &&
           inner_is_valid(r, r->box[0]);
}

// The number of offsets in a corner.
static unsigned corners_of(const struct request *r)
{
    return r->kind == IM2COL_WIDE ? 1 : r->rank - 2;
}

// "tensorRank 3: one offset within range [-32768, 32767]", 4: two "[-128, 127]", 5: three
// "[-16, 15]", a wide map: one as of rank 3. "The bounding box must have non-zero area": the manual
// lists the offsets from D to W, and globalDim begins with W, so it is silent about boxes that are
// empty in one order of the two.
static enum verdict judge_corners(const struct request *r)
{
    static const int limits[] = {32768, 128, 16};
    const unsigned n = corners_of(r);
    const int limit = limits[n - 1];
    bool empty = false, reversed = false;
    for (unsigned i = 0; i < n; i++) {
        const int64_t grown = (int64_t)r->upper[i] - r->lower[i];
        if (r->lower[i] < -limit || r->lower[i] >= limit || r->upper[i] < -limit ||
            r->upper[i] >= limit)
            return INVALID;
        empty |= (int64_t)r->dim[1 + i] + grown <= 0;
        reversed |= (int64_t)r->dim[n - i] + grown <= 0;
    }
    return empty && reversed ? INVALID : empty || reversed ? SILENT : VALID;
}

// "channelsPerPixel … must be less than or equal to 256", "pixelsPerColumn … 1024", which is
// ignored with CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128. It does not say that they may not be 0.
static enum verdict judge_columns(const struct request *r)
{
    const bool ignored = r->kind == IM2COL_WIDE && r->mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128;
    if (r->channels > 256 || (!ignored && r->pixels > 1024) || !inner_is_valid(r, r->channels))
        return INVALID;
    return r->channels && (r->pixels || ignored) ? judge_corners(r) : SILENT;
}

// The number of pointers of the call that must not be NULL. globalStrides of a tensor of rank 1 has
// no element. Pointers: map, dimensions, strides, element strides, then the box or the corners.
static bool has_null(const struct request *r)
{
    const unsigned pointers = r->kind == TILED ? 5 : r->kind == IM2COL ? 6 : 4;
    return r->null && r->null <= pointers && (r->null != 3 || r->rank > 1);
}

static enum verdict judge(const struct model *m, const struct request *r, bool aligned)
{
    // Of a NULL globalStrides, other rules decide first on a device without tensor maps.
    if (has_null(r) && r->null != 3)
        return INVALID;
    if (m->device == TURING || (r->kind == IM2COL_WIDE && m->device != WIDE))
        return UNSUPPORTED;
    if (!enums_are_valid(r) || !rank_is_valid(r) || has_null(r) || (!aligned && !as_driver()))
        return INVALID;
    // Recorded: tensor_maps tensor/type-13-interleave-1-address-0.
    if (is_packed(r->type) && m->device == HOPPER && as_driver())
        return INVALID;
    if (!tensor_is_valid(r) || !layout_is_valid(r))
        return INVALID;
    if (r->kind == TILED)
        return box_is_valid(r) ? VALID : INVALID;
    const enum verdict columns = judge_columns(r), corners = judge_corners(r);
    return columns == INVALID || corners == INVALID ? INVALID : columns;
}

static bool is_as_judged(CUresult r, enum verdict verdict)
{
    switch (verdict) {
    case VALID:
        return !r;
    case INVALID:
        return r == CUDA_ERROR_INVALID_VALUE;
    case UNSUPPORTED:
        return r != CUDA_SUCCESS;
    default:
        return !r || r == CUDA_ERROR_INVALID_VALUE;
    }
}

// ---- descriptors ----

// A valid request, before some of its members are changed.
static struct request plain(struct fuzz_input *in, const struct model *m)
{
    struct request r = {.kind = (enum kind)fuzz_below(in, m->device == WIDE ? 3 : 2),
                        .type = fuzz_below(in, 13),
                        .address = UINT64_C(0x10000) * fuzz_below(in, 40),
                        .swizzle = CU_TENSOR_MAP_SWIZZLE_128B,
                        .promotion = fuzz_below(in, 4)};
    const unsigned elements = 16u << fuzz_below(in, 4); // bytes of a row of the box
    const unsigned least = r.kind == TILED ? 1 : 3;
    r.rank = least + fuzz_below(in, RANK_MOST + 1 - least);
    for (unsigned i = 0; i < RANK_MOST; i++) {
        r.dim[i] = 1 + fuzz_below(in, 64);
        r.box[i] = 1 + fuzz_below(in, 8);
        r.steps[i] = 1 + fuzz_below(in, 8);
        if (i + 1 < RANK_MOST)
            r.strides_B[i] = 32 + 32 * fuzz_take(in, 1);
        r.lower[i] = (int)fuzz_below(in, 5) - 2;
        r.upper[i] = r.lower[i] + (int)fuzz_below(in, 3);
    }
    r.box[0] = r.channels = elements * 8 / bits_of(r.type);
    r.pixels = 1 + fuzz_below(in, 1024);
    if (r.kind == IM2COL_WIDE)
        r.mode = fuzz_below(in, 2);
    if (r.kind == TILED && !fuzz_below(in, 2))
        r.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    return r;
}

static void make_packed(struct fuzz_input *in, struct request *r)
{
    r->type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B + fuzz_below(in, 3);
    r->dim[0] = 128 * (1 + fuzz_below(in, 4));
    r->box[0] = r->channels = is_align16(r->type) ? 128 : 32;
}

static int any_offset(struct fuzz_input *in)
{
    static const int edges[] = {-32769, -32768, -129, -128, -17, -16,   15,    16,
                                127,    128,    -64,  0,    63,  32767, 32768, INT32_MIN};
    return edges[fuzz_below(in, FUZZ_COUNT(edges))];
}

// Changes one member.
static void change(struct fuzz_input *in, struct request *r)
{
    const unsigned i = fuzz_below(in, RANK_MOST);
    switch (fuzz_below(in, 19)) {
    case 0:
        r->type = (unsigned)fuzz_take(in, fuzz_chance(in, 8) ? 4 : 1) % 20;
        break;
    case 1:
        r->rank = (unsigned)fuzz_take(in, fuzz_chance(in, 4) ? 4 : 1) % 8;
        break;
    case 2:
        r->address += UINT64_C(1) << fuzz_below(in, 64);
        break;
    case 3:
        r->dim[i] = fuzz_size(in, UINT64_C(1) << 32);
        break;
    case 4:
        r->strides_B[i % (RANK_MOST - 1)] = fuzz_size(in, UINT64_C(1) << 40);
        break;
    case 5:
        r->strides_B[i % (RANK_MOST - 1)] = UINT64_C(1) << fuzz_below(in, 64);
        break;
    case 6:
        r->box[i] = fuzz_chance(in, 4) ? (unsigned)fuzz_take(in, 4) : fuzz_below(in, 260);
        break;
    case 7:
        r->steps[i] = fuzz_chance(in, 4) ? (unsigned)fuzz_take(in, 4) : fuzz_below(in, 10);
        break;
    case 8:
        r->interleave = fuzz_below(in, 4);
        break;
    case 9:
        r->swizzle = fuzz_below(in, 8);
        break;
    case 10:
        r->promotion = (unsigned)fuzz_take(in, 1);
        break;
    case 11:
        r->fill = fuzz_below(in, 3);
        break;
    case 12:
        r->lower[i] = any_offset(in);
        break;
    case 13:
        r->upper[i] = any_offset(in);
        break;
    case 14:
        r->channels = (unsigned)fuzz_take(in, fuzz_chance(in, 4) ? 4 : 1);
        break;
    case 15:
        r->pixels = (unsigned)fuzz_take(in, fuzz_chance(in, 4) ? 4 : 2);
        break;
    case 16:
        r->mode = fuzz_below(in, 4);
        break;
    case 17:
        r->null = fuzz_below(in, 8);
        break;
    default:
        make_packed(in, r);
    }
}

// ---- calls ----

// A list of the program's with exactly `count` elements.
static void *list(const void *from, size_t count, size_t each_B, bool null)
{
    const size_t size_B = count * each_B;
    void *bytes = null ? NULL : malloc(size_B > 0 ? size_B : 1);
    if (bytes)
        memcpy(bytes, from, size_B);
    return bytes;
}

static CUresult encode(CUtensorMap *map, const struct request *r)
{
    const unsigned n = r->rank <= RANK_MOST ? r->rank : 0, inner = n ? n - 1 : 0;
    const unsigned corners = n > 2 ? n - 2 : 0;
    void *const address = (void *)(uintptr_t)r->address;
    cuuint64_t *dim = list(r->dim, n, sizeof *dim, r->null == 2),
               *strides = list(r->strides_B, inner, sizeof *strides, r->null == 3);
    cuuint32_t *steps = list(r->steps, n, sizeof *steps, r->null == 4),
               *box = list(r->box, n, sizeof *box, r->null == 5);
    int *lower = list(r->lower, corners, sizeof *lower, r->null == 5),
        *upper = list(r->upper, corners, sizeof *upper, r->null == 6);
    const CUtensorMapDataType type = (CUtensorMapDataType)r->type;
    const CUtensorMapInterleave interleave = (CUtensorMapInterleave)r->interleave;
    const CUtensorMapSwizzle swizzle = (CUtensorMapSwizzle)r->swizzle;
    const CUtensorMapL2promotion promotion = (CUtensorMapL2promotion)r->promotion;
    const CUtensorMapFloatOOBfill fill = (CUtensorMapFloatOOBfill)r->fill;
    CUresult result;
    if (r->null == 1)
        map = NULL;
    if (r->kind == TILED)
        result = cuTensorMapEncodeTiled(map, type, r->rank, address, dim, strides, box, steps,
                                        interleave, swizzle, promotion, fill);
    else if (r->kind == IM2COL)
        result = cuTensorMapEncodeIm2col(map, type, r->rank, address, dim, strides, lower, upper,
                                         r->channels, r->pixels, steps, interleave, swizzle,
                                         promotion, fill);
    else
        result = cuTensorMapEncodeIm2colWide(map, type, r->rank, address, dim, strides, r->lower[0],
                                             r->upper[0], r->channels, r->pixels, steps, interleave,
                                             (CUtensorMapIm2ColWideMode)r->mode, swizzle, promotion,
                                             fill);
    free(dim), free(strides), free(steps), free(box), free(lower), free(upper);
    return result;
}

// Encodes into bytes between others, and checks that only a call that succeeds writes, and only to
// its map.
static CUresult encode_between(const struct request *r, unsigned at, uint8_t *bytes)
{
    static _Alignas(128) uint8_t page[GUARD_B + MAP_B + GUARD_B];
    memset(page, 0xa5, sizeof page);
    const CUresult result = encode((CUtensorMap *)(void *)(page + at), r);
    for (unsigned i = 0; i < sizeof page; i++) {
        if (!result && i >= at && i < at + MAP_B)
            continue;
        FUZZ_CHECK(page[i] == 0xa5, "result %d, map at %u: byte %u was written", (int)result, at,
                   i);
    }
    memcpy(bytes, page + at, MAP_B);
    return result;
}

// Whether kernels could tell two maps apart.
static bool means_same(const struct request *a, const struct request *b)
{
    const unsigned corners = a->kind == TILED ? 0 : corners_of(a);
    if (a->kind != b->kind || a->type != b->type || a->rank != b->rank ||
        a->address != b->address || a->interleave != b->interleave || a->swizzle != b->swizzle ||
        a->fill != b->fill || memcmp(a->dim, b->dim, a->rank * sizeof *a->dim) ||
        memcmp(a->strides_B, b->strides_B, (a->rank - 1) * sizeof *a->strides_B) ||
        memcmp(a->steps + 1, b->steps + 1, (a->rank - 1) * sizeof *a->steps))
        return false;
    if (a->kind == TILED)
        return !memcmp(a->box, b->box, a->rank * sizeof *a->box);
    return a->channels == b->channels && !memcmp(a->lower, b->lower, corners * sizeof *a->lower) &&
           !memcmp(a->upper, b->upper, corners * sizeof *a->upper);
}

// Maps with equal arguments should be equal, and maps that mean different things should not.
static void check_maps(const struct model *m, const struct map *map)
{
    uint8_t again[MAP_B];
    FUZZ_OK(encode_between(&map->request, GUARD_B, again));
    FUZZ_CHECK(!memcmp(again, map->bytes, MAP_B), "the same arguments give other bytes");
    for (unsigned i = 0; i < MAPS; i++) {
        const struct map *other = &m->maps[i];
        if (other->alive && !means_same(&map->request, &other->request))
            FUZZ_CHECK(memcmp(other->bytes, map->bytes, MAP_B), "two maps have the same bytes");
    }
}

static void create(struct fuzz_input *in, struct model *m)
{
    struct request r = plain(in, m);
    struct map *map = &m->maps[fuzz_below(in, MAPS)];
    uint8_t bytes[MAP_B];
    for (unsigned n = fuzz_below(in, 4); n; n--)
        change(in, &r);
    if (fuzz_chance(in, 16))
        r.kind = IM2COL_WIDE;
    const unsigned at = fuzz_chance(in, 4) ? fuzz_below(in, GUARD_B) : GUARD_B;
    const enum verdict verdict = judge(m, &r, at % 64 == 0);
    const CUresult result = encode_between(&r, at, bytes);
    FUZZ_CHECK(is_as_judged(result, verdict),
               "kind %d on device %d, map at %u, type %u, rank %u, address %#llx, dim %llu %llu "
               "%llu, strides %llu %llu, box %u %u, steps %u %u, lower %d %d, upper %d %d, "
               "channels %u, pixels %u, interleave %u, swizzle %u, promotion %u, fill %u, mode %u, "
               "null %u: %d, verdict %d",
               (int)r.kind, (int)m->device, at, r.type, r.rank, (unsigned long long)r.address,
               (unsigned long long)r.dim[0], (unsigned long long)r.dim[1],
               (unsigned long long)r.dim[2], (unsigned long long)r.strides_B[0],
               (unsigned long long)r.strides_B[1], r.box[0], r.box[1], r.steps[0], r.steps[1],
               r.lower[0], r.lower[1], r.upper[0], r.upper[1], r.channels, r.pixels, r.interleave,
               r.swizzle, r.promotion, r.fill, r.mode, r.null, (int)result, (int)verdict);
    if (result)
        return;
    *map = (struct map){.alive = true, .request = r};
    memcpy(map->bytes, bytes, MAP_B);
    check_maps(m, map);
}

// "Must follow previous alignment requirements."
static void replace(struct fuzz_input *in, struct model *m)
{
    static CUtensorMap bytes;
    struct map *map = &m->maps[fuzz_below(in, MAPS)];
    const uint64_t address = fuzz_size(in, UINT64_C(1) << 40) * (fuzz_below(in, 2) ? 1 : 16);
    if (!map->alive)
        return;
    memcpy(&bytes, map->bytes, MAP_B);
    const CUresult r = cuTensorMapReplaceAddress(&bytes, (void *)(uintptr_t)address);
    const enum verdict verdict = address % align_B(&map->request) ? INVALID : VALID;
    FUZZ_CHECK(is_as_judged(r, verdict), "replacing the address by %#llx, alignment %u: %d",
               (unsigned long long)address, align_B(&map->request), (int)r);
    if (r) {
        FUZZ_CHECK(!memcmp(&bytes, map->bytes, MAP_B), "a refused call changed the map");
        return;
    }
    map->request.address = address;
    memcpy(map->bytes, &bytes, MAP_B);
    check_maps(m, map);
}

// Bytes that no call has written; the manual does not say that a call finds that out.
static void replace_in_garbage(struct fuzz_input *in, const struct model *m)
{
    static CUtensorMap bytes;
    const struct map *map = &m->maps[fuzz_below(in, MAPS)];
    if (map->alive)
        memcpy(&bytes, map->bytes, MAP_B);
    for (unsigned i = 0; i < 4; i++)
        ((uint8_t *)&bytes)[fuzz_below(in, MAP_B)] = (uint8_t)fuzz_take(in, 1);
    const CUresult r = cuTensorMapReplaceAddress(&bytes, NULL);
    FUZZ_CHECK(is_as_judged(r, m->device == TURING ? UNSUPPORTED : SILENT), "of other bytes: %d",
               (int)r);
    const CUresult null = cuTensorMapReplaceAddress(NULL, NULL);
    FUZZ_CHECK(null == CUDA_ERROR_INVALID_VALUE, "of NULL: %d", (int)null);
}

// ---- one input ----

// An H100, a card without tensor maps, and one of compute capability 10.0.
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char profile[] = "base = h100\nattribute.compute_capability_major = 10\n";
    char devices[64];
    (void)argc, (void)argv;
    fuzz_start();
    const int file = memfd_create("wide", 0);
    FUZZ_CHECK(file >= 0 && write(file, profile, sizeof profile - 1) == sizeof profile - 1,
               "cannot write a profile");
    snprintf(devices, sizeof devices, "h100,t4,/proc/self/fd/%d", file);
    setenv("CARDLESS_DEVICES", devices, 1);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum device devices[] = {HOPPER, HOPPER, HOPPER, WIDE, WIDE, TURING};
    struct fuzz_input in = {data, data + size};
    static struct model m;
    CUcontext context;
    memset(&m, 0, sizeof m);
    m.device = devices[fuzz_below(&in, FUZZ_COUNT(devices))];
    FUZZ_OK(cuInit(0));
    FUZZ_OK(cuCtxCreate(&context, NULL, 0, (CUdevice)m.device));
    for (unsigned i = 0; i < STEPS && fuzz_more(&in); i++) {
        switch (fuzz_below(&in, 6)) {
        case 0:
            replace(&in, &m);
            break;
        case 1:
            replace_in_garbage(&in, &m);
            break;
        default:
            create(&in, &m);
        }
    }
    FUZZ_OK(cuCtxDestroy(context));
    return 0;
}
