// SPDX-License-Identifier: MIT
// Arrays, textures and mapped external images with random descriptors: which ones are accepted, the
// descriptors that they report, and the positions of their texels. The recording holds a card's
// answers to exactly these draws, so their order and number must not change.
#include "record.h"

#include <math.h>

#define PICK(list) (list)[below((unsigned)(sizeof(list) / sizeof *(list)))]

static uint64_t state;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state * UINT64_C(0x2545F4914F6CDD1D)) >> 11;
}

static void seed(uint64_t number)
{
    state = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int i = 0; i < 4; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
}

static unsigned below(unsigned n)
{
    return (unsigned)(draw() % n);
}

static bool one_in(unsigned n)
{
    return below(n) == 0;
}

// ---- descriptors

static const unsigned any_format[] = {
    1,    2,    3,    8,    9,    0xa,  0x10, 0x20, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96,
    0x97, 0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4,
    0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf, 0xb0, 0xb1, 0xb2,
    0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf, 0xc0,
    0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc0, 0xc8, 0xcb, 0x50};
static const unsigned plain_format[] = {1, 2, 3, 8, 9, 0xa, 0x10, 0x20};

static uint64_t extent(void)
{
    static const uint64_t edges[] = {16384,     16385, 32768, 32769, 65536, 131072,
                                     131073,    2048,  2049,  2046,  2047,  UINT64_C(1) << 32,
                                     UINT64_MAX};
    switch (below(10)) {
    case 0:
        return 0;
    case 1:
        return 1;
    case 2:
    case 3:
        return 1 + below(16);
    case 4:
    case 5:
        return 1 + below(100);
    case 6:
        return UINT64_C(1) << below(12);
    case 7:
        return 1 + below(2100);
    case 8:
        return PICK(edges);
    default:
        return 64;
    }
}

// The shapes that a descriptor can have. Extents have no flags of their own.
static void set_shape(CUDA_ARRAY3D_DESCRIPTOR *d, unsigned shape, uint64_t width, uint64_t height,
                      uint64_t depth)
{
    d->Width = width;
    switch (shape) {
    case 0:
        break;
    case 1:
        d->Height = height;
        break;
    case 2:
        d->Height = height, d->Depth = depth;
        break;
    case 3:
        d->Depth = depth, d->Flags = CUDA_ARRAY3D_LAYERED;
        break;
    case 4:
        d->Height = height, d->Depth = depth, d->Flags = CUDA_ARRAY3D_LAYERED;
        break;
    case 5:
        d->Height = width, d->Depth = 6, d->Flags = CUDA_ARRAY3D_CUBEMAP;
        break;
    default:
        d->Height = width, d->Depth = 6 * (1 + below(5)),
        d->Flags = CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED;
    }
}

// Draws a descriptor with any extents (then without memory if a flag allows that), or with small
// extents.
static CUDA_ARRAY3D_DESCRIPTOR random_array(bool any_extents)
{
    static const unsigned counts[] = {1, 1, 2, 4, 4, 3, 0, 5}, other_counts[] = {1, 2, 4, 3};
    static const unsigned flags[] = {2, 2, 0x20, 0x22, 8, 0x10, 0x40, 0x42, 0x80, 0x100};
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    d.Format = (CUarray_format)(one_in(3) ? PICK(any_format) : PICK(plain_format));
    d.NumChannels = PICK(counts);
    if (d.Format > 0x20)
        d.NumChannels = PICK(other_counts);
    uint64_t width = any_extents ? extent() : 1 + below(200);
    uint64_t height = any_extents ? extent() : 1 + below(200);
    uint64_t depth = any_extents ? extent() : 1 + below(20);
    unsigned shape = below(7);
    bool spoil = one_in(5);
    set_shape(&d, shape, width, height, depth);
    if (d.Format <= 0x20 && (d.NumChannels == 3 || d.NumChannels == 0 || d.NumChannels == 5) &&
        !one_in(8))
        d.NumChannels = 4;
    if (one_in(2))
        d.Flags |= PICK(flags);
    if (spoil) {
        if (one_in(2))
            d.Flags ^= 1u << below(10);
        if (one_in(3))
            d.Depth = below(8);
        if (one_in(3))
            d.Height = 0;
        if (one_in(8))
            d.Width = 0;
    }
    if (one_in(4) && any_extents)
        d.Flags |= CUDA_ARRAY3D_SPARSE;
    if (any_extents && !(d.Flags & CUDA_ARRAY3D_SPARSE))
        d.Flags |= CUDA_ARRAY3D_DEFERRED_MAPPING;
    return d;
}

