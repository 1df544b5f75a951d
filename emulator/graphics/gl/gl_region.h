// SPDX-License-Identifier: MIT
// Regions of an image's level or of a buffer: a few boxes.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct em_gl_box {
    uint64_t x; // of a buffer in bytes, else in texels
    uint64_t width;
    uint32_t y, z, height, depth;
};

enum { EM_GL_BOXES_MAX = 16 };

struct em_gl_region {
    unsigned count;
    struct em_gl_box box[EM_GL_BOXES_MAX]; // which may overlap
};

uint64_t em_gl_box_volume(const struct em_gl_box *box);
bool em_gl_box_is_same(const struct em_gl_box *a, const struct em_gl_box *b);

// Whether a box shares a texel with the region.
bool em_gl_region_meets(const struct em_gl_region *region, const struct em_gl_box *box);
// Adds a box, and merges it with boxes that form one box with it. Returns false if there is no
// capacity left, in which case the region does not change.
bool em_gl_region_add(struct em_gl_region *region, const struct em_gl_box *box);
// Adds a box. If there is no capacity left, enlarges the box that grows least by it.
void em_gl_region_grow(struct em_gl_region *region, const struct em_gl_box *box);
// Calls `each` with boxes that together are the part of `box` outside all regions.
void em_gl_region_rest(const struct em_gl_region *regions, unsigned count,
                       const struct em_gl_box *box,
                       void (*each)(void *arg, const struct em_gl_box *part), void *arg);
