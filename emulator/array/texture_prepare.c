// SPDX-License-Identifier: MIT
// Describes textures and surfaces for kernels: the descriptors of CUDA become a struct kn_texture
// or a struct kn_image.
#include <string.h>

#include "array.h"
#include "format.h"
#include "image.h"
#include "lock.h"
#include "texture_object.h"

// ---- formats of views ----

// The format that a view shows instead of that of the array, and its channels. NULL if there is no
// such view format. They come in groups of three (1, 2 and 4 channels).
static const struct dm_format_info *view_format(CUresourceViewFormat view, uint32_t *channels)
{
    static const enum dm_format plain[] = {DM_FORMAT_UNSIGNED_INT8,  DM_FORMAT_SIGNED_INT8,
                                           DM_FORMAT_UNSIGNED_INT16, DM_FORMAT_SIGNED_INT16,
                                           DM_FORMAT_UNSIGNED_INT32, DM_FORMAT_SIGNED_INT32,
                                           DM_FORMAT_HALF,           DM_FORMAT_FLOAT};
    static const enum dm_format blocks[] = {
        DM_FORMAT_BC1_UNORM, DM_FORMAT_BC2_UNORM, DM_FORMAT_BC3_UNORM, DM_FORMAT_BC4_UNORM,
        DM_FORMAT_BC4_SNORM, DM_FORMAT_BC5_UNORM, DM_FORMAT_BC5_SNORM, DM_FORMAT_BC6H_UF16,
        DM_FORMAT_BC6H_SF16, DM_FORMAT_BC7_UNORM};
    static const uint8_t counts[] = {1, 2, 4};
    const unsigned n = (unsigned)view - CU_RES_VIEW_FORMAT_UINT_1X8;
    const unsigned block = (unsigned)view - CU_RES_VIEW_FORMAT_UNSIGNED_BC1;
    if (block < sizeof blocks / sizeof *blocks) {
        *channels = 4;
        return dm_format_info(blocks[block]);
    }
    if (n >= 3 * sizeof plain / sizeof *plain)
        return NULL;
    *channels = counts[n % 3];
    return dm_format_info(plain[n / 3]);
}

// ---- arrays ----

// The levels of an array or mipmapped array that a texture shows.
struct shown {
    const CUDA_ARRAY3D_DESCRIPTOR *desc;
    struct em_storage *storage;
    uint32_t first_level, levels;
    uint32_t first_layer, layers;
};

static bool find_shown(const struct em_texture *t, struct shown *s)
{
    em_assert_locked();
    const CUDA_RESOURCE_DESC *r = &t->resource;
    if (r->resType == CU_RESOURCE_TYPE_ARRAY) {
        const struct em_array *a = (const struct em_array *)em_object_peek(
            EM_ARRAY, (uint64_t)(uintptr_t)r->res.array.hArray);
        // Only a plane can exceed the memory of its image.
        if (!a || (a->whole && a->storage->address + a->storage->size_B >
                                   a->whole->storage->address + a->whole->storage->size_B))
            return false;
        *s = (struct shown){.desc = &a->desc, .storage = a->storage, a->level, 1};
    } else {
        const struct em_mipmap *m = (const struct em_mipmap *)em_object_peek(
            EM_MIPMAP, (uint64_t)(uintptr_t)r->res.mipmap.hMipmappedArray);
        if (!m)
            return false;
        *s = (struct shown){.desc = &m->desc, .storage = m->storage, 0, m->levels};
    }
    s->layers = s->storage->layout.layers;
    return true;
}

// "firstMipmapLevel … lastMipmapLevel, firstLayer … lastLayer". The check of the view has not
// compared the last ones with the resource.
static void apply_view(const CUDA_RESOURCE_VIEW_DESC *view, struct shown *s)
{
    if (s->levels > 1 && view->firstMipmapLevel < s->levels) {
        const uint32_t last =
            view->lastMipmapLevel < s->levels ? view->lastMipmapLevel : s->levels - 1;
        s->first_level += view->firstMipmapLevel;
        s->levels = last - view->firstMipmapLevel + 1;
    }
    if (s->layers > 1 && view->firstLayer < s->layers) {
        const uint32_t last = view->lastLayer < s->layers ? view->lastLayer : s->layers - 1;
        s->first_layer = view->firstLayer;
        s->layers = last - view->firstLayer + 1;
    }
}

