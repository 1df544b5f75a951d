// SPDX-License-Identifier: MIT
// Sparse arrays and mipmapped arrays whose first level has at least one tile: the sizes of mip
// tails (`tails`), the order of the texels in the memory of a tile (`tiles`), and the places of
// the levels in a tail (`levels`). The memory of tiles and tails is also mapped in a second array,
// the view, and read there. A line of `tiles` names the texels at 16 B, 32 B and so on up to 32 KiB
// in the rows of the view, as x,y,z.
#include "draw.h"
#include "record.h"

enum { TILE_B = 64 << 10, HANDLE_B = 2 << 20, TAILS = 400, TILES = 150, LEVELS = 60, WORD_B = 16 };

struct shape {
    CUDA_ARRAY3D_DESCRIPTOR d;
    unsigned texel_B, levels;
};

static const struct {
    CUarray_format format;
    unsigned texel_B;
} formats[] = {{CU_AD_FORMAT_UNSIGNED_INT8, 1},
               {CU_AD_FORMAT_UNSIGNED_INT16, 2},
               {CU_AD_FORMAT_UNSIGNED_INT32, 4}};

enum { VIEW_WIDTH = 256, VIEW_ROWS = HANDLE_B / VIEW_WIDTH }; // one tile after the other

static CUmemGenericAllocationHandle handle;
static CUarray view; // of bytes; its tiles are the memory of `handle`
static unsigned char texels[1 << 24], read_back[HANDLE_B];

static void set_up(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                .allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL};
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = VIEW_WIDTH,
                                 .Height = VIEW_ROWS,
                                 .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                 .NumChannels = 1,
                                 .Flags = CUDA_ARRAY3D_SPARSE};
    record_context();
    NEED(cuMemCreate(&handle, HANDLE_B, &prop, 0));
    NEED(cuArray3DCreate(&view, &d));
    CUarrayMapInfo info = {.resourceType = CU_RESOURCE_TYPE_ARRAY,
                           .resource.array = view,
                           .subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL,
                           .subresource.sparseLevel = {.extentWidth = VIEW_WIDTH,
                                                       .extentHeight = VIEW_ROWS,
                                                       .extentDepth = 1},
                           .memOperationType = CU_MEM_OPERATION_TYPE_MAP,
                           .memHandleType = CU_MEM_HANDLE_TYPE_GENERIC,
                           .memHandle.memHandle = handle,
                           .deviceBitMask = 1};
    NEED(cuMemMapArrayAsync(&info, 1, NULL));
    NEED(cuCtxSynchronize());
}

// Copies all bytes of the view.
static void copy_view(bool in)
{
    CUDA_MEMCPY3D c = {.WidthInBytes = VIEW_WIDTH, .Height = VIEW_ROWS, .Depth = 1};
    c.srcMemoryType = in ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    c.dstMemoryType = in ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    c.srcHost = c.dstHost = read_back;
    c.srcPitch = c.dstPitch = VIEW_WIDTH;
    c.srcArray = in ? NULL : view;
    c.dstArray = in ? view : NULL;
    NEED(cuMemcpy3D(&c));
}

static void clear_view(void)
{
    memset(read_back, 0xee, sizeof read_back);
    copy_view(true);
}

// An extent of at least one tile, and seldom of many.
static size_t draw_extent(unsigned tile)
{
    return tile + draw() % (chance(30) ? 12 * tile : 2 * tile);
}

static struct shape draw_shape(bool deep, bool layered)
{
    struct shape s;
    const unsigned format = draw() % 3, channels = 1u << draw() % 3;
    s.texel_B = formats[format].texel_B * channels;
    const unsigned words = 65536 / s.texel_B;
    unsigned bits = 0;
    while (1u << bits < words)
        bits++;
    const unsigned x = deep ? (bits + 2) / 3 : (bits + 1) / 2,
                   y = deep ? (bits - x + 1) / 2 : bits - x, z = deep ? bits - x - y : 0;
    s.d = (CUDA_ARRAY3D_DESCRIPTOR){
        .Format = formats[format].format, .NumChannels = channels, .Flags = CUDA_ARRAY3D_SPARSE};
    s.d.Width = draw_extent(1u << x);
    s.d.Height = draw_extent(1u << y);
    s.d.Depth = deep ? draw_extent(1u << z) : 0;
    if (layered) {
        s.d.Depth = 1 + draw() % 4;
        s.d.Flags |= CUDA_ARRAY3D_LAYERED;
    }
    size_t most = s.d.Width > s.d.Height ? s.d.Width : s.d.Height;
    most = deep && s.d.Depth > most ? s.d.Depth : most;
    for (s.levels = 1; most > 1; most /= 2)
        s.levels++;
    s.levels = 1 + draw() % s.levels;
    return s;
}

