// SPDX-License-Identifier: MIT
// Sparse arrays and arrays with deferred mapping, at the edges of the rules: extents of levels that
// end inside a tile (`extents`), lists with a wrong entry (`lists`), handles of memory that do not
// exist (`handles`), mip tails of small arrays (`tails`), deferred mapping of 1D arrays (`lines`),
// and levels that are given as arrays (`levels`).
#include "draw.h"
#include "record.h"

enum { PAGE_B = 64 << 10, HANDLE_B = 16 << 20, EXTENTS = 1200, TAILS = 600, LINES = 120 };

static const struct {
    CUarray_format format;
    unsigned texel_B;
} formats[] = {{CU_AD_FORMAT_UNSIGNED_INT8, 1},
               {CU_AD_FORMAT_UNSIGNED_INT16, 2},
               {CU_AD_FORMAT_UNSIGNED_INT32, 4}};

static CUmemGenericAllocationHandle tiles, plain_memory;

static void set_up(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    record_context();
    NEED(cuMemCreate(&plain_memory, HANDLE_B, &prop, 0));
    prop.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
    NEED(cuMemCreate(&tiles, HANDLE_B, &prop, 0));
}

static CUarrayMapInfo map_of(CUmipmappedArray m, CUarray a)
{
    CUarrayMapInfo i = {.resourceType =
                            m ? CU_RESOURCE_TYPE_MIPMAPPED_ARRAY : CU_RESOURCE_TYPE_ARRAY,
                        .subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL,
                        .memOperationType = CU_MEM_OPERATION_TYPE_MAP,
                        .memHandleType = CU_MEM_HANDLE_TYPE_GENERIC,
                        .memHandle.memHandle = tiles,
                        .deviceBitMask = 1};
    if (m)
        i.resource.mipmap = m;
    else
        i.resource.array = a;
    return i;
}

static size_t level_extent(size_t extent, unsigned level)
{
    return extent >> level ? extent >> level : 1;
}

// ---- extents

static void draw_shape(CUDA_ARRAY3D_DESCRIPTOR *d, unsigned *texel_B, unsigned tile[3], bool small)
{
    const unsigned format = (unsigned)(draw() % 3), channels = 1u << draw() % 3;
    const bool deep = chance(40), layered = !deep && chance(40);
    unsigned bits = 16;
    *texel_B = formats[format].texel_B * channels;
    while (1u << (16 - bits) < *texel_B)
        bits--;
    const unsigned x = deep ? (bits + 2) / 3 : (bits + 1) / 2,
                   y = deep ? (bits - x + 1) / 2 : bits - x, z = deep ? bits - x - y : 0;
    tile[0] = 1u << x, tile[1] = 1u << y, tile[2] = 1u << z;
    *d = (CUDA_ARRAY3D_DESCRIPTOR){
        .Format = formats[format].format, .NumChannels = channels, .Flags = CUDA_ARRAY3D_SPARSE};
    size_t extent[3];
    for (unsigned i = 0; i < 3; i++) {
        extent[i] = 1 + draw() % (small ? 2 * tile[i] : 3 * tile[i]);
        if (!small && extent[i] < tile[i])
            extent[i] += tile[i];
        if (small && chance(30))
            extent[i] = 1 + draw() % 8;
    }
    d->Width = extent[0];
    d->Height = extent[1];
    d->Depth = deep ? extent[2] : 0;
    if (layered) {
        d->Depth = 1 + draw() % 5;
        d->Flags |= CUDA_ARRAY3D_LAYERED;
    }
}

static unsigned draw_extent(size_t rest, unsigned tile)
{
    const unsigned whole = (unsigned)((rest + tile - 1) / tile * tile);
    switch (draw() % 12) {
    case 0:
        return (unsigned)rest + 1;
    case 1:
        return whole > 1 ? whole - 1 : 1;
    case 2:
        return whole + 1;
    case 3:
        return whole + tile;
    case 4:
        return 1 + (unsigned)(draw() % whole);
    case 5:
        return tile;
    case 6:
    case 7:
        return whole;
    default:
        return (unsigned)rest;
    }
}

