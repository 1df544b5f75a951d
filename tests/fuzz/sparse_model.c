// SPDX-License-Identifier: MIT
// The fuzz target `sparse`: the sizes and levels of arrays, and the texels that their memory has.
#include "sparse_model.h"

struct page sp_pages[PAGES];

bool sp_as_driver(void)
{
    const char *name = getenv("CARDLESS_PERSONALITY");
    return name && !strcmp(name, "driver-580");
}

bool sp_is_sparse(const struct array *a)
{
    return a->desc.Flags & CUDA_ARRAY3D_SPARSE;
}

bool sp_is_deferred(const struct array *a)
{
    return a->desc.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING;
}

bool sp_is_layered(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
}

uint64_t sp_up(uint64_t value, uint64_t step)
{
    return (value + step - 1) / step * step;
}

static unsigned halved(size_t size, unsigned level)
{
    return size >> level ? (unsigned)(size >> level) : 1;
}

// The bytes of a level, whose first level has blocks of `high` by `deep` GOBs: blocks are halved
// while the half covers the level (recorded: tiling, memreq).
static uint64_t level_B(const struct array *a, unsigned n, unsigned high, unsigned deep)
{
    const struct level *l = &a->levels[n];
    const uint64_t gobs = sp_up((uint64_t)l->width * a->texel_B, 64) / 64,
                   rows = sp_up(l->height, 8) / 8;
    while (high > 1 && high / 2 >= rows)
        high /= 2;
    while (deep > 1 && deep / 2 >= l->depth)
        deep /= 2;
    return gobs * sp_up(rows, high) * sp_up(l->depth, deep) * 512;
}

// The bytes of the levels from `first` on, of one layer or of all. Blocks of the first level are
// the highest and deepest of at most 16 GOBs that do not exceed 1.5 times its extents; those of 1D
// arrays are flat, and those of 3D arrays are not high. But if the first level of a sparse array
// has a tile, its blocks are as high and deep as a tile (recorded: sparse_tiles). Layers begin at
// whole blocks.
uint64_t sp_chain_B(const struct array *a, unsigned first, bool all)
{
    const struct level *l = &a->levels[0];
    const bool slices = a->desc.Depth && !sp_is_layered(&a->desc);
    unsigned high = a->desc.Height && !slices ? 16 : 1, deep = slices ? 16 : 1;
    uint64_t total = 0;
    while (high > 1 && high * 8 * 2 > (uint64_t)l->height * 3)
        high /= 2;
    while (deep > 1 && deep * 2 > (uint64_t)l->depth * 3)
        deep /= 2;
    if (sp_is_sparse(a) && a->tail_first) {
        high = a->tile[1] / 8;
        deep = a->tile[2];
    }
    for (unsigned n = first; n < a->count; n++)
        total += level_B(a, n, high, deep);
    if (all && sp_is_layered(&a->desc))
        total = sp_up(total, (uint64_t)512 * high * deep) * a->layers;
    return total;
}

static struct part make_part(struct model *m, uint64_t memory_B, uint64_t texels_B)
{
    struct part p = {.id = ++m->part_id, .page_count = (unsigned)(memory_B / PAGE_B)};
    p.page = malloc(p.page_count * sizeof *p.page);
    for (unsigned i = 0; i < p.page_count; i++)
        p.page[i] = ABSENT;
    p.bytes = calloc(1, texels_B);
    p.known = calloc(1, texels_B);
    return p;
}

// "numMipmapLevels … is clamped to the range [1, 1 + floor(log2(max(width, height, depth)))]".
unsigned sp_clamp_levels(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels)
{
    size_t size = d->Width > d->Height ? d->Width : d->Height;
    unsigned most = 1;
    if (!sp_is_layered(d) && d->Depth > size)
        size = d->Depth;
    for (; size > 1; size /= 2)
        most++;
    return !levels ? 1 : levels < most ? levels : most;
}

