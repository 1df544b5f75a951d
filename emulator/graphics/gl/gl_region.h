// SPDX-License-Identifier: MIT
// Regions of a level of an image, or of a buffer: a few boxes, exact as long as they are few.
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

// Adds a box to those that are there, with those that make a box with it. False: there is no room,
// and nothing has changed.
bool em_gl_region_add(struct em_gl_region *region, const struct em_gl_box *box);
// The same, but that where there is no room the one grows by it that does so least.
void em_gl_region_grow(struct em_gl_region *region, const struct em_gl_box *box);
// Calls `each` with boxes that together are what of `box` is in none of the regions.
void em_gl_region_rest(const struct em_gl_region *regions, unsigned count,
                       const struct em_gl_box *box,
                       void (*each)(void *arg, const struct em_gl_box *part), void *arg);
