// SPDX-License-Identifier: MIT
// Fuzzes arrays and mipmapped arrays whose memory the program maps itself: sparse ones, tile by
// tile and with mip tails, and ones with deferred mapping. A model predicts the results, the
// properties and the sizes, and keeps the texels of each page of memory: tiles that share a page
// share its texels, and a page keeps them while it is not mapped. All arrays of an input have
// texels of one size and tiles of one shape, so the model needs no order of the bytes in a tile.
#include "sparse_model.h"

// ---- arrays

// "a sparse array: 2D, 3D or 2D layered, neither with deferred mapping nor with surfaces"
// (recorded: flags, sparse). The manual's rules for the other shapes are those of the target
// `mipmap`.
static bool is_valid(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    const unsigned other = d->Flags & (CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_SURFACE_LDST);
    if (!d->Width)
        return false;
    if (d->Flags & CUDA_ARRAY3D_SPARSE && (other || !d->Height || d->Flags & CUDA_ARRAY3D_CUBEMAP))
        return false;
    if (d->Flags & CUDA_ARRAY3D_CUBEMAP)
        return d->Width == d->Height &&
               (d->Flags & CUDA_ARRAY3D_LAYERED ? d->Depth && d->Depth % 6 == 0 : d->Depth == 6);
    if (d->Flags & CUDA_ARRAY3D_LAYERED)
        return d->Depth;
    return d->Height || !d->Depth;
}

static CUarray_format any_format(struct fuzz_input *in, unsigned log2_texel_B, unsigned *channels)
{
    static const CUarray_format formats[3][3] = {
        {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT8},
        {CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_HALF},
        {CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32, CU_AD_FORMAT_FLOAT}};
    const unsigned least = log2_texel_B > 2 ? log2_texel_B - 2 : 0; // 4 channels of 4 bytes at most
    const unsigned most = log2_texel_B < 2 ? log2_texel_B : 2;
    const unsigned log2_channels = least + fuzz_below(in, most - least + 1);
    *channels = 1u << log2_channels;
    return formats[log2_texel_B - log2_channels][fuzz_below(in, 3)];
}

static size_t any_extent(struct fuzz_input *in, unsigned tile)
{
    const size_t part = fuzz_below(in, 4) * (size_t)(tile > 8 ? tile / 8 : 1);
    return fuzz_below(in, 3) * (size_t)tile + (fuzz_chance(in, 3) ? fuzz_below(in, tile) : part);
}

static CUDA_ARRAY3D_DESCRIPTOR any_desc(struct fuzz_input *in, const struct model *m)
{
    static const unsigned rare[] = {0,
                                    CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING,
                                    CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_SURFACE_LDST,
                                    CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_CUBEMAP,
                                    CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_CUBEMAP,
                                    CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_SURFACE_LDST};
    CUDA_ARRAY3D_DESCRIPTOR d = {.Flags = fuzz_below(in, 3) ? CUDA_ARRAY3D_SPARSE
                                                            : CUDA_ARRAY3D_DEFERRED_MAPPING};
    d.Format = any_format(in, m->log2_texel_B, &d.NumChannels);
    d.Width = any_extent(in, m->tile[0]);
    d.Height = any_extent(in, m->tile[1]);
    if (m->deep) {
        d.Depth = 1 + any_extent(in, m->tile[2]); // tiles of a 2D array would have another shape
    } else if (!fuzz_below(in, 3)) {
        d.Depth = 1 + fuzz_below(in, 3);
        d.Flags |= CUDA_ARRAY3D_LAYERED;
    }
    if (fuzz_chance(in, 8))
        d.Flags = (d.Flags & CUDA_ARRAY3D_LAYERED) | rare[fuzz_below(in, FUZZ_COUNT(rare))];
    if (d.Flags & CUDA_ARRAY3D_CUBEMAP && !fuzz_chance(in, 4)) {
        d.Height = d.Width;
        d.Depth = 6;
    }
    if (fuzz_chance(in, 8))
        d.Height = 0;
    return d;
}