// ---- reported descriptors of arrays

static void say_sparse(CUresult r, const CUDA_ARRAY_SPARSE_PROPERTIES *s)
{
    if (r && r != CUDA_ERROR_INVALID_VALUE)
        SAY(" s=%s", record_brief(r));
    if (!r)
        SAY(" s=%ux%ux%u,%u,%llu,%x", s->tileExtent.width, s->tileExtent.height,
            s->tileExtent.depth, s->miptailFirstLevel, s->miptailSize, s->flags);
}

static void say_array(CUarray array)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    CUDA_ARRAY_DESCRIPTOR flat = {0};
    CUDA_ARRAY_MEMORY_REQUIREMENTS need = {0};
    CUDA_ARRAY_SPARSE_PROPERTIES sparse = {0};
    CUresult r = cuArray3DGetDescriptor(&d, array);
    if (r)
        SAY(" d=%s", record_brief(r));
    else
        SAY(" %zux%zux%zu/%x/%u/%x", d.Width, d.Height, d.Depth, (unsigned)d.Format, d.NumChannels,
            d.Flags);
    r = cuArrayGetDescriptor(&flat, array);
    if (r)
        SAY(" e=%s", record_brief(r));
    else if (flat.Width != d.Width || flat.Height != d.Height || flat.Format != d.Format ||
             flat.NumChannels != d.NumChannels)
        SAY(" e=%zux%zu/%x/%u", flat.Width, flat.Height, (unsigned)flat.Format, flat.NumChannels);
    r = cuArrayGetMemoryRequirements(&need, array, 0);
    if (r)
        SAY(" m=%s", record_brief(r));
    else
        SAY(" m=%zu/%zu", need.size, need.alignment);
    r = cuArrayGetSparseProperties(&sparse, array);
    say_sparse(r, &sparse);
}

static void say_planes(CUarray array)
{
    for (unsigned i = 0; i < 4; i++) {
        CUDA_ARRAY3D_DESCRIPTOR d;
        CUarray plane = NULL;
        CUresult r = cuArrayGetPlane(&plane, array, i);
        if (r == CUDA_ERROR_INVALID_VALUE && i)
            continue;
        if (r)
            SAY(" p%u=%s", i, record_brief(r));
        else if (!cuArray3DGetDescriptor(&d, plane))
            SAY(" p%u=%zux%zux%zu/%x/%u/%x", i, d.Width, d.Height, d.Depth, (unsigned)d.Format,
                d.NumChannels, d.Flags);
    }
}

static void say_mipmap(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    CUmipmappedArray mipmap = NULL;
    CUDA_ARRAY_MEMORY_REQUIREMENTS need = {0};
    CUDA_ARRAY_SPARSE_PROPERTIES sparse = {0};
    unsigned levels = one_in(3) ? 1 : one_in(6) ? below(20) : 1 + below(7);
    CUresult r = cuMipmappedArrayCreate(&mipmap, d, levels);
    SAY(" L%u %s", levels, record_brief(r));
    if (r)
        return;
    r = cuMipmappedArrayGetMemoryRequirements(&need, mipmap, 0);
    SAY(" m=%s/%zu/%zu", record_brief(r), need.size, need.alignment);
    r = cuMipmappedArrayGetSparseProperties(&sparse, mipmap);
    say_sparse(r, &sparse);
    for (unsigned i = 0; i < levels + 2; i += 1 + below(3)) {
        CUarray level = NULL;
        r = cuMipmappedArrayGetLevel(&level, mipmap, i);
        SAY(" l%u=%s", i, record_brief(r));
        if (!r)
            say_array(level);
    }
    SAY(" x=%s", record_brief(cuMipmappedArrayDestroy(mipmap)));
}