GROUP(extents)
{
    set_up();
    for (unsigned i = 0; i < EXTENTS; i++) {
        CUDA_ARRAY3D_DESCRIPTOR d;
        CUmipmappedArray m = NULL;
        CUarray a = NULL;
        unsigned texel_B, tile[3], offset[3], extent[3];
        if (!CASE("%u", i))
            continue;
        draw_seed(810000 + i);
        draw_shape(&d, &texel_B, tile, false);
        const unsigned levels = (unsigned)(draw() % 4), level = levels > 1 && chance(40);
        const bool layered = d.Flags & CUDA_ARRAY3D_LAYERED;
        const CUresult made =
            levels ? cuMipmappedArrayCreate(&m, &d, levels) : cuArray3DCreate(&a, &d);
        const size_t size[3] = {level_extent(d.Width, level), level_extent(d.Height, level),
                                layered || !d.Depth ? 1 : level_extent(d.Depth, level)};
        for (unsigned k = 0; k < 3; k++) {
            const unsigned count = (unsigned)((size[k] + tile[k] - 1) / tile[k]);
            offset[k] = (unsigned)(draw() % count) * tile[k];
            extent[k] = chance(55) ? (unsigned)size[k] - offset[k]
                                   : draw_extent(size[k] - offset[k], tile[k]);
        }
        const unsigned layer = layered ? (unsigned)(draw() % d.Depth) : 0;
        SAY("%zux%zux%zu B%u L%u fl%x level %u.%u at %u,%u,%u extent %u,%u,%u", d.Width, d.Height,
            d.Depth, texel_B, levels, d.Flags, level, layer, offset[0], offset[1], offset[2],
            extent[0], extent[1], extent[2]);
        if (made) {
            SAY(" %s", record_brief(made));
            continue;
        }
        CUarrayMapInfo info = map_of(m, a);
        info.subresource.sparseLevel.level = level;
        info.subresource.sparseLevel.layer = layer;
        info.subresource.sparseLevel.offsetX = offset[0];
        info.subresource.sparseLevel.offsetY = offset[1];
        info.subresource.sparseLevel.offsetZ = offset[2];
        info.subresource.sparseLevel.extentWidth = extent[0];
        info.subresource.sparseLevel.extentHeight = extent[1];
        info.subresource.sparseLevel.extentDepth = extent[2];
        CUresult r = cuMemMapArrayAsync(&info, 1, NULL);
        SAY(": %s", record_brief(r ? r : cuCtxSynchronize()));
        info.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
        info.memHandle.memHandle = 0;
        r = cuMemMapArrayAsync(&info, 1, NULL);
        SAY(" %s", record_brief(r ? r : cuCtxSynchronize()));
        if (m)
            cuMipmappedArrayDestroy(m);
        else
            cuArrayDestroy(a);
    }
}

// ---- lists

enum { WIDTH = 512, HEIGHT = 512, TILE = 256, WRONGS = 19 };

static CUmipmappedArray chain; // of bytes: four tiles, one, and a tail
static CUarray chain_level;

static void make_chain(void)
{
    const CUDA_ARRAY3D_DESCRIPTOR d = {.Width = WIDTH,
                                       .Height = HEIGHT,
                                       .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                       .NumChannels = 1,
                                       .Flags = CUDA_ARRAY3D_SPARSE};
    NEED(cuMipmappedArrayCreate(&chain, &d, 3));
    NEED(cuMipmappedArrayGetLevel(&chain_level, chain, 0));
}

// Tile `x` of the first row of level 0.
static CUarrayMapInfo tile_map(unsigned x)
{
    CUarrayMapInfo i = map_of(chain, NULL);
    i.subresource.sparseLevel.offsetX = x * TILE;
    i.subresource.sparseLevel.extentWidth = TILE;
    i.subresource.sparseLevel.extentHeight = TILE;
    i.subresource.sparseLevel.extentDepth = 1;
    i.offset = x * (unsigned long long)PAGE_B;
    return i;
}