// Only arrays with its flag should have a kind of properties, and no level should.
static void check_properties(const struct model *m, const struct array *a)
{
    CUDA_ARRAY_SPARSE_PROPERTIES p;
    CUDA_ARRAY_MEMORY_REQUIREMENTS q;
    CUarray level;
    CUresult r = a->mip ? cuMipmappedArrayGetSparseProperties(&p, a->mip)
                        : cuArrayGetSparseProperties(&p, a->plain);
    FUZZ_CHECK(r == (sp_is_sparse(a) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE),
               "sparse properties with flags %#x: %d", a->desc.Flags, (int)r);
    if (!r) {
        const bool tile = p.tileExtent.width == m->tile[0] && p.tileExtent.height == m->tile[1] &&
                          p.tileExtent.depth == m->tile[2];
        // The level of a plain array has no tail of its own (recorded: sparse/array-u8x4).
        const unsigned first = a->mip ? a->tail_first : 0;
        const unsigned flags = a->tail_first ? 0 : CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL;
        FUZZ_CHECK(tile && p.miptailFirstLevel == first && p.miptailSize == a->tail_B &&
                       p.flags == flags,
                   "%zu x %zu x %zu, flags %#x, %u B: tile %u x %u x %u, tail from %u, %llu B, "
                   "flags %u; expected %u x %u x %u, %u, %llu, %u",
                   a->desc.Width, a->desc.Height, a->desc.Depth, a->desc.Flags, a->texel_B,
                   p.tileExtent.width, p.tileExtent.height, p.tileExtent.depth, p.miptailFirstLevel,
                   p.miptailSize, p.flags, m->tile[0], m->tile[1], m->tile[2], first,
                   (unsigned long long)a->tail_B, flags);
    }
    r = a->mip ? cuMipmappedArrayGetMemoryRequirements(&q, a->mip, 0)
               : cuArrayGetMemoryRequirements(&q, a->plain, 0);
    FUZZ_CHECK(r == (sp_is_deferred(a) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE),
               "requirements with flags %#x: %d", a->desc.Flags, (int)r);
    const uint64_t expected = sp_up(sp_chain_B(a, 0, true), PAGE_B);
    if (!r)
        FUZZ_CHECK(q.size == expected && q.alignment == PAGE_B,
                   "%zu x %zu x %zu, flags %#x, %u B, %u levels: %zu B, expected %llu",
                   a->desc.Width, a->desc.Height, a->desc.Depth, a->desc.Flags, a->texel_B,
                   a->count, q.size, (unsigned long long)expected);
    if (!a->mip)
        return;
    FUZZ_OK(sp_level_of(a, 0, &level));
    FUZZ_CHECK(cuArrayGetSparseProperties(&p, level) == CUDA_ERROR_INVALID_VALUE &&
                   cuArrayGetMemoryRequirements(&q, level, 0) == CUDA_ERROR_INVALID_VALUE,
               "a level has properties of its own");
}

static void create(struct fuzz_input *in, struct model *m)
{
    struct array *a = &m->arrays[fuzz_below(in, ARRAYS)];
    const CUDA_ARRAY3D_DESCRIPTOR d = any_desc(in, m);
    const unsigned levels = fuzz_below(in, LEVELS_MOST + 1);
    sp_end(a);
    const CUresult r =
        levels ? cuMipmappedArrayCreate(&a->mip, &d, levels) : cuArray3DCreate(&a->plain, &d);
    FUZZ_CHECK(!r == is_valid(&d), "%zu x %zu x %zu, format %d x %u, flags %#x, %u levels: %d",
               d.Width, d.Height, d.Depth, (int)d.Format, d.NumChannels, d.Flags, levels, (int)r);
    if (r) {
        memset(a, 0, sizeof *a);
        return;
    }
    if (!(d.Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING))) {
        sp_end(a); // an ordinary array
        return;
    }
    a->desc = d;
    a->texel_B = 1u << m->log2_texel_B;
    a->tile = m->tile;
    a->count = sp_clamp_levels(&d, levels);
    sp_lay_out(m, a);
    check_properties(m, a);
}

