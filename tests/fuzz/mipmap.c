// SPDX-License-Identifier: MIT
// Fuzzes descriptors of arrays and mipmapped arrays, created ones and ones that are mapped on
// external memory, also with planar formats. A model follows the manual's rules for extents,
// formats and flags, predicts each result and the extents of each level and plane, keeps the bytes
// of all of them, and knows where a texel of level 0 is in memory: it is read through a mapped
// buffer, too.
#include "mipmap_model.h"

// ---- arrays ----

static size_t extent(struct fuzz_input *in, unsigned most)
{
    static const size_t hostile[] = {1 << 21, UINT32_MAX, UINT64_C(1) << 32, SIZE_MAX, INT32_MAX};
    if (fuzz_chance(in, 24))
        return hostile[fuzz_below(in, FUZZ_COUNT(hostile))];
    return fuzz_below(in, most + 1);
}

static CUDA_ARRAY3D_DESCRIPTOR any_desc(struct fuzz_input *in)
{
    static const unsigned formats[] = {CU_AD_FORMAT_UNSIGNED_INT8,
                                       CU_AD_FORMAT_HALF,
                                       CU_AD_FORMAT_FLOAT,
                                       CU_AD_FORMAT_SIGNED_INT16,
                                       CU_AD_FORMAT_UNSIGNED_INT32,
                                       CU_AD_FORMAT_SIGNED_INT8,
                                       CU_AD_FORMAT_UNSIGNED_INT16,
                                       CU_AD_FORMAT_SIGNED_INT32,
                                       0,
                                       4,
                                       0x7f,
                                       ~0u};
    static const unsigned flags[] = {0,
                                     0,
                                     CUDA_ARRAY3D_LAYERED,
                                     CUDA_ARRAY3D_SURFACE_LDST,
                                     CUDA_ARRAY3D_CUBEMAP,
                                     CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED,
                                     CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST,
                                     0x40000000};
    unsigned rare = fuzz_chance(in, 8) ? FUZZ_COUNT(formats) : 8;
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = extent(in, 70),
                                 .Height = extent(in, 40),
                                 .Depth = fuzz_chance(in, 3) ? extent(in, 12) : 0,
                                 .Format = (CUarray_format)formats[fuzz_below(in, rare)],
                                 .NumChannels = 1u << fuzz_below(in, 3),
                                 .Flags = flags[fuzz_below(in, FUZZ_COUNT(flags))]};
    if (fuzz_chance(in, 12))
        d.NumChannels = (unsigned)fuzz_take(in, fuzz_chance(in, 2) ? 1 : 4);
    if (d.Flags & CUDA_ARRAY3D_CUBEMAP && !fuzz_chance(in, 4)) {
        d.Height = d.Width;
        d.Depth = d.Flags & CUDA_ARRAY3D_LAYERED ? 12 : 6;
    }
    return d;
}

// The array of a level, or of a plane.
static CUresult get_level(const struct array *a, unsigned level, CUarray *out)
{
    CUresult r = CUDA_SUCCESS;
    *out = a->plain;
    if (a->mip)
        r = cuMipmappedArrayGetLevel(out, a->mip, a->planes ? 0 : level);
    return r || !a->planes ? r : cuArrayGetPlane(out, *out, level);
}

static CUDA_MEMCPY3D box_of(CUarray array, const struct level *l, bool write)
{
    CUDA_MEMCPY3D c = {
        .WidthInBytes = (size_t)l->width * l->texel_B, .Height = l->height, .Depth = l->depth};
    if (write) {
        c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        c.dstArray = array;
        c.srcMemoryType = CU_MEMORYTYPE_HOST;
    } else {
        c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        c.srcArray = array;
        c.dstMemoryType = CU_MEMORYTYPE_HOST;
    }
    return c;
}

static void check_level(const struct array *a, unsigned n, CUarray array)
{
    CUDA_ARRAY3D_DESCRIPTOR got;
    const struct level *l = &a->levels[n];
    FUZZ_OK(cuArray3DGetDescriptor(&got, array));
    bool same = got.Width == l->width && got.Height == (a->desc.Height ? l->height : 0) &&
                got.Depth == (a->desc.Depth ? l->depth : 0) && got.Format == l->format &&
                got.NumChannels == l->channels && got.Flags == a->desc.Flags;
    FUZZ_CHECK(same, "level %u is %zu x %zu x %zu, format %d x %u, flags %#x", n, got.Width,
               got.Height, got.Depth, (int)got.Format, got.NumChannels, got.Flags);
}