static CUarrayMapInfo wrong_map(unsigned kind)
{
    CUarrayMapInfo i = tile_map(1);
    switch (kind) {
    case 0:
        i.memOperationType = (CUmemOperationType)7;
        break;
    case 1:
        i.memHandleType = (CUmemHandleType)1;
        break;
    case 2:
        i.deviceBitMask = 2;
        break;
    case 3:
        i.deviceBitMask = 3;
        break;
    case 4:
        i.flags = 1;
        break;
    case 5:
        i.reserved[0] = 1;
        break;
    case 6:
        i.resourceType = CU_RESOURCE_TYPE_LINEAR;
        break;
    case 7:
        i.resource.mipmap = NULL;
        break;
    case 8:
        i.subresource.sparseLevel.level = 9;
        break;
    case 9:
        i.subresource.sparseLevel.layer = 1;
        break;
    case 10:
        i.subresource.sparseLevel.offsetX = 1;
        break;
    case 11:
        i.subresource.sparseLevel.extentWidth = 0;
        break;
    case 12:
        i.subresource.sparseLevel.extentWidth = 2 * TILE;
        break;
    case 13:
        i.memHandle.memHandle = plain_memory;
        break;
    case 14:
        i.offset = 1;
        break;
    case 15:
        i.offset = HANDLE_B;
        break;
    case 16:
        i.subresourceType = (CUarraySparseSubresourceType)9;
        break;
    case 17:
        i.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL;
        memset(&i.subresource, 0, sizeof i.subresource);
        break;
    default:
        i.resourceType = CU_RESOURCE_TYPE_ARRAY;
        i.resource.array = chain_level;
    }
    return i;
}

// Whether the tile has memory: it keeps a row that is written.
static bool has_memory(unsigned x)
{
    unsigned char row[TILE], got[TILE];
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = row,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = chain_level,
                       .dstXInBytes = x * TILE,
                       .WidthInBytes = TILE,
                       .Height = 1};
    memset(row, 0x5a, sizeof row);
    memset(got, 0xee, sizeof got);
    NEED(cuMemcpy2D(&c));
    CUDA_MEMCPY2D back = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = chain_level,
                          .srcXInBytes = x * TILE,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = got,
                          .WidthInBytes = TILE,
                          .Height = 1};
    NEED(cuMemcpy2D(&back));
    return !memcmp(row, got, sizeof row);
}

static void say_list(CUarrayMapInfo *list, unsigned count, CUstream stream)
{
    const CUresult r = cuMemMapArrayAsync(list, count, stream);
    const CUresult later = cuCtxSynchronize();
    SAY(" %s", record_brief(r ? r : later));
    for (unsigned x = 0; x < 2; x++)
        SAY("%s%d", x ? "," : "/", has_memory(x));
    for (unsigned x = 0; x < 2; x++) {
        CUarrayMapInfo all = tile_map(x);
        all.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
        all.memHandle.memHandle = 0;
        NEED(cuMemMapArrayAsync(&all, 1, NULL));
    }
    NEED(cuCtxSynchronize());
}

GROUP(lists)
{
    CUstream stream;
    set_up();
    make_chain();
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    if (CASE("right"))
        for (unsigned twice = 0; twice < 2; twice++) {
            CUarrayMapInfo list[2] = {tile_map(0), tile_map(1)};
            say_list(list, 1 + twice, NULL);
        }
    for (unsigned kind = 0; kind < WRONGS; kind++)
        if (CASE("wrong-%u", kind)) {
            CUarrayMapInfo alone[1] = {wrong_map(kind)};
            CUarrayMapInfo second[2] = {tile_map(0), wrong_map(kind)};
            CUarrayMapInfo first[2] = {wrong_map(kind), tile_map(0)};
            CUarrayMapInfo third[3] = {tile_map(0), tile_map(1), wrong_map(kind)};
            say_list(alone, 1, NULL);
            say_list(second, 2, NULL);
            say_list(first, 2, NULL);
            say_list(third, 3, stream);
        }
    // Two wrong entries, or two mistakes in one: their codes are the same, or one comes first.
    for (unsigned kind = 0; kind < WRONGS; kind++)
        if (CASE("unmap-wrong-%u", kind)) {
            CUarrayMapInfo map[2] = {tile_map(0), tile_map(1)};
            NEED(cuMemMapArrayAsync(map, 2, NULL));
            CUarrayMapInfo list[2] = {tile_map(0), wrong_map(kind)};
            for (unsigned i = 0; i < 2; i++) {
                list[i].memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
                list[i].memHandle.memHandle = 0;
            }
            say_list(list, 2, NULL);
        }
}

// ---- handles