static void say_shape(const struct shape *s)
{
    SAY(" %zux%zux%zu B%u L%u fl%x", s->d.Width, s->d.Height, s->d.Depth, s->texel_B, s->levels,
        s->d.Flags);
}

static bool make(const struct shape *s, CUmipmappedArray *m, CUDA_ARRAY_SPARSE_PROPERTIES *p)
{
    CUresult r = cuMipmappedArrayCreate(m, &s->d, s->levels);
    say_shape(s);
    if (r) {
        SAY(" %s", record_name(r));
        return false;
    }
    r = cuMipmappedArrayGetSparseProperties(p, *m);
    SAY(" %s", record_name(r));
    if (r)
        cuMipmappedArrayDestroy(*m);
    return !r;
}

GROUP(tails)
{
    record_context();
    for (int i = 0; i < TAILS; i++) {
        CUmipmappedArray m;
        CUDA_ARRAY_SPARSE_PROPERTIES p;
        if (!CASE("%d", i))
            continue;
        draw_seed(310000 + (uint64_t)i);
        const bool deep = chance(60);
        const struct shape s = draw_shape(deep, !deep && chance(50));
        if (!make(&s, &m, &p))
            continue;
        SAY(" tile %ux%ux%u tail %u %llu fl%x", p.tileExtent.width, p.tileExtent.height,
            p.tileExtent.depth, p.miptailFirstLevel, p.miptailSize, p.flags);
        cuMipmappedArrayDestroy(m);
    }
}

// Fills the box with words of WORD_B bytes that name their places: bytes, rows and slices from its
// start.
static void fill_box(size_t row_B, size_t rows, size_t slices)
{
    for (size_t z = 0; z < slices; z++)
        for (size_t y = 0; y < rows; y++)
            for (size_t x = 0; x < row_B; x++) {
                const uint32_t at[4] = {(uint32_t)(x / WORD_B * WORD_B), (uint32_t)y, (uint32_t)z,
                                        0x5ca1ab1e};
                texels[(z * rows + y) * row_B + x] = ((const unsigned char *)at)[x % WORD_B];
            }
}

static CUresult copy_box(CUarray a, const size_t at[3], size_t row_B, size_t rows, size_t slices)
{
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = texels,
                       .srcPitch = row_B,
                       .srcHeight = rows,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = a,
                       .dstXInBytes = at[0],
                       .dstY = at[1],
                       .dstZ = at[2],
                       .WidthInBytes = row_B,
                       .Height = rows,
                       .Depth = slices};
    return cuMemcpy3D(&c);
}

static void say_word(size_t at_B)
{
    uint32_t at[4];
    memcpy(at, read_back + at_B, sizeof at);
    if (at[3] == 0x5ca1ab1e)
        SAY(" %u,%u,%u", at[0], at[1], at[2]);
    else
        SAY(" -");
}