GROUP(arrays)
{
    record_context();
    for (unsigned i = 0; i < 3000; i++) {
        if (!CASE("%u", i))
            continue;
        seed(i + 1000);
        CUDA_ARRAY3D_DESCRIPTOR d = random_array(i % 3 != 0);
        SAY("[%zx %zx %zx f%x c%u fl%x]", d.Width, d.Height, d.Depth, (unsigned)d.Format,
            d.NumChannels, d.Flags);
        CUarray array = NULL;
        CUresult r = cuArray3DCreate(&array, &d);
        SAY(" %s", record_brief(r));
        if (!r) {
            say_array(array);
            say_planes(array);
            SAY(" x=%s", record_brief(cuArrayDestroy(array)));
        }
        say_mipmap(&d);
    }
}

// ---- textures and surfaces

enum { MOST_ARRAYS = 24, MOST_MIPMAPS = 16, MEMORY_B = 4 << 20 };

static CUdeviceptr memory;
static CUarray arrays[MOST_ARRAYS];
static CUmipmappedArray mipmaps[MOST_MIPMAPS];
static unsigned array_count, mipmap_count;

static void make_resources(void)
{
    static const struct {
        unsigned width, height, depth, format, channels, flags;
    } made[] = {{64, 0, 0, 1, 4, 0},     {64, 32, 0, 1, 4, 0},    {32, 16, 8, 1, 4, 0},
                {64, 32, 0, 0x20, 1, 0}, {64, 32, 0, 0x10, 4, 0}, {64, 32, 0, 0xa, 2, 0},
                {64, 0, 5, 1, 4, 1},     {64, 32, 5, 1, 4, 1},    {32, 32, 6, 1, 4, 4},
                {32, 32, 12, 1, 4, 5},   {64, 64, 0, 0x91, 4, 0}, {64, 64, 0, 0x9d, 4, 0},
                {64, 64, 0, 0xc2, 1, 0}, {64, 64, 0, 0xc5, 4, 0}, {64, 64, 0, 3, 4, 0},
                {64, 64, 0, 2, 2, 2},    {64, 64, 0, 9, 1, 0},    {64, 64, 0, 0x20, 1, 0x10},
                {64, 64, 0, 1, 1, 8},    {64, 64, 0, 0x50, 4, 0}};
    record_context();
    NEED(cuMemAlloc(&memory, MEMORY_B));
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        CUDA_ARRAY3D_DESCRIPTOR d = {.Width = made[i].width,
                                     .Height = made[i].height,
                                     .Depth = made[i].depth,
                                     .Format = (CUarray_format)made[i].format,
                                     .NumChannels = made[i].channels,
                                     .Flags = made[i].flags};
        if (!cuArray3DCreate(&arrays[array_count], &d))
            array_count++;
        d.Flags &= ~(unsigned)CUDA_ARRAY3D_DEPTH_TEXTURE;
        if (mipmap_count < MOST_MIPMAPS && !cuMipmappedArrayCreate(&mipmaps[mipmap_count], &d, 4))
            mipmap_count++;
    }
}

