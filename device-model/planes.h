// SPDX-License-Identifier: MIT
// Planes of video images: each has a layout, and they follow each other in the image's memory.
//
// The place of the first plane of a mapped image, and the memory requirements of the card's own
// images, are measured. The later planes of a mapped image cannot be measured, because using them
// ends the context on the card (quirk PLANES_FAULT). Here they follow without gaps.
#pragma once

#include "format.h"
#include "layout.h"

#define DM_PLANES_MAX 3u

struct dm_planes {
    unsigned count;
    uint64_t offset_B[DM_PLANES_MAX]; // from the image's start to each plane's layout
    struct dm_layout layout[DM_PLANES_MAX];
    uint64_t total_B; // bytes of all planes and the gaps between them
};

// Sets the block rules of images of video formats, packed ones included: blocks cover the image's
// height and have between 4 and 16 GOBs. On mapped memory, the heights of NV12 images are rounded
// up to blocks of 4 GOBs, but the layout uses blocks of 2.
void dm_video_blocks(struct dm_layout_desc *desc, const struct dm_format_info *format, bool mapped);

// Lays out the planes of an image of a planar format. `desc` describes the image in texels of its
// first plane; element_B is ignored. `mapped`: the image is on imported memory; otherwise each
// plane begins on a page of its own. Returns 0, or -EINVAL if the format has no planes, the image
// has several levels, or dm_layout_init refuses a plane. *planes is then unchanged.
int dm_planes_init(struct dm_planes *planes, const struct dm_format_info *format,
                   const struct dm_layout_desc *desc, bool mapped);