// Any place of an array, or one that was mapped lately, or close to it. False: there is no array.
static bool any_spot(struct fuzz_input *in, struct model *m, struct spot *s)
{
    const unsigned spots = m->spot_count < SPOTS ? m->spot_count : SPOTS;
    const struct array *a = sp_any_array(in, m);
    *s = (struct spot){.array = a};
    if (spots && fuzz_below(in, 4)) {
        *s = m->spots[fuzz_below(in, spots)];
        a = s->array; // which may be another one by now
    } else if (a) {
        s->level = fuzz_below(in, 2) ? 0 : fuzz_below(in, a->count);
        s->x = fuzz_below(in, a->levels[s->level].width);
        s->y = fuzz_below(in, a->levels[s->level].height);
        s->z = fuzz_below(in, sp_is_layered(&a->desc) ? a->layers : a->levels[s->level].depth);
    }
    if (!a || !a->count)
        return false;
    s->level = s->level < a->count ? s->level : a->count - 1;
    const struct level *l = &a->levels[s->level];
    const unsigned depth = sp_is_layered(&a->desc) ? a->layers : l->depth;
    if (fuzz_chance(in, 4))
        s->x += fuzz_below(in, m->tile[0]);
    if (fuzz_chance(in, 4))
        s->y += fuzz_below(in, m->tile[1]);
    s->x = s->x < l->width ? s->x : l->width - 1;
    s->y = s->y < l->height ? s->y : l->height - 1;
    s->z = s->z < depth ? s->z : depth - 1;
    return true;
}

// A size; mostly one of the tile, which ends where a tile does.
static unsigned any_size(struct fuzz_input *in, unsigned at, unsigned whole, unsigned tile)
{
    const unsigned rest = whole - at, to_end = tile - at % tile;
    const unsigned size = fuzz_chance(in, 3) ? 1 + fuzz_below(in, rest) : to_end;
    return size < rest ? size : rest;
}

// Copies a box, whose bytes the model then writes or compares. Returns whether the context still
// works: memory that an array with deferred mapping lacks ends it.
static bool copy(struct fuzz_input *in, struct model *m, bool write)
{
    static uint8_t host[BOX_MOST_B];
    struct spot s;
    CUarray array;
    if (!any_spot(in, m, &s))
        return true;
    const struct array *a = s.array;
    const unsigned n = s.level, x = s.x, y = s.y, z = s.z;
    unsigned width = any_size(in, x, a->levels[n].width, m->tile[0]),
             height = any_size(in, y, a->levels[n].height, m->tile[1]);
    bool any = true, all = true, own;
    if (sp_is_deferred(a))
        sp_count_mapped(&a->parts[0], &any, &all, &own);
    if (!any && !fuzz_chance(in, 16))
        return true;
    if (width > BOX_MOST_B / a->texel_B)
        width = BOX_MOST_B / a->texel_B;
    if (height > BOX_MOST_B / a->texel_B / width)
        height = BOX_MOST_B / a->texel_B / width;
    const uint8_t seed = write ? (uint8_t)fuzz_take(in, 1) : 0xa5;
    for (unsigned i = 0; i < width * height * a->texel_B; i++)
        host[i] = write ? (uint8_t)(i * 7 + seed + i / 251) : seed;
    FUZZ_OK(sp_level_of(a, n, &array));
    CUDA_MEMCPY3D c = {.WidthInBytes = (size_t)width * a->texel_B, .Height = height, .Depth = 1};
    if (write) {
        c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = host;
        c.dstMemoryType = CU_MEMORYTYPE_ARRAY, c.dstArray = array;
        c.dstXInBytes = (size_t)x * a->texel_B, c.dstY = y, c.dstZ = z;
    } else {
        c.dstMemoryType = CU_MEMORYTYPE_HOST, c.dstHost = host;
        c.srcMemoryType = CU_MEMORYTYPE_ARRAY, c.srcArray = array;
        c.srcXInBytes = (size_t)x * a->texel_B, c.srcY = y, c.srcZ = z;
    }
    const CUresult r = cuMemcpy3D(&c);
    if (!any) { // recorded: maparray/deferred-use-before-map
        FUZZ_CHECK(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED, "a copy without memory: %d",
                   (int)r);
        return false;
    }
    FUZZ_CHECK(!r, "copying %u x %u texels at %u, %u, %u of level %u: %d", width, height, x, y, z,
               n, (int)r);
    const bool in_part = sp_is_deferred(a) || n >= a->tail_first;
    if (write && in_part)
        sp_own_part(a, sp_part_of(a, z));
    const enum content content = in_part ? sp_content_of(sp_part_of(a, z)) : UNKNOWN;
    for (unsigned row = 0; row < height; row++) {
        for (unsigned i = 0; i < width; i++) {
            const uint8_t *texel = host + ((size_t)row * width + i) * a->texel_B;
            const struct place p = in_part ? sp_place_in_part(a, content, n, x + i, y + row, z)
                                           : sp_place_in_tile(m, a, n, x + i, y + row, z, write);
            for (unsigned b = 0; b < a->texel_B; b++) {
                if (write && p.bytes) {
                    p.bytes[b] = texel[b];
                    p.known[b] = 1;
                }
                // A sparse array reads 0 without memory.
                if (!write && (!p.mapped || (p.known && p.known[b])))
                    FUZZ_CHECK(texel[b] == (p.mapped ? p.bytes[b] : 0),
                               "level %u, texel %u, %u, %u, byte %u: %#x, expected %#x", n, x + i,
                               y + row, z, b, texel[b], p.mapped ? p.bytes[b] : 0);
            }
        }
    }
    return true;
}