static void linear_resource(CUDA_RESOURCE_DESC *r)
{
    static const uint64_t sizes[] = {0,
                                     1,
                                     4,
                                     16,
                                     100,
                                     4096,
                                     65536,
                                     MEMORY_B,
                                     MEMORY_B + 1,
                                     UINT64_C(1) << 29,
                                     UINT64_C(1) << 31,
                                     UINT64_C(1) << 40,
                                     UINT64_MAX};
    static const unsigned counts[] = {1, 2, 4, 4, 3, 0, 5};
    r->resType = CU_RESOURCE_TYPE_LINEAR;
    r->res.linear.devPtr = memory + (one_in(3) ? PICK(sizes) % 4096 : 0);
    r->res.linear.format = (CUarray_format)(one_in(4) ? PICK(any_format) : PICK(plain_format));
    r->res.linear.numChannels = PICK(counts);
    r->res.linear.sizeInBytes = PICK(sizes);
    if (one_in(20))
        r->res.linear.devPtr = 0;
}

static void pitched_resource(CUDA_RESOURCE_DESC *r)
{
    static const uint64_t extents[] = {
        0,      1,      2,     64,    100,     512,     1024,
        131072, 131073, 65000, 65001, 2097120, 2097121, UINT64_C(1) << 33};
    static const uint64_t pitches[] = {32,
                                       64,
                                       128,
                                       256,
                                       512,
                                       1024,
                                       4096,
                                       100,
                                       0,
                                       16,
                                       48,
                                       96,
                                       33,
                                       1 << 20,
                                       2097120,
                                       2097152,
                                       UINT64_C(1) << 40};
    static const unsigned counts[] = {1, 2, 4, 4, 3, 0, 5};
    r->resType = CU_RESOURCE_TYPE_PITCH2D;
    r->res.pitch2D.devPtr = memory + (one_in(3) ? PICK(pitches) % 4096 : 0);
    r->res.pitch2D.format = (CUarray_format)(one_in(4) ? PICK(any_format) : PICK(plain_format));
    r->res.pitch2D.numChannels = PICK(counts);
    r->res.pitch2D.width = one_in(3) ? PICK(extents) : 1 + below(64);
    r->res.pitch2D.height = one_in(3) ? PICK(extents) : 1 + below(64);
    r->res.pitch2D.pitchInBytes = PICK(pitches);
}

static CUDA_RESOURCE_DESC random_resource(void)
{
    CUDA_RESOURCE_DESC r = {0};
    unsigned kind = below(10);
    if (kind < 4) {
        r.resType = CU_RESOURCE_TYPE_ARRAY;
        r.res.array.hArray = arrays[below(array_count)];
    } else if (kind < 7) {
        r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        r.res.mipmap.hMipmappedArray = mipmaps[below(mipmap_count)];
    } else if (kind == 7) {
        linear_resource(&r);
    } else if (kind == 8) {
        pitched_resource(&r);
    } else {
        r.resType =
            (CUresourcetype)below(6); // an array's handle passed as another type of resource
        r.res.array.hArray = arrays[below(array_count)];
        (void)one_in(2);
    }
    if (one_in(40))
        r.flags = 1;
    return r;
}

static CUDA_TEXTURE_DESC random_texture(void)
{
    static const float numbers[] = {0, 0, 0.5f, 1, 2.5f, -1, 16, 100, INFINITY, NAN};
    CUDA_TEXTURE_DESC t = {0};
    for (int i = 0; i < 3; i++)
        t.addressMode[i] = (CUaddress_mode)(one_in(30) ? 4 + below(3) : one_in(2) ? 1 : below(4));
    t.filterMode = (CUfilter_mode)(one_in(30) ? 2 : below(2));
    t.mipmapFilterMode = (CUfilter_mode)(one_in(30) ? 2 : below(2));
    t.flags = one_in(3) ? 2 : below(64);
    if (one_in(40))
        t.flags = 1u << below(32);
    t.maxAnisotropy = one_in(3) ? below(20) : 0;
    t.mipmapLevelBias = PICK(numbers);
    t.minMipmapLevelClamp = PICK(numbers);
    t.maxMipmapLevelClamp = PICK(numbers);
    for (int i = 0; i < 4; i++)
        t.borderColor[i] = PICK(numbers);
    if (one_in(60))
        t.reserved[below(12)] = 1;
    return t;
}

