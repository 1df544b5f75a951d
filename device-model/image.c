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
        .pitch_B = v->pitch_B,
        .slice_B = v->slice_B,
        .layer_B = layout->layered ? v->layer_stride_B : 0,
        .tiled = dm_level_tiled(v),
        .block_linear = layout->kind == DM_LAYOUT_BLOCK_LINEAR,
        .element_B = (uint8_t)layout->element_B,
    };
    return set_format(image, format, channels);
}
