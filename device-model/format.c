// SPDX-License-Identifier: MIT
// Array formats: the table of format.h, and the rules that read it.
#include "format.h"

#include <errno.h>
#include <stddef.h>
#include <strings.h>

static const struct dm_format_info formats[] = {
#define DM_FORMAT_ROW(name, number, kind, channel_B, mask, element_B, block, sampling)             \
    {#name,                                                                                        \
     DM_FORMAT_##name,                                                                             \
     DM_FORMAT_KIND_##kind,                                                                        \
     DM_SAMPLING_##sampling,                                                                       \
     channel_B,                                                                                    \
     mask,                                                                                         \
     element_B,                                                                                    \
     block},
    DM_FORMAT_LIST(DM_FORMAT_ROW)
#undef DM_FORMAT_ROW
};

enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

const struct dm_format_info *dm_format_info(uint32_t format)
{
    unsigned low = 0, high = FORMAT_COUNT;

    while (low < high) {
        unsigned middle = (low + high) / 2;
        if ((uint32_t)formats[middle].format == format)
            return &formats[middle];
        if ((uint32_t)formats[middle].format < format)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct dm_format_info *dm_format_by_name(const char *name)
{
    for (unsigned i = 0; i < FORMAT_COUNT; i++)
        if (!strcasecmp(formats[i].name, name))
            return &formats[i];
    return NULL;
}

const struct dm_format_info *dm_format_all(unsigned *count)
{
    *count = FORMAT_COUNT;
    return formats;
}

bool dm_format_channels_legal(const struct dm_format_info *info, uint32_t channels)
{
    return channels < 8 && (info->channels_mask >> channels & 1);
}

uint32_t dm_format_element_B(const struct dm_format_info *info, uint32_t channels)
{
    if (!dm_format_channels_legal(info, channels))
        return 0;
    return info->element_B ? info->element_B : info->channel_B * channels;
}

uint32_t dm_format_video_word_B(const struct dm_format_info *info)
{
    if (info->kind != DM_FORMAT_KIND_YUV || info->sampling != DM_SAMPLING_PACKED)
        return 0;
    return info->format == DM_FORMAT_YUY2 ? 2 * info->element_B : info->element_B;
}

uint32_t dm_format_texel_B(const struct dm_format_info *info, uint32_t channels)
{
    bool several = info->channels_mask & (info->channels_mask - 1);

    if (dm_format_video_word_B(info))
        return dm_format_video_word_B(info);
    if (info->element_B)
        return info->element_B;
    if (!several)
        channels = info->channels_mask ? (uint32_t)__builtin_ctz(info->channels_mask) : 1;
    return info->channel_B * channels;
}

uint32_t dm_format_video_channels(const struct dm_format_info *info)
{
    if (info->kind != DM_FORMAT_KIND_YUV)
        return 0;
    if (info->sampling != DM_SAMPLING_PACKED)
        return 3;
    // Packed formats count the words of an element as channels: two of 16 bits, or one of 32. The
    // others count components.
    switch (info->format) {
    case DM_FORMAT_Y210:
    case DM_FORMAT_Y216:
        return 2;
    case DM_FORMAT_Y410:
        return 1;
    default:
        return 4;
    }
}

unsigned dm_format_planes(const struct dm_format_info *info)
{
    switch (info->sampling) {
    case DM_SAMPLING_SEMIPLANAR_420:
    case DM_SAMPLING_SEMIPLANAR_422:
    case DM_SAMPLING_SEMIPLANAR_444:
        return 2;
    case DM_SAMPLING_PLANAR_444:
        return 3;
    case DM_SAMPLING_NONE:
    case DM_SAMPLING_PACKED:
        break;
    }
    return 1;
}

int dm_format_plane(const struct dm_format_info *info, uint32_t plane, struct dm_format_plane *out)
{
    unsigned planes = dm_format_planes(info);
    bool chroma = plane > 0;

    if (planes == 1 || plane >= planes)
        return -EINVAL;
    out->format = info->channel_B == 1 ? DM_FORMAT_UNSIGNED_INT8 : DM_FORMAT_UNSIGNED_INT16;
    out->channels = chroma && planes == 2 ? 2 : 1;
    out->width_log2_divisor = chroma && (info->sampling == DM_SAMPLING_SEMIPLANAR_420 ||
                                         info->sampling == DM_SAMPLING_SEMIPLANAR_422);
    out->height_log2_divisor = chroma && info->sampling == DM_SAMPLING_SEMIPLANAR_420;
    return 0;
}