static void keep_shown(struct em_texture *t, const struct shown *s)
{
    t->first_level = s->first_level;
    t->levels = s->levels;
    t->first_layer = s->first_layer;
    t->layers = s->layers;
}

static enum kn_texture_shape shape_of(const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    const bool layered = desc->Flags & CUDA_ARRAY3D_LAYERED;
    if (desc->Flags & CUDA_ARRAY3D_CUBEMAP)
        return layered ? KN_TEXTURE_CUBE_LAYERED : KN_TEXTURE_CUBE;
    if (layered)
        return desc->Height ? KN_TEXTURE_2D_LAYERED : KN_TEXTURE_1D_LAYERED;
    return desc->Depth ? KN_TEXTURE_3D : desc->Height ? KN_TEXTURE_2D : KN_TEXTURE_1D;
}

// The layout that a view of blocks gives an array of elements, each of which is a block. The texels
// of the first level are halved, not its blocks, so a level of 9 texels has 3 blocks, of which the
// array's level has 2. The card computes the places of the levels from the view (recorded:
// random_views blocks), so it may read memory that follows the array. Fails if no memory is there.
static bool show_blocks(const struct em_storage *storage, uint32_t block_px, struct dm_layout *out)
{
    const struct dm_layout *layout = &storage->layout;
    const struct dm_layout_level *first = &layout->level[0];
    const struct dm_layout_desc d = {.kind = layout->kind,
                                     .element_B = layout->element_B,
                                     .block_px = block_px,
                                     .width_px = (uint64_t)first->width_px * block_px,
                                     .height_px = (uint64_t)first->height_px * block_px,
                                     .depth = layout->dimensions == 3 ? first->depth : 0,
                                     .layers = layout->layered ? layout->layers : 0,
                                     .levels = layout->levels,
                                     .cube = layout->cube,
                                     .like = first};
    const uint64_t most_B = storage->readable_B ? storage->readable_B : storage->size_B;

    return layout->kind == DM_LAYOUT_BLOCK_LINEAR && !dm_layout_init(out, &d) &&
           out->total_B <= most_B;
}

// The same for a level in the array's layout: of an array of its own, which has as many blocks as
// elements [level_views]; or of a mipmapped array, of which nothing that follows the level is read.
static void show_level_blocks(struct kn_texture_level *to, const struct dm_layout *layout,
                              uint32_t block_px, uint32_t level, bool alone)
{
    const struct dm_layout_level *first = &layout->level[0], *v = &layout->level[level];
    const bool tiled = layout->kind == DM_LAYOUT_BLOCK_LINEAR;
    const uint32_t columns = tiled ? (uint32_t)(v->pitch_B / layout->element_B) : v->width_el;
    const uint32_t rows = tiled ? v->height_gob * DM_GOB_HEIGHT : v->height_el;
    const uint32_t width = alone ? v->width_el * block_px : first->width_px * block_px >> level;
    const uint32_t height = alone ? v->height_el * block_px : first->height_px * block_px >> level;

    to->width = width < columns * block_px ? width : columns * block_px;
    to->height = height < rows * block_px ? height : rows * block_px;
    to->width += !to->width;
    to->height += !to->height;
}

static bool prepare_array(struct em_texture *t)
{
    struct shown s;
    struct kn_texture *k = &t->sampled;
    if (!find_shown(t, &s))
        return false;
    const struct dm_layout *layout = &s.storage->layout;
    struct dm_layout blocks;
    const struct dm_format_info *format = em_array_format(s.desc);
    uint32_t channels = s.desc->NumChannels, scale = 1;
    if (t->has_view) {
        apply_view(&t->view, &s);
        format = view_format(t->view.format, &channels);
        // A view of blocks: each element of the array is a block.
        scale = format && format->block_px > 1 && layout->block_px == 1 ? format->block_px : 1;
    }
    if (!format ||
        !dm_texel_format(format, channels, t->texture.flags & CU_TRSF_READ_AS_INTEGER, k))
        return false;
    keep_shown(t, &s);
    k->alpha_one &= scale == 1; // (recorded: x_tex, views of BC formats)
    k->shape = shape_of(s.desc);
    k->block_linear = layout->kind == DM_LAYOUT_BLOCK_LINEAR;
    k->layers = s.layers;
    k->levels = s.levels < KN_TEXTURE_LEVELS_MAX ? s.levels : KN_TEXTURE_LEVELS_MAX;
    const bool alone = t->resource.resType == CU_RESOURCE_TYPE_ARRAY; // perhaps a level
    k->levels_before = alone ? 0 : s.first_level;
    k->whole[0] = layout->level[0].width_px * scale;
    k->whole[1] = layout->level[0].height_px * scale;
    k->whole[2] = layout->level[0].depth;
    const bool as_blocks = scale > 1 && !alone && show_blocks(s.storage, scale, &blocks);
    for (uint32_t i = 0; i < k->levels; i++) {
        dm_texture_level(&k->level[i], (const void *)(uintptr_t)s.storage->address,
                         as_blocks ? &blocks : layout, s.first_level + i, s.first_layer);
        if (scale > 1 && !as_blocks)
            show_level_blocks(&k->level[i], layout, scale, s.first_level + i, alone);
    }
    return true;
}