static CUDA_RESOURCE_VIEW_DESC random_view(void)
{
    static const uint64_t widths[] = {64, 64, 32, 16, 0, 1, 128, 256, 63, 8};
    CUDA_RESOURCE_VIEW_DESC v = {0};
    v.format = (CUresourceViewFormat)(one_in(40) ? below(64) : below(0x23));
    v.width = PICK(widths);
    v.height = one_in(2) ? v.width / 2 : PICK(widths);
    v.depth = one_in(2) ? 0 : below(14);
    v.firstMipmapLevel = one_in(3) ? below(6) : 0;
    v.lastMipmapLevel = v.firstMipmapLevel + (one_in(3) ? below(5) : 0);
    v.firstLayer = one_in(4) ? below(8) : 0;
    v.lastLayer = v.firstLayer + (one_in(2) ? below(14) : 0);
    if (one_in(60))
        v.reserved[below(16)] = 1;
    if (one_in(20))
        v.lastLayer = below(3);
    return v;
}

// Prints an address as an offset if it lies inside the memory.
static void say_address(CUdeviceptr address)
{
    if (!address)
        SAY(" 63");
    else if (address - memory > 2 * (uint64_t)MEMORY_B)
        SAY(" elsewhere");
    else
        SAY(" %llx", address - memory);
}

static void say_what(const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *t,
                     const CUDA_RESOURCE_VIEW_DESC *v)
{
    int number = -1;
    for (unsigned i = 0; r->resType == CU_RESOURCE_TYPE_ARRAY && i < array_count; i++)
        if (arrays[i] == r->res.array.hArray)
            number = (int)i;
    for (unsigned i = 0; r->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY && i < mipmap_count; i++)
        if (mipmaps[i] == r->res.mipmap.hMipmappedArray)
            number = (int)i;
    SAY("[%d#%d", (int)r->resType, number);
    if (r->resType == CU_RESOURCE_TYPE_LINEAR) {
        say_address(r->res.linear.devPtr);
        SAY(" %x %u %zx", (unsigned)r->res.linear.format, r->res.linear.numChannels,
            r->res.linear.sizeInBytes);
    }
    if (r->resType == CU_RESOURCE_TYPE_PITCH2D) {
        say_address(r->res.pitch2D.devPtr);
        SAY(" %x %u %zux%zu,%zu", (unsigned)r->res.pitch2D.format, r->res.pitch2D.numChannels,
            r->res.pitch2D.width, r->res.pitch2D.height, r->res.pitch2D.pitchInBytes);
    }
    SAY(" a%d%d%d f%d m%d fl%x an%u", (int)t->addressMode[0], (int)t->addressMode[1],
        (int)t->addressMode[2], (int)t->filterMode, (int)t->mipmapFilterMode, t->flags,
        t->maxAnisotropy);
    if (v)
        SAY(" v%x %zux%zux%zu %u-%u %u-%u", (unsigned)v->format, v->width, v->height, v->depth,
            v->firstMipmapLevel, v->lastMipmapLevel, v->firstLayer, v->lastLayer);
    SAY("]");
}