GROUP(handles)
{
    static const CUmemGenericAllocationHandle numbers[] = {1,
                                                           2,
                                                           0x1000,
                                                           0x12345678,
                                                           UINT64_MAX,
                                                           UINT64_MAX - 1,
                                                           (CUmemGenericAllocationHandle)1 << 63};
    set_up();
    make_chain();
    if (CASE("none")) {
        CUarrayMapInfo i = tile_map(0);
        i.memHandle.memHandle = 0;
        say_list(&i, 1, NULL);
    }
    if (CASE("none-and-wrong-mask")) {
        CUarrayMapInfo i = tile_map(0);
        i.memHandle.memHandle = 0;
        i.deviceBitMask = 2;
        say_list(&i, 1, NULL);
    }
    if (CASE("none-and-wrong-range")) {
        CUarrayMapInfo i = tile_map(0);
        i.memHandle.memHandle = 0;
        i.subresource.sparseLevel.offsetX = 1;
        say_list(&i, 1, NULL);
    }
    if (CASE("none-and-wrong-offset")) {
        CUarrayMapInfo i = tile_map(0);
        i.memHandle.memHandle = 0;
        i.offset = 1;
        say_list(&i, 1, NULL);
    }
    if (CASE("none-second")) {
        CUarrayMapInfo list[2] = {tile_map(0), tile_map(1)};
        list[1].memHandle.memHandle = 0;
        say_list(list, 2, NULL);
    }
    for (unsigned n = 0; n < COUNT(numbers); n++)
        if (CASE("number-%llx", (unsigned long long)numbers[n])) {
            CUarrayMapInfo i = tile_map(0);
            i.memHandle.memHandle = numbers[n];
            say_list(&i, 1, NULL);
        }
    for (unsigned n = 0; n < COUNT(numbers); n++)
        if (CASE("unmap-number-%llx", (unsigned long long)numbers[n])) {
            CUarrayMapInfo i = tile_map(0);
            i.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
            i.memHandle.memHandle = numbers[n];
            say_list(&i, 1, NULL);
        }
    if (CASE("released")) {
        CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                    .allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL};
        CUmemGenericAllocationHandle gone;
        NEED(cuMemCreate(&gone, HANDLE_B, &prop, 0));
        NEED(cuMemRelease(gone));
        CUarrayMapInfo i = tile_map(0);
        i.memHandle.memHandle = gone;
        say_list(&i, 1, NULL);
    }
}

// ---- tails of small arrays

static void say_properties(CUresult r, const CUDA_ARRAY_SPARSE_PROPERTIES *p)
{
    if (r)
        SAY(" %s", record_brief(r));
    else
        SAY(" tile %ux%ux%u first %u tail %llu fl%x", p->tileExtent.width, p->tileExtent.height,
            p->tileExtent.depth, p->miptailFirstLevel, p->miptailSize, p->flags);
}

GROUP(tails)
{
    set_up();
    for (unsigned i = 0; i < TAILS; i++) {
        CUDA_ARRAY3D_DESCRIPTOR d;
        CUDA_ARRAY_SPARSE_PROPERTIES p;
        CUmipmappedArray m;
        CUarray a;
        unsigned texel_B, tile[3];
        if (!CASE("%u", i))
            continue;
        draw_seed(820000 + i);
        draw_shape(&d, &texel_B, tile, true);
        size_t most = d.Width > d.Height ? d.Width : d.Height;
        unsigned levels = 1;
        for (; most > 1; most /= 2)
            levels++;
        levels = 1 + (unsigned)(draw() % levels);
        SAY("%zux%zux%zu B%u L%u fl%x", d.Width, d.Height, d.Depth, texel_B, levels, d.Flags);
        CUresult r = cuMipmappedArrayCreate(&m, &d, levels);
        if (!r) {
            r = cuMipmappedArrayGetSparseProperties(&p, m);
            cuMipmappedArrayDestroy(m);
        }
        say_properties(r, &p);
        r = cuArray3DCreate(&a, &d);
        if (!r) {
            r = cuArrayGetSparseProperties(&p, a);
            cuArrayDestroy(a);
        }
        SAY("; array:");
        say_properties(r, &p);
    }
}

// ---- 1D arrays with deferred mapping

// Writes all texels of a level, reads them again, and says whether they are the same.
static void say_texels(CUarray a, size_t row_B, size_t slices)
{
    static unsigned char texels[1 << 20], got[1 << 20];
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = texels,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = a,
                       .WidthInBytes = row_B,
                       .Height = 1,
                       .Depth = slices};
    CUDA_MEMCPY3D back = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = a,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = got,
                          .WidthInBytes = row_B,
                          .Height = 1,
                          .Depth = slices};
    for (size_t i = 0; i < row_B * slices; i++)
        texels[i] = (unsigned char)draw();
    CUresult r = cuMemcpy3D(&c);
    SAY(" put=%s", record_brief(r));
    r = cuMemcpy3D(&back);
    SAY(" get=%s/%d", record_brief(r), !memcmp(texels, got, row_B * slices));
}