// "If planeIdx is greater than the maximum number of planes …, or if the array does not have a
// multi-planar format …, then CUDA_ERROR_INVALID_VALUE is returned." Planes have no planes either,
// and a planar array cannot be copied as a whole (recorded: planes created).
static void check_planes(const struct array *a)
{
    uint8_t texel[8] = {0};
    CUarray whole = a->plain, plane, none;
    if (a->mip)
        FUZZ_OK(cuMipmappedArrayGetLevel(&whole, a->mip, 0));
    CUresult r = cuArrayGetPlane(&plane, whole, a->planes);
    FUZZ_CHECK(r == CUDA_ERROR_INVALID_VALUE, "plane %u of %u: %d", a->planes, a->planes, (int)r);
    if (!a->planes)
        return;
    for (unsigned i = 0; i < a->planes; i++) {
        FUZZ_OK(cuArrayGetPlane(&plane, whole, i));
        r = cuArrayGetPlane(&none, plane, 0);
        FUZZ_CHECK(r == CUDA_ERROR_INVALID_VALUE, "a plane of plane %u: %d", i, (int)r);
        if (i < a->count)
            continue;
        struct array other = *a; // of planes that cannot be used
        mm_set_up_plane(&other, i);
        check_level(&other, i, plane);
    }
    r = cuMemcpyHtoA(whole, 0, texel, 1);
    FUZZ_CHECK(r == CUDA_ERROR_INVALID_VALUE, "a copy to all planes: %d", (int)r);
}

// Sets up the model of a new array, and fills all levels or planes. The driver maps only the first
// plane of an array on external memory (recorded: planes extplane).
static void begin(struct array *a, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned count)
{
    const struct planar *planar = mm_planar_of(d->Format);
    a->desc = *d;
    a->planes = planar ? planar->planes : 0;
    a->count = !planar ? count : a->on_memory && mm_as_driver() ? 1 : a->planes;
    for (unsigned n = 0; n < a->count; n++) {
        struct level *l = &a->levels[n];
        CUarray array;
        if (planar)
            mm_set_up_plane(a, n);
        else
            mm_set_up_level(a, n);
        size_t size = (size_t)l->width * l->texel_B * l->height * l->depth;
        l->bytes = malloc(size);
        for (size_t i = 0; i < size; i++)
            l->bytes[i] = (uint8_t)(i * 13 + n * 71 + i / 253);
        FUZZ_OK(get_level(a, n, &array));
        check_level(a, n, array);
        CUDA_MEMCPY3D c = box_of(array, l, true);
        c.srcHost = l->bytes;
        FUZZ_OK(cuMemcpy3D(&c));
    }
    check_planes(a);
    if (a->mip) {
        CUarray none;
        CUresult r = cuMipmappedArrayGetLevel(&none, a->mip, count);
        FUZZ_CHECK(r == CUDA_ERROR_INVALID_VALUE, "level %u of %u: %d", count, count, (int)r);
    }
}

static void end(struct array *a)
{
    if (a->mip)
        FUZZ_OK(cuMipmappedArrayDestroy(a->mip));
    if (a->plain)
        FUZZ_OK(cuArrayDestroy(a->plain));
    for (unsigned n = 0; n < a->count; n++)
        free(a->levels[n].bytes);
    memset(a, 0, sizeof *a);
}

// The bytes that the image takes at least.
static uint64_t least_B(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return (uint64_t)d->Width * mm_channel_of(d->Format) * d->NumChannels *
           (d->Height ? d->Height : 1) * (d->Depth ? d->Depth : 1);
}