static void say_read_back(CUtexObject object)
{
    CUDA_RESOURCE_DESC r = {0};
    CUDA_TEXTURE_DESC t = {0};
    CUDA_RESOURCE_VIEW_DESC v = {0};
    CUresult code = cuTexObjectGetTextureDesc(&t, object);
    SAY(" t=%s,%d%d%d,%d,%x,%u,%d,%g,%g,%g,%g,%g,%g,%g", record_brief(code), (int)t.addressMode[0],
        (int)t.addressMode[1], (int)t.addressMode[2], (int)t.filterMode, t.flags, t.maxAnisotropy,
        (int)t.mipmapFilterMode, t.mipmapLevelBias, t.minMipmapLevelClamp, t.maxMipmapLevelClamp,
        t.borderColor[0], t.borderColor[1], t.borderColor[2], t.borderColor[3]);
    code = cuTexObjectGetResourceDesc(&r, object);
    SAY(" r=%s,%d,%x", record_brief(code), (int)r.resType, r.flags);
    if (r.resType == CU_RESOURCE_TYPE_LINEAR)
        SAY(",%lld,%x,%u,%zx", (long long)(r.res.linear.devPtr - memory),
            (unsigned)r.res.linear.format, r.res.linear.numChannels, r.res.linear.sizeInBytes);
    if (r.resType == CU_RESOURCE_TYPE_PITCH2D)
        SAY(",%lld,%x,%u,%zu,%zu,%zu", (long long)(r.res.pitch2D.devPtr - memory),
            (unsigned)r.res.pitch2D.format, r.res.pitch2D.numChannels, r.res.pitch2D.width,
            r.res.pitch2D.height, r.res.pitch2D.pitchInBytes);
    code = cuTexObjectGetResourceViewDesc(&v, object);
    SAY(" v=%s", record_brief(code));
    if (!code)
        SAY(",%x,%zux%zux%zu,%u-%u,%u-%u", (unsigned)v.format, v.width, v.height, v.depth,
            v.firstMipmapLevel, v.lastMipmapLevel, v.firstLayer, v.lastLayer);
}

GROUP(textures)
{
    make_resources();
    for (unsigned i = 0; i < 4000; i++) {
        if (!CASE("%u", i))
            continue;
        seed(i + 50000);
        CUDA_RESOURCE_DESC r = random_resource();
        CUDA_TEXTURE_DESC t = random_texture();
        CUDA_RESOURCE_VIEW_DESC v = random_view();
        bool viewed = r.resType < 2 ? one_in(2) : one_in(12);
        if (viewed && !one_in(3)) {
            t.filterMode = CU_TR_FILTER_MODE_POINT;
            t.flags = CU_TRSF_NORMALIZED_COORDINATES;
        }
        say_what(&r, &t, viewed ? &v : NULL);
        CUtexObject texture = 0;
        CUresult code = cuTexObjectCreate(&texture, &r, &t, viewed ? &v : NULL);
        SAY(" %s", record_brief(code));
        if (!code) {
            say_read_back(texture);
            SAY(" x=%s", record_brief(cuTexObjectDestroy(texture)));
        }
        if (one_in(3)) {
            CUsurfObject surface = 0;
            code = cuSurfObjectCreate(&surface, &r);
            SAY(" surf=%s", record_brief(code));
            if (!code)
                cuSurfObjectDestroy(surface);
        }
    }
}

// ---- images on external memory: one box is written and every byte of the memory is checked

enum { EXTERNAL_B = 32 << 20 };

static unsigned char *pattern, *after;
static CUdeviceptr bytes;

static uint64_t hash_of(const unsigned char *p, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325), word;
    for (size_t i = 0; i < size / 8; i++) {
        memcpy(&word, p + i * 8, 8);
        hash = (hash ^ word) * UINT64_C(0x100000001b3);
        hash ^= hash >> 29;
    }
    return hash;
}

