// SPDX-License-Identifier: MIT
// Planes of video images: one layout each, one behind the other in the image's memory.
// The first plane is where a card has it (measured). That the others follow it without gaps has not been measured: the one copy to a chroma plane of
// mapped NV12 that was tried on a card faulted.
#pragma once

#include "format.h"
#include "layout.h"

#define DM_PLANES_MAX 3u

struct dm_planes {
    unsigned count;
    uint64_t offset_B[DM_PLANES_MAX]; // of each plane's layout from the image's start
    struct dm_layout layout[DM_PLANES_MAX];
    uint64_t total_B; // bytes of all planes, with the gaps between them
};

// Says in `desc` what is particular to images of video formats, packed ones too: blocks are at least 4 GOBs high, NV12's never higher.
void dm_video_blocks(struct dm_layout_desc *desc, const struct dm_format_info *format);

// Lays out the planes of an image of a planar format; `desc` describes the image in texels of its first plane, element_B is not looked at.
// Returns 0, or -EINVAL where the format has no planes, the image has several levels, or dm_layout_init refuses a plane. *planes is then left alone.
int dm_planes_init(struct dm_planes *planes, const struct dm_format_info *format, const struct dm_layout_desc *desc);