static CUDA_ARRAY3D_DESCRIPTOR any_planar_desc(struct fuzz_input *in)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = extent(in, 35) * 2,
                                 .Height = extent(in, 20) * 2,
                                 .Format = mm_any_planar(in),
                                 .NumChannels = 3,
                                 .Flags = CUDA_ARRAY3D_VIDEO_ENCODE_DECODE};
    if (fuzz_chance(in, 4)) {
        d.Flags |= CUDA_ARRAY3D_LAYERED;
        d.Depth = fuzz_below(in, 4);
    }
    switch (fuzz_below(in, 16)) {
    case 0:
        d.Width++;
        break;
    case 1:
        d.Height++;
        break;
    case 2:
        d.Depth = fuzz_below(in, 7);
        break;
    case 3:
        d.NumChannels = fuzz_below(in, 6);
        break;
    case 4:
        d.Flags ^= CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;
        break;
    case 5:
        d.Flags |= fuzz_below(in, 2) ? CUDA_ARRAY3D_CUBEMAP : CUDA_ARRAY3D_SURFACE_LDST;
        break;
    default:
        break;
    }
    return d;
}

static void create(struct fuzz_input *in, struct model *m)
{
    unsigned slot = fuzz_below(in, ARRAYS), how = fuzz_below(in, 4);
    struct array *a = &m->arrays[slot];
    const bool planar = fuzz_chance(in, 4);
    CUDA_ARRAY3D_DESCRIPTOR d = planar ? any_planar_desc(in) : any_desc(in);
    unsigned levels = fuzz_chance(in, 8) ? (unsigned)fuzz_take(in, 4) : fuzz_below(in, 7);
    if (planar && !fuzz_chance(in, 4))
        levels = 1;
    const CUDA_ARRAY3D_DESCRIPTOR given = d;
    d.Width = (uint32_t)d.Width; // the driver uses 32 bits (recorded)
    d.Height = (uint32_t)d.Height;
    d.Depth = (uint32_t)d.Depth;
    bool valid = planar ? mm_planar_is_valid(&d, how > 1) : mm_is_valid(&d);
    CUresult r;
    end(a);
    if (how == 0) {
        levels = 1;
        r = cuArray3DCreate(&a->plain, &given);
    } else if (how == 1) {
        r = cuMipmappedArrayCreate(&a->mip, &given, levels);
        valid &= !planar || levels <= 1; // not clamped
    } else {
        CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC e = {
            .offset = (unsigned long long)slot * SLOT_B, .arrayDesc = given, .numLevels = levels};
        if (!planar && fuzz_chance(in, 12))
            e.offset = fuzz_size(in, MEMORY_B) & ~UINT64_C(511);
        if (fuzz_chance(in, 32))
            e.reserved[fuzz_below(in, 16)] = 1;
        for (unsigned i = 0; i < 16; i++)
            valid &= !e.reserved[i];
        valid &= levels && levels <= (planar ? 1 : mm_clamp_levels(&d, levels));
        valid &= e.offset < MEMORY_B && least_B(&d) <= MEMORY_B - e.offset;
        bool own_slot = e.offset == (unsigned long long)slot * SLOT_B;
        r = cuExternalMemoryGetMappedMipmappedArray(&a->mip, m->memory, &e);
        a->on_memory = true;
        if (!own_slot) { // it may be cut off, or be on the bytes of another one
            FUZZ_CHECK(r || valid, "an image at %#llx was mapped", e.offset);
            if (!r)
                FUZZ_OK(cuMipmappedArrayDestroy(a->mip));
            memset(a, 0, sizeof *a);
            return;
        }
    }
    FUZZ_CHECK(!r == valid, "how %u: %zu x %zu x %zu, format %d x %u, flags %#x, %u levels: %d",
               how, d.Width, d.Height, d.Depth, (int)d.Format, d.NumChannels, d.Flags, levels,
               (int)r);
    if (r)
        memset(a, 0, sizeof *a);
    else
        begin(a, &d, planar ? 1 : mm_clamp_levels(&d, levels));
}

// ---- bytes ----