static unsigned channel_B(CUarray_format format)
{
    switch ((unsigned)format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

static void write_box(CUarray level)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    cuArray3DGetDescriptor(&d, level);
    unsigned element_B = channel_B(d.Format) * d.NumChannels;
    if (!element_B || d.Width >= 5000 || d.Height >= 5000 || d.Depth >= 100)
        return;
    NEED(cuMemsetD8(bytes, 0, EXTERNAL_B));
    NEED(cuCtxSynchronize());
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = pattern,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = level};
    unsigned width = (unsigned)d.Width, height = d.Height ? (unsigned)d.Height : 1,
             depth = d.Depth ? (unsigned)d.Depth : 1;
    unsigned x = below(width), y = below(height), z = below(depth);
    if (one_in(2))
        x = y = z = 0;
    c.dstXInBytes = x * element_B, c.dstY = y, c.dstZ = z;
    c.WidthInBytes = (1 + below(width - x)) * element_B;
    c.Height = 1 + below(height - y);
    c.Depth = 1 + below(depth - z);
    if (one_in(2))
        c.WidthInBytes = (size_t)(width - x) * element_B, c.Height = height - y,
        c.Depth = depth - z;
    c.srcPitch = c.WidthInBytes, c.srcHeight = c.Height;
    CUresult r = cuMemcpy3D(&c), later = cuCtxSynchronize();
    SAY(" w=%s,%s", record_brief(r), record_brief(later));
    if (later)
        _exit(3);
    if (!r) {
        NEED(cuMemcpyDtoH(after, bytes, EXTERNAL_B));
        SAY(" h=%llx", (unsigned long long)hash_of(after, EXTERNAL_B));
    }
}

static void map_image(CUexternalMemory external)
{
    static const uint64_t offsets[] = {0,
                                       0,
                                       0,
                                       512,
                                       1024,
                                       4096,
                                       65536,
                                       131072,
                                       1 << 20,
                                       256,
                                       100,
                                       2 << 20,
                                       EXTERNAL_B - 65536,
                                       EXTERNAL_B - 4096,
                                       EXTERNAL_B,
                                       EXTERNAL_B + 4096,
                                       UINT64_C(1) << 40,
                                       UINT64_MAX << 12};
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = {0};
    d.arrayDesc = random_array(false);
    if (one_in(20))
        d.arrayDesc = random_array(true);
    d.numLevels = one_in(10) ? below(16) : 1 + below(6);
    d.offset = PICK(offsets);
    if (one_in(50))
        d.reserved[below(16)] = 1;
    const CUDA_ARRAY3D_DESCRIPTOR *a = &d.arrayDesc;
    SAY("[%zx %zx %zx f%x c%u fl%x o%llx L%u]", a->Width, a->Height, a->Depth, (unsigned)a->Format,
        a->NumChannels, a->Flags, d.offset, d.numLevels);
    CUmipmappedArray mipmap = NULL;
    CUresult r = cuExternalMemoryGetMappedMipmappedArray(&mipmap, external, &d);
    SAY(" %s", record_brief(r));
    if (r)
        return;
    CUDA_ARRAY_MEMORY_REQUIREMENTS need = {0};
    r = cuMipmappedArrayGetMemoryRequirements(&need, mipmap, 0);
    SAY(" m=%s/%zu/%zu", record_brief(r), need.size, need.alignment);
    unsigned number = below(d.numLevels);
    CUarray level;
    r = cuMipmappedArrayGetLevel(&level, mipmap, number);
    SAY(" l%u=%s", number, record_brief(r));
    if (!r) {
        say_array(level);
        write_box(level);
    }
    SAY(" x=%s", record_brief(cuMipmappedArrayDestroy(mipmap)));
}

GROUP(mapped)
{
    record_context();
    CUexternalMemory external = record_external_memory(EXTERNAL_B);
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC all = {.size = EXTERNAL_B};
    NEED(cuExternalMemoryGetMappedBuffer(&bytes, external, &all));
    after = malloc(EXTERNAL_B);
    pattern = malloc(EXTERNAL_B);
    if (!after || !pattern)
        _exit(9);
    for (unsigned i = 0; i < EXTERNAL_B; i++)
        pattern[i] = (unsigned char)((i * 2654435761u) >> 24 | 1);
    for (unsigned i = 0; i < 1500; i++) {
        if (!CASE("%u", i))
            continue;
        seed(i + 90000);
        map_image(external);
    }
}

int main(int argc, char **argv)
{
    RUN(arrays);
    RUN(textures);
    RUN(mapped);
    return 0;
}
