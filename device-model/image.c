// SPDX-License-Identifier: MIT
// Describes levels of arrays for kernels.
#include "image.h"

#include "tiled.h"

static bool set_format(struct kn_image *image, const struct dm_format_info *format,
                       uint32_t channels)
{
    static const enum kn_channel_kind kinds[] = {
        [DM_FORMAT_KIND_UINT] = KN_CHANNEL_UINT,   [DM_FORMAT_KIND_SINT] = KN_CHANNEL_SINT,
        [DM_FORMAT_KIND_FLOAT] = KN_CHANNEL_FLOAT, [DM_FORMAT_KIND_UNORM] = KN_CHANNEL_UNORM,
        [DM_FORMAT_KIND_SNORM] = KN_CHANNEL_SNORM,
    };
    if (format->kind == DM_FORMAT_KIND_BLOCK || dm_format_planes(format) > 1)
        return false;
    image->channels = (uint8_t)channels;
    image->channel_B = format->channel_B;
    if (format->kind == DM_FORMAT_KIND_YUV) {
        image->kind = KN_CHANNEL_UINT;
        image->channel_B = format->channel_B ? format->channel_B : image->element_B;
        image->channels = (uint8_t)(image->element_B / image->channel_B);
    } else if (format->channel_B) {
        image->kind = kinds[format->kind];
    } else {
        image->kind = KN_CHANNEL_UNORM10_2;
    }
    return true;
}

bool dm_image_init(struct kn_image *image, void *base, const struct dm_layout *layout,
                   uint32_t level, const struct dm_format_info *format, uint32_t channels)
{
    const struct dm_layout_level *v = &layout->level[level];
    *image = (struct kn_image){
        .base = (uint8_t *)base + v->offset_B,
        .width = v->width_el,
        .height = v->height_el,
        .depth = v->depth,
        .layers = layout->layered ? layout->layers : 1,
        .dimensions = layout->dimensions,
        .layered = layout->layered,
        .pitch_B = v->pitch_B,
        .slice_B = v->slice_B,
        .layer_B = layout->layered ? v->layer_stride_B : 0,
        .tiled = dm_level_tiled(v),
        .block_linear = layout->kind == DM_LAYOUT_BLOCK_LINEAR,
        .element_B = (uint8_t)layout->element_B,
    };
    return set_format(image, format, channels);
}

// ---- textures ----

static const struct {
    uint8_t format; // the low byte of enum dm_format
    uint8_t texel;
    bool srgb;
} block_texels[] = {
    {DM_FORMAT_BC1_UNORM, KN_TEXEL_BC1, false},
    {DM_FORMAT_BC1_UNORM_SRGB, KN_TEXEL_BC1, true},
    {DM_FORMAT_BC2_UNORM, KN_TEXEL_BC2, false},
    {DM_FORMAT_BC2_UNORM_SRGB, KN_TEXEL_BC2, true},
    {DM_FORMAT_BC3_UNORM, KN_TEXEL_BC3, false},
    {DM_FORMAT_BC3_UNORM_SRGB, KN_TEXEL_BC3, true},
    {DM_FORMAT_BC4_UNORM, KN_TEXEL_BC4_UNORM, false},
    {DM_FORMAT_BC4_SNORM, KN_TEXEL_BC4_SNORM, false},
    {DM_FORMAT_BC5_UNORM, KN_TEXEL_BC5_UNORM, false},
    {DM_FORMAT_BC5_SNORM, KN_TEXEL_BC5_SNORM, false},
    {DM_FORMAT_BC6H_UF16, KN_TEXEL_BC6H_UFLOAT, false},
    {DM_FORMAT_BC6H_SF16, KN_TEXEL_BC6H_SFLOAT, false},
    {DM_FORMAT_BC7_UNORM, KN_TEXEL_BC7, false},
    {DM_FORMAT_BC7_UNORM_SRGB, KN_TEXEL_BC7, true},
};

static bool set_block_texel(const struct dm_format_info *format, struct kn_texture *t)
{
    for (unsigned i = 0; i < sizeof block_texels / sizeof *block_texels; i++) {
        if (block_texels[i].format != format->format)
            continue;
        t->texel = (enum kn_texel)block_texels[i].texel;
        t->srgb |= block_texels[i].srgb;
        t->alpha_one = true;
        return true;
    }
    return false;
}

bool dm_texel_format(const struct dm_format_info *format, uint32_t channels, bool integer,
                     struct kn_texture *texture)
{
    // By the bytes of a channel: 1, 2, 4.
    static const enum kn_texel uints[] = {KN_TEXEL_UINT8, KN_TEXEL_UINT16, KN_TEXEL_UINT32},
                               sints[] = {KN_TEXEL_SINT8, KN_TEXEL_SINT16, KN_TEXEL_SINT32},
                               unorms[] = {KN_TEXEL_UNORM8, KN_TEXEL_UNORM16, KN_TEXEL_UINT32},
                               snorms[] = {KN_TEXEL_SNORM8, KN_TEXEL_SNORM16, KN_TEXEL_SINT32};
    const unsigned size = format->channel_B >> 1;
    texture->channels = (uint8_t)channels;
    switch (format->kind) {
    case DM_FORMAT_KIND_UINT:
        texture->texel = integer ? uints[size] : unorms[size];
        return true;
    case DM_FORMAT_KIND_SINT:
        texture->texel = integer ? sints[size] : snorms[size];
        return true;
    case DM_FORMAT_KIND_FLOAT:
        texture->texel = format->channel_B == 2 ? KN_TEXEL_HALF : KN_TEXEL_FLOAT;
        return true;
    case DM_FORMAT_KIND_UNORM:
        texture->texel = format->channel_B ? unorms[size] : KN_TEXEL_UNORM10_2;
        return true;
    case DM_FORMAT_KIND_SNORM:
        texture->texel = snorms[size];
        return true;
    case DM_FORMAT_KIND_BLOCK:
        return set_block_texel(format, texture);
    default:
        return false;
    }
}

void dm_texture_level(struct kn_texture_level *out, const void *base,
                      const struct dm_layout *layout, uint32_t level, uint32_t first_layer)
{
    const struct dm_layout_level *v = &layout->level[level];
    *out = (struct kn_texture_level){
        .base = (const uint8_t *)base + v->offset_B +
                (layout->layered ? first_layer * v->layer_stride_B : 0),
        .width = v->width_px,
        .height = v->height_px,
        .depth = v->depth,
        .layer_B = layout->layered ? v->layer_stride_B : 0,
        .pitch_B = v->pitch_B,
        .slice_B = v->slice_B,
        .tiled = dm_level_tiled(v),
    };
}