// ---- linear memory ----

static bool prepare_rows(struct em_texture *t, enum kn_texture_shape shape, CUarray_format number,
                         uint32_t channels, uint64_t address, uint64_t width, uint64_t height,
                         uint64_t pitch_B)
{
    struct kn_texture *k = &t->sampled;
    const struct dm_format_info *format = dm_format_info((uint32_t)number);
    if (!format || !width || !height || width > UINT32_MAX || height > UINT32_MAX ||
        !dm_texel_format(format, channels, t->texture.flags & CU_TRSF_READ_AS_INTEGER, k))
        return false;
    k->shape = shape;
    k->layers = k->levels = 1;
    k->level[0] = (struct kn_texture_level){.base = (const uint8_t *)(uintptr_t)address,
                                            .width = (uint32_t)width,
                                            .height = (uint32_t)height,
                                            .depth = 1,
                                            .pitch_B = pitch_B,
                                            .slice_B = pitch_B * height};
    return true;
}

static bool prepare_resource(struct em_texture *t)
{
    const CUDA_RESOURCE_DESC *r = &t->resource;
    switch ((int)r->resType) {
    case CU_RESOURCE_TYPE_LINEAR: {
        const uint64_t texel_B = dm_format_texel_B(dm_format_info((uint32_t)r->res.linear.format),
                                                   r->res.linear.numChannels);
        return prepare_rows(t, KN_TEXTURE_LINEAR, r->res.linear.format, r->res.linear.numChannels,
                            r->res.linear.devPtr, r->res.linear.sizeInBytes / texel_B, 1,
                            r->res.linear.sizeInBytes);
    }
    case CU_RESOURCE_TYPE_PITCH2D:
        return prepare_rows(t, KN_TEXTURE_2D, r->res.pitch2D.format, r->res.pitch2D.numChannels,
                            r->res.pitch2D.devPtr, r->res.pitch2D.width, r->res.pitch2D.height,
                            r->res.pitch2D.pitchInBytes);
    default:
        return prepare_array(t);
    }
}

void em_texture_prepare(struct em_texture *t)
{
    em_assert_locked();
    struct kn_texture *k = &t->sampled;
    const CUDA_TEXTURE_DESC *d = &t->texture;
    *k =
        (struct kn_texture){.srgb = d->flags & CU_TRSF_SRGB,
                            .normalized = d->flags & CU_TRSF_NORMALIZED_COORDINATES,
                            .seamless = d->flags & CU_TRSF_SEAMLESS_CUBEMAP,
                            .linear = d->filterMode == CU_TR_FILTER_MODE_LINEAR,
                            .mip_linear = t->resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY &&
                                          d->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR,
                            .trilinear = d->flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION,
                            .anisotropy = d->maxAnisotropy,
                            .bias = d->mipmapLevelBias,
                            .lod_min = d->minMipmapLevelClamp,
                            .lod_max = d->maxMipmapLevelClamp};
    for (int i = 0; i < 3; i++)
        k->address[i] = (enum kn_address)d->addressMode[i];
    memcpy(k->border, d->borderColor, sizeof k->border);
    t->usable = prepare_resource(t);
    if (t->usable)
        kn_texture_prepare(k);
}

// ---- surfaces ----

void em_surface_prepare(struct em_texture *t)
{
    em_assert_locked();
    struct shown s;
    if (!find_shown(t, &s))
        return;
    keep_shown(t, &s);
    s.storage->written = true; // as soon as a kernel uses it
    t->usable = dm_image_init(&t->image, (void *)(uintptr_t)s.storage->address, &s.storage->layout,
                              s.first_level, em_array_format(s.desc), s.desc->NumChannels);
}
