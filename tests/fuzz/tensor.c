// SPDX-License-Identifier: MIT
// Fuzzes descriptors of tensor maps, on devices without tensor maps, with them, and with wide ones.
// A model follows the manual's rules, and those of the driver where they differ (recorded:
// tensor_maps, tensor_map_edges), and predicts each result. The bytes of a map are opaque, so it
// predicts only which maps should have equal ones, and when a refused call clears the map. The
// lists that a call reads have no byte more than the manual says, so AddressSanitizer finds other
// reads.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tensor_model.h"

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
    r.box[0] = r.channels = elements * 8 / tm_bits_of(r.type);
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
    r->box[0] = r->channels = tm_is_align16(r->type) ? 128 : 32;
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

// Whether the driver writes the map of a refused call: not if a pointer is NULL or a number 0.
static bool overwrites(const struct request *r)
{
    const unsigned n = r->rank <= RANK_MOST ? r->rank : 0;
    for (unsigned i = 0; i < n; i++) {
        if (!r->dim[i] || !r->steps[i] || (r->kind == TILED && !r->box[i]))
            return false;
    }
    return tm_as_driver() && r->rank && !tm_has_null(r) &&
           (r->kind == TILED || (r->channels && (r->pixels || tm_ignores_pixels(r))));
}

// Encodes into bytes between others, and checks what a call writes outside of its map, and into it
// if it is refused.
static CUresult encode_between(const struct request *r, unsigned at, uint8_t *bytes)
{
    static _Alignas(128) uint8_t page[GUARD_B + MAP_B + GUARD_B];
    memset(page, 0xa5, sizeof page);
    const CUresult result = encode((CUtensorMap *)(void *)(page + at), r);
    unsigned written = 0;
    for (unsigned i = 0; i < sizeof page; i++) {
        const bool inside = i >= at && i < at + MAP_B;
        written += inside && page[i] != 0xa5;
        FUZZ_CHECK(inside || page[i] == 0xa5, "map at %u: byte %u was written", at, i);
    }
    if (result)
        FUZZ_CHECK(!written != (result == CUDA_ERROR_INVALID_VALUE && overwrites(r)),
                   "result %d: %u bytes of the map were written", (int)result, written);
    memcpy(bytes, page + at, MAP_B);
    return result;
}

// Whether kernels could tell two maps apart.
static bool means_same(const struct request *a, const struct request *b)
{
    const unsigned corners = a->kind == TILED ? 0 : tm_corners_of(a);
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
    const enum verdict verdict = tm_judge(m, &r, at % 64 == 0);
    const CUresult result = encode_between(&r, at, bytes);
    FUZZ_CHECK(tm_is_as_judged(result, verdict),
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

// "Must follow previous alignment requirements", of which the driver knows only 16 bytes. NULL is
// refused.
static void replace(struct fuzz_input *in, struct model *m)
{
    static CUtensorMap bytes;
    struct map *map = &m->maps[fuzz_below(in, MAPS)];
    const uint64_t address = fuzz_size(in, UINT64_C(1) << 40) * (fuzz_below(in, 2) ? 1 : 16);
    const unsigned alignment_B = tm_as_driver() ? 16 : tm_align_B(&map->request);
    if (!map->alive)
        return;
    memcpy(&bytes, map->bytes, MAP_B);
    const CUresult r = cuTensorMapReplaceAddress(&bytes, (void *)(uintptr_t)address);
    const bool valid = address && address % alignment_B == 0 && !(address >> 57);
    FUZZ_CHECK(tm_is_as_judged(r, valid ? VALID : INVALID),
               "replacing the address by %#llx, alignment %u: %d", (unsigned long long)address,
               alignment_B, (int)r);
    if (r) {
        FUZZ_CHECK(!memcmp(&bytes, map->bytes, MAP_B), "a refused call changed the map");
        return;
    }
    map->request.address = address;
    memcpy(map->bytes, &bytes, MAP_B);
    map->alive = address % tm_align_B(&map->request) == 0; // else no call encodes such a map
    if (map->alive)
        check_maps(m, map);
}

// Bytes that no call has written. The driver does not find that out; under `manual` it depends on
// the bytes that were changed.
static void replace_in_garbage(struct fuzz_input *in, const struct model *m)
{
    static CUtensorMap bytes;
    const struct map *map = &m->maps[fuzz_below(in, MAPS)];
    memset(&bytes, 0, sizeof bytes);
    if (map->alive)
        memcpy(&bytes, map->bytes, MAP_B);
    for (unsigned i = 0; i < 4; i++)
        ((uint8_t *)&bytes)[fuzz_below(in, MAP_B)] = (uint8_t)fuzz_take(in, 1);
    const CUresult r = cuTensorMapReplaceAddress(&bytes, (void *)0x1000);
    FUZZ_CHECK(m->device == TURING ? r != CUDA_SUCCESS
               : tm_as_driver()    ? !r
               : map->alive        ? !r || r == CUDA_ERROR_INVALID_VALUE
                                   : r == CUDA_ERROR_INVALID_VALUE,
               "of other bytes: %d", (int)r);
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