static uint64_t hash(size_t size_B)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size_B; i++)
        sum = (sum ^ read_back[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static CUresult map(const CUarrayMapInfo *wanted)
{
    CUarrayMapInfo info = *wanted;
    info.memOperationType = CU_MEM_OPERATION_TYPE_MAP;
    info.memHandleType = CU_MEM_HANDLE_TYPE_GENERIC;
    info.memHandle.memHandle = handle;
    info.deviceBitMask = 1;
    clear_view();
    CUresult r = cuMemMapArrayAsync(&info, 1, NULL);
    return r ? r : cuCtxSynchronize();
}

static size_t level_extent(size_t extent, unsigned level)
{
    return extent >> level ? extent >> level : 1;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

// One tile of a level above the tail.
static void say_tile(const struct shape *s, CUmipmappedArray m,
                     const CUDA_ARRAY_SPARSE_PROPERTIES *p)
{
    const unsigned level = draw() % p->miptailFirstLevel;
    const bool layered = s->d.Flags & CUDA_ARRAY3D_LAYERED;
    const size_t tile[3] = {p->tileExtent.width, p->tileExtent.height, p->tileExtent.depth};
    const size_t extent[3] = {level_extent(s->d.Width, level), level_extent(s->d.Height, level),
                              layered || !s->d.Depth ? 1 : level_extent(s->d.Depth, level)};
    size_t at[3], size[3];
    CUarrayMapInfo info = {.resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                           .resource.mipmap = m,
                           .subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL};
    for (int i = 0; i < 3; i++) {
        at[i] = draw() % ((extent[i] + tile[i] - 1) / tile[i]) * tile[i];
        size[i] = least(tile[i], extent[i] - at[i]);
    }
    const unsigned layer = layered ? draw() % (unsigned)s->d.Depth : 0;
    info.subresource.sparseLevel.level = level;
    info.subresource.sparseLevel.layer = layer;
    info.subresource.sparseLevel.offsetX = (unsigned)at[0];
    info.subresource.sparseLevel.offsetY = (unsigned)at[1];
    info.subresource.sparseLevel.offsetZ = (unsigned)at[2];
    info.subresource.sparseLevel.extentWidth = (unsigned)size[0];
    info.subresource.sparseLevel.extentHeight = (unsigned)size[1];
    info.subresource.sparseLevel.extentDepth = (unsigned)size[2];
    SAY(" level %u layer %u at %zu,%zu,%zu", level, layer, at[0], at[1], at[2]);
    CUresult r = map(&info);
    CUarray a;
    SAY(" %s", record_name(r));
    if (r)
        return;
    NEED(cuMipmappedArrayGetLevel(&a, m, level));
    fill_box(size[0] * s->texel_B, size[1], size[2]);
    r = copy_box(a, (const size_t[3]){at[0] * s->texel_B, at[1], layered ? layer : at[2]},
                 size[0] * s->texel_B, size[1], size[2]);
    SAY(" %s", record_name(r));
    copy_view(false);
    for (size_t B = WORD_B; B < TILE_B; B *= 2)
        say_word(B);
    SAY(" sum %016llx", (unsigned long long)hash(TILE_B));
}

GROUP(tiles)
{
    set_up();
    for (int i = 0; i < TILES; i++) {
        CUmipmappedArray m;
        CUDA_ARRAY_SPARSE_PROPERTIES p;
        if (!CASE("%d", i))
            continue;
        draw_seed(320000 + (uint64_t)i);
        const bool deep = chance(60);
        const struct shape s = draw_shape(deep, !deep && chance(50));
        if (!make(&s, &m, &p))
            continue;
        say_tile(&s, m, &p);
        cuMipmappedArrayDestroy(m);
    }
}

// The tail of one layer: the beginning of each of its levels, and a hash of all bytes.
static void say_levels(const struct shape *s, CUmipmappedArray m,
                       const CUDA_ARRAY_SPARSE_PROPERTIES *p)
{
    const bool layered = s->d.Flags & CUDA_ARRAY3D_LAYERED;
    const unsigned layer = layered ? draw() % (unsigned)s->d.Depth : 0;
    CUarrayMapInfo info = {.resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                           .resource.mipmap = m,
                           .subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL};
    info.subresource.miptail.layer = layer;
    info.subresource.miptail.size = p->miptailSize;
    SAY(" tail %u %llu layer %u", p->miptailFirstLevel, p->miptailSize, layer);
    CUresult r = map(&info);
    SAY(" %s", record_name(r));
    for (unsigned level = p->miptailFirstLevel; !r && level < s->levels; level++) {
        const size_t row_B = level_extent(s->d.Width, level) * s->texel_B,
                     rows = level_extent(s->d.Height, level),
                     slices = layered || !s->d.Depth ? 1 : level_extent(s->d.Depth, level);
        CUarray a;
        NEED(cuMipmappedArrayGetLevel(&a, m, level));
        fill_box(row_B, rows, slices);
        clear_view();
        r = copy_box(a, (const size_t[3]){0, 0, layer}, row_B, rows, slices);
        copy_view(false);
        size_t first = 0;
        while (first < p->miptailSize && read_back[first] == 0xee)
            first++;
        SAY(" %zu:%016llx", first, (unsigned long long)hash(p->miptailSize));
    }
    SAY(" %s", record_name(r));
}

GROUP(levels)
{
    set_up();
    for (int i = 0; i < LEVELS; i++) {
        CUmipmappedArray m;
        CUDA_ARRAY_SPARSE_PROPERTIES p;
        if (!CASE("%d", i))
            continue;
        draw_seed(330000 + (uint64_t)i);
        const bool deep = chance(60);
        const struct shape s = draw_shape(deep, !deep && chance(50));
        if (!make(&s, &m, &p))
            continue;
        if (p.miptailSize && p.miptailSize <= HANDLE_B)
            say_levels(&s, m, &p);
        cuMipmappedArrayDestroy(m);
    }
}

int main(int argc, char **argv)
{
    RUN(tails);
    RUN(tiles);
    RUN(levels);
    return 0;
}