static void write_box(struct fuzz_input *in, struct model *m)
{
    static uint8_t host[70 * 16];
    struct array *a = &m->arrays[fuzz_below(in, ARRAYS)];
    if (!a->count)
        return;
    unsigned n = fuzz_below(in, a->count), x, y, z, width;
    struct level *l = &a->levels[n];
    CUarray array;
    x = fuzz_below(in, l->width), y = fuzz_below(in, l->height), z = fuzz_below(in, l->depth);
    width = 1 + fuzz_below(in, l->width - x);
    for (unsigned i = 0; i < width * l->texel_B; i++)
        host[i] = (uint8_t)(fuzz_take(in, 1) + i);
    FUZZ_OK(get_level(a, n, &array));
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = host,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = array,
                       .dstXInBytes = (size_t)x * l->texel_B,
                       .dstY = y,
                       .dstZ = z,
                       .WidthInBytes = (size_t)width * l->texel_B,
                       .Height = 1,
                       .Depth = 1};
    FUZZ_OK(cuMemcpy3D(&c));
    memcpy(l->bytes + (((size_t)z * l->height + y) * l->width + x) * l->texel_B, host,
           (size_t)width * l->texel_B);
}

static void compare(const struct array *a)
{
    static uint8_t host[70 * 16 * 70 * 12]; // a cubemap is as high as it is wide
    for (unsigned n = 0; n < a->count; n++) {
        const struct level *l = &a->levels[n];
        size_t size = (size_t)l->width * l->texel_B * l->height * l->depth;
        CUarray array;
        FUZZ_OK(get_level(a, n, &array));
        CUDA_MEMCPY3D c = box_of(array, l, false);
        c.dstHost = host;
        FUZZ_OK(cuMemcpy3D(&c));
        for (size_t i = memcmp(host, l->bytes, size) ? 0 : size; i < size; i++)
            FUZZ_CHECK(host[i] == l->bytes[i], "level %u, byte %zu: %#x, expected %#x", n, i,
                       host[i], l->bytes[i]);
    }
}

// Reads a texel of level 0 of a 2D array through the buffer.
static void look(struct fuzz_input *in, struct model *m)
{
    unsigned slot = fuzz_below(in, ARRAYS);
    const struct array *a = &m->arrays[slot];
    const struct level *l = &a->levels[0];
    uint8_t got[16];
    if (!a->count || !a->on_memory || a->planes || a->desc.Depth || !a->desc.Height)
        return;
    unsigned x = fuzz_below(in, l->width), y = fuzz_below(in, l->height);
    const uint8_t *want = l->bytes + ((size_t)y * l->width + x) * l->texel_B;
    FUZZ_OK(cuMemcpyDtoH(
        got, m->bytes + slot * SLOT_B + mm_place_of(l, l->texel_B, (size_t)x * l->texel_B, y),
        l->texel_B));
    for (unsigned i = 0; i < l->texel_B; i++)
        FUZZ_CHECK(got[i] == want[i], "texel %u, %u of %u x %u, byte %u: %#x, expected %#x", x, y,
                   l->width, l->height, i, got[i], want[i]);
}

// ---- one input ----

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_start();
    return 0;
}

static void import(struct model *m)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle memory;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                          .size = MEMORY_B};
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC whole = {.size = MEMORY_B};
    FUZZ_OK(cuMemCreate(&memory, MEMORY_B, &prop, 0));
    FUZZ_OK(cuMemExportToShareableHandle(&d.handle.fd, memory,
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    FUZZ_OK(cuMemRelease(memory));
    FUZZ_OK(cuImportExternalMemory(&m->memory, &d));
    FUZZ_OK(cuExternalMemoryGetMappedBuffer(&m->bytes, m->memory, &whole));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    struct model m;
    memset(&m, 0, sizeof m);
    CUcontext context = fuzz_context();
    import(&m);
    for (unsigned i = 0; i < STEPS && fuzz_more(&in); i++) {
        switch (fuzz_below(&in, 4)) {
        case 0:
            create(&in, &m);
            break;
        case 1:
            write_box(&in, &m);
            break;
        case 2:
            look(&in, &m);
            break;
        default:
            compare(&m.arrays[fuzz_below(&in, ARRAYS)]);
        }
    }
    for (unsigned i = 0; i < ARRAYS; i++) {
        compare(&m.arrays[i]);
        end(&m.arrays[i]);
    }
    FUZZ_OK(cuMemFree(m.bytes));
    FUZZ_OK(cuDestroyExternalMemory(m.memory));
    FUZZ_OK(cuCtxDestroy(context));
    return 0;
}