// Extents of levels and tiles, and the tail: it begins with the first level that is smaller than a
// tile in a direction. If that is level 0, all layers share one tail.
void sp_lay_out(struct model *m, struct array *a)
{
    unsigned slots = 0;
    uint64_t texels_B = 0, all_B = 0;
    const bool slices = a->desc.Depth && !sp_is_layered(&a->desc);
    a->layers = sp_is_layered(&a->desc) ? (unsigned)a->desc.Depth : 1;
    a->tail_first = a->count;
    for (unsigned n = 0; n < a->count; n++) {
        struct level *l = &a->levels[n];
        l->width = halved(a->desc.Width, n);
        l->height = halved(a->desc.Height, n);
        l->depth = slices ? halved(a->desc.Depth, n) : 1;
        const unsigned extent[3] = {l->width, l->height, l->depth};
        l->first = slots;
        for (unsigned i = 0; i < 3; i++) {
            l->tiles[i] = (extent[i] + m->tile[i] - 1) / m->tile[i];
            if (extent[i] < m->tile[i] && n < a->tail_first)
                a->tail_first = n;
        }
        if (n < a->tail_first)
            slots += l->tiles[0] * l->tiles[1] * l->tiles[2] * a->layers;
        else
            texels_B += (uint64_t)l->width * l->height * l->depth * a->texel_B;
        all_B += (uint64_t)l->width * l->height * l->depth * a->texel_B;
    }
    if (sp_is_deferred(a)) {
        a->part_count = 1;
        a->parts = malloc(sizeof *a->parts);
        a->parts[0] = make_part(m, sp_up(sp_chain_B(a, 0, true), PAGE_B), all_B * a->layers);
        return;
    }
    a->slot = malloc((slots + 1) * sizeof *a->slot);
    for (unsigned i = 0; i < slots; i++)
        a->slot[i] = ABSENT;
    a->tail_B = sp_up(sp_chain_B(a, a->tail_first, !a->tail_first), PAGE_B);
    a->part_count = !a->tail_B ? 0 : a->tail_first ? a->layers : 1;
    a->parts = malloc((a->part_count + 1) * sizeof *a->parts);
    for (unsigned i = 0; i < a->part_count; i++)
        a->parts[i] = make_part(m, a->tail_B, texels_B * (a->tail_first ? 1 : a->layers));
}

void sp_end(struct array *a)
{
    if (a->mip)
        FUZZ_OK(cuMipmappedArrayDestroy(a->mip));
    if (a->plain)
        FUZZ_OK(cuArrayDestroy(a->plain));
    for (unsigned i = 0; i < a->part_count; i++) {
        free(a->parts[i].page);
        free(a->parts[i].bytes);
        free(a->parts[i].known);
    }
    free(a->parts);
    free(a->slot);
    memset(a, 0, sizeof *a);
}

// A part whose memory changes: the texels there are no longer known.
void sp_forget(struct part *p, const struct array *a)
{
    uint64_t texels = 0;
    for (unsigned n = sp_is_deferred(a) ? 0 : a->tail_first; n < a->count; n++)
        texels += (uint64_t)a->levels[n].width * a->levels[n].height * a->levels[n].depth;
    const unsigned layers = a->part_count == 1 ? a->layers : 1;
    memset(p->known, 0, texels * a->texel_B * layers);
}

int *sp_slot_of(const struct array *a, unsigned n, unsigned layer, const unsigned tile[3])
{
    const unsigned *tiles = a->levels[n].tiles;
    return &a->slot[a->levels[n].first +
                    ((layer * tiles[2] + tile[2]) * tiles[1] + tile[1]) * tiles[0] + tile[0]];
}

