// SPDX-License-Identifier: MIT
// Planes of video images.
#include "planes.h"

#include <errno.h>

void dm_video_blocks(struct dm_layout_desc *desc, const struct dm_format_info *format, bool mapped)
{
    enum { LEAST_LOG2_GOB = 2, MOST_LOG2_GOB = 4 };

    desc->half_blocks = mapped && format->format == DM_FORMAT_NV12;
    desc->block_height_log2_least = LEAST_LOG2_GOB;
    desc->block_height_log2_most = desc->half_blocks ? LEAST_LOG2_GOB : MOST_LOG2_GOB;
}

int dm_planes_init(struct dm_planes *planes, const struct dm_format_info *format,
                   const struct dm_layout_desc *desc, bool mapped)
{
    struct dm_planes p = {.count = dm_format_planes(format)};

    if (p.count == 1 || p.count > DM_PLANES_MAX || desc->levels != 1)
        return -EINVAL;
    for (unsigned i = 0; i < p.count; i++) {
        struct dm_format_plane plane;
        struct dm_layout_desc d = *desc;
        int status = dm_format_plane(format, i, &plane);

        if (status)
            return status;
        d.element_B = dm_format_element_B(dm_format_info((uint32_t)plane.format), plane.channels);
        d.block_px = 1;
        dm_video_blocks(&d, format, mapped);
        d.width_px >>= plane.width_log2_divisor;
        d.height_px >>= plane.height_log2_divisor;
        status = dm_layout_init(&p.layout[i], &d);
        if (status)
            return status;
        p.offset_B[i] = p.total_B;
        if (__builtin_add_overflow(p.total_B, mapped ? p.layout[i].total_B : p.layout[i].size_B,
                                   &p.total_B))
            return -EINVAL;
    }
    *planes = p;
    return 0;
}