GROUP(lines)
{
    set_up();
    for (unsigned i = 0; i < LINES; i++) {
        CUmipmappedArray m = NULL;
        CUarray a = NULL, level;
        CUDA_ARRAY_MEMORY_REQUIREMENTS q;
        if (!CASE("%u", i))
            continue;
        draw_seed(830000 + i);
        const unsigned format = (unsigned)(draw() % 3), channels = 1u << draw() % 3;
        const unsigned texel_B = formats[format].texel_B * channels;
        CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 1 + draw() % (chance(30) ? 16384 : 600),
                                     .Format = formats[format].format,
                                     .NumChannels = channels,
                                     .Flags = CUDA_ARRAY3D_DEFERRED_MAPPING};
        const unsigned levels = chance(60) ? (unsigned)(draw() % 5) : 0;
        if (chance(50)) {
            d.Flags |= CUDA_ARRAY3D_LAYERED;
            d.Depth = 1 + draw() % 4;
        }
        if (chance(20))
            d.Flags |= CUDA_ARRAY3D_SURFACE_LDST;
        SAY("%zux%zux%zu B%u L%u fl%x", d.Width, d.Height, d.Depth, texel_B, levels, d.Flags);
        CUresult r = levels ? cuMipmappedArrayCreate(&m, &d, levels) : cuArray3DCreate(&a, &d);
        SAY(" %s", record_brief(r));
        if (r)
            continue;
        r = levels ? cuMipmappedArrayGetMemoryRequirements(&q, m, 0)
                   : cuArrayGetMemoryRequirements(&q, a, 0);
        SAY(" %s", record_brief(r));
        if (!r)
            SAY(" %zu/%zu", q.size, q.alignment);
        CUarrayMapInfo info = map_of(m, a);
        r = cuMemMapArrayAsync(&info, 1, NULL);
        SAY(" map=%s", record_brief(r ? r : cuCtxSynchronize()));
        if (!r) {
            level = a;
            if (m)
                NEED(cuMipmappedArrayGetLevel(&level, m, 0));
            say_texels(level, d.Width * texel_B, d.Depth ? d.Depth : 1);
            info.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
            info.memHandle.memHandle = 0;
            r = cuMemMapArrayAsync(&info, 1, NULL);
            SAY(" unmap=%s", record_brief(r ? r : cuCtxSynchronize()));
        }
        if (m)
            cuMipmappedArrayDestroy(m);
        else
            cuArrayDestroy(a);
    }
}

// ---- levels as arrays

GROUP(levels)
{
    set_up();
    for (unsigned kind = 0; kind < 2; kind++)
        for (unsigned n = 0; n < 3; n++)
            if (CASE("%s-%u", kind ? "deferred" : "sparse", n)) {
                CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 600,
                                             .Height = 600,
                                             .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                             .NumChannels = 1,
                                             .Flags = kind ? CUDA_ARRAY3D_DEFERRED_MAPPING
                                                           : CUDA_ARRAY3D_SPARSE};
                CUDA_ARRAY_SPARSE_PROPERTIES p;
                CUDA_ARRAY_MEMORY_REQUIREMENTS q = {0};
                CUmipmappedArray m;
                CUarray level;
                NEED(cuMipmappedArrayCreate(&m, &d, 3));
                NEED(cuMipmappedArrayGetLevel(&level, m, n));
                say_properties(cuArrayGetSparseProperties(&p, level), &p);
                const CUresult r = cuArrayGetMemoryRequirements(&q, level, 0);
                SAY(" %s %zu/%zu", record_brief(r), q.size, q.alignment);
                CUarrayMapInfo info = map_of(NULL, level);
                info.subresource.sparseLevel.extentWidth = 256;
                info.subresource.sparseLevel.extentHeight = 256;
                info.subresource.sparseLevel.extentDepth = 1;
                SAY(" map=%s", record_brief(cuMemMapArrayAsync(&info, 1, NULL)));
                SAY(" sync=%s", record_brief(cuCtxSynchronize()));
                SAY(" destroy=%s", record_brief(cuArrayDestroy(level)));
                SAY(" %s", record_brief(cuMipmappedArrayDestroy(m)));
            }
}

int main(int argc, char **argv)
{
    RUN(extents);
    RUN(lists);
    RUN(handles);
    RUN(tails);
    RUN(lines);
    RUN(levels);
    return 0;
}
