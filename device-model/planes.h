// SPDX-License-Identifier: MIT
// Planes of video images: one layout each, one behind the other in the image's memory.
// Where the first plane of a mapped image lies, and what memory images of the card's own need, was
// measured. The later planes of a mapped image cannot be: using them ends the context on the card
// (quirk PLANES_FAULT). Here they follow without gaps.
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

// Says in `desc` what is particular to images of video formats, packed ones too: blocks cover the
// image's height and have between 4 and 16 GOBs. On mapped memory those of NV12 count as 4 GOBs and
// are 2 high.
void dm_video_blocks(struct dm_layout_desc *desc, const struct dm_format_info *format, bool mapped);

// Lays out the planes of an image of a planar format; `desc` describes the image in texels of its
// first plane, element_B is not looked at. `mapped`: on imported memory; otherwise each plane
// begins on a page of its own. Returns 0, or -EINVAL where the format has no planes, the image has
// several levels, or dm_layout_init refuses a plane. *planes is then left alone.
int dm_planes_init(struct dm_planes *planes, const struct dm_format_info *format,
                   const struct dm_layout_desc *desc, bool mapped);