// ---- one input ----

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_start();
    return 0;
}

// The most square tile, or cubic one, of 64 KiB; the width is the longest (recorded: sparse).
static void begin(struct fuzz_input *in, struct model *m)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    memset(m, 0, sizeof *m);
    m->deep = fuzz_chance(in, 3);
    m->log2_texel_B = fuzz_below(in, 5);
    const unsigned bits = 16 - m->log2_texel_B;
    const unsigned x = m->deep ? (bits + 2) / 3 : (bits + 1) / 2;
    const unsigned y = m->deep ? (bits - x + 1) / 2 : bits - x;
    m->tile[0] = 1u << x;
    m->tile[1] = 1u << y;
    m->tile[2] = 1u << (bits - x - y);
    for (unsigned i = 0; i < PAGES; i++)
        sp_pages[i].used = false;
    FUZZ_OK(cuMemCreate(&m->plain, (size_t)MEMORY_PAGES * PAGE_B, &prop, 0));
    prop.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
    for (unsigned i = 0; i < MEMORIES; i++) {
        FUZZ_OK(cuMemCreate(&m->memories[i].handle, (size_t)MEMORY_PAGES * PAGE_B, &prop, 0));
        m->memories[i].alive = true;
    }
    FUZZ_OK(cuStreamCreate(&m->stream, 0));
}

static void release(struct fuzz_input *in, struct model *m)
{
    struct memory *memory = &m->memories[fuzz_below(in, MEMORIES)];
    if (memory->alive)
        FUZZ_OK(cuMemRelease(memory->handle)); // mappings keep the memory
    memory->alive = false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    static struct model m;
    bool works = true;
    CUcontext context = fuzz_context();
    begin(&in, &m);
    for (unsigned i = 0; i < STEPS && fuzz_more(&in) && works; i++) {
        switch (fuzz_below(&in, 10)) {
        case 0:
        case 1:
            create(&in, &m);
            break;
        case 2:
        case 3:
        case 4:
            sp_map(&in, &m);
            break;
        case 5:
            if (fuzz_chance(&in, 8))
                release(&in, &m);
            else
                sp_map_nothing(&m);
            break;
        case 6:
        case 7:
            works = copy(&in, &m, true);
            break;
        default:
            works = copy(&in, &m, false);
        }
    }
    for (unsigned i = 0; i < ARRAYS; i++) {
        if (!works) // handles of an ended context are gone
            m.arrays[i].plain = NULL, m.arrays[i].mip = NULL;
        sp_end(&m.arrays[i]);
    }
    for (unsigned i = 0; i < MEMORIES; i++) {
        if (m.memories[i].alive)
            FUZZ_OK(cuMemRelease(m.memories[i].handle));
    }
    FUZZ_OK(cuMemRelease(m.plain));
    FUZZ_OK(cuCtxDestroy(context));
    return 0;
}