// How much of a part is mapped.
void sp_count_mapped(const struct part *p, bool *any, bool *all, bool *own)
{
    *any = false, *all = true, *own = true;
    for (unsigned i = 0; i < p->page_count; i++) {
        *any |= p->page[i] != ABSENT;
        *all &= p->page[i] != ABSENT;
        *own &= p->page[i] != ABSENT && sp_pages[p->page[i]].used &&
                sp_pages[p->page[i]].owner == p->id;
    }
}

// A part of which two pages are the same memory has no texels of its own.
static bool has_twins(const struct part *p)
{
    for (unsigned i = 0; i < p->page_count; i++) {
        for (unsigned k = 0; k < i; k++) {
            if (p->page[i] != ABSENT && p->page[i] == p->page[k])
                return true;
        }
    }
    return false;
}

enum content sp_content_of(const struct part *p)
{
    bool any, all, own;
    sp_count_mapped(p, &any, &all, &own);
    return !any ? NO_MEMORY : own && !has_twins(p) ? OWN : UNKNOWN;
}

struct part *sp_part_of(const struct array *a, unsigned z)
{
    return &a->parts[a->part_count > 1 ? z : 0];
}

struct place sp_place_in_part(const struct array *a, enum content content, unsigned n, unsigned x,
                              unsigned y, unsigned z)
{
    const struct part *p = sp_part_of(a, z);
    const bool slices = !sp_is_layered(&a->desc);
    uint64_t at = 0;
    if (content != OWN)
        return (struct place){.mapped = content == UNKNOWN};
    for (unsigned i = sp_is_deferred(a) ? 0 : a->tail_first; i < n; i++)
        at += (uint64_t)a->levels[i].width * a->levels[i].height * a->levels[i].depth *
              (a->part_count > 1 || slices ? 1 : a->layers);
    const struct level *l = &a->levels[n];
    const unsigned slice = a->part_count > 1 ? 0 : z;
    at = (at + ((uint64_t)slice * l->height + y) * l->width + x) * a->texel_B;
    return (struct place){true, p->bytes + at, p->known + at};
}

// Before a write: the part becomes the owner of its memory.
void sp_own_part(const struct array *a, struct part *p)
{
    bool any, all, own;
    sp_count_mapped(p, &any, &all, &own);
    if (own)
        return;
    sp_forget(p, a);
    for (unsigned i = 0; i < p->page_count; i++) {
        if (p->page[i] == ABSENT)
            continue;
        sp_pages[p->page[i]].used = true;
        sp_pages[p->page[i]].owner = p->id;
    }
}

struct place sp_place_in_tile(const struct model *m, const struct array *a, unsigned n, unsigned x,
                              unsigned y, unsigned z, bool write)
{
    const bool layers = sp_is_layered(&a->desc);
    const unsigned at[3] = {x, y, layers ? 0 : z};
    const unsigned tile[3] = {at[0] / m->tile[0], at[1] / m->tile[1], at[2] / m->tile[2]};
    const int page = *sp_slot_of(a, n, layers ? z : 0, tile);
    if (page == ABSENT)
        return (struct place){.mapped = false};
    struct page *g = &sp_pages[page];
    if (!g->used || g->owner) {
        if (!write)
            return (struct place){.mapped = true};
        g->used = true;
        g->owner = 0;
        memset(g->known, 0, sizeof g->known);
    }
    const unsigned in =
        ((at[2] % m->tile[2]) * m->tile[1] + at[1] % m->tile[1]) * m->tile[0] + at[0] % m->tile[0];
    return (struct place){true, g->bytes + in * a->texel_B, g->known + in * a->texel_B};
}

CUresult sp_level_of(const struct array *a, unsigned n, CUarray *out)
{
    *out = a->plain;
    return a->mip ? cuMipmappedArrayGetLevel(out, a->mip, n) : CUDA_SUCCESS;
}

struct array *sp_any_array(struct fuzz_input *in, struct model *m)
{
    struct array *a = &m->arrays[fuzz_below(in, ARRAYS)];
    return a->count ? a : NULL;
}
