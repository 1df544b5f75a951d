// SPDX-License-Identifier: MIT
// Box copies and fills between linear memory and arrays of any layout. x is in bytes, y in rows (of
// elements), z in slices or layers.
//
// kernels/ moves the bytes. The caller makes sure that the memory exists, and wraps the call in
// dm_guarded() if the memory belongs to someone else.
#pragma once

#include "layout.h"

#include <stdint.h>

// A level of an array, or linear memory.
struct dm_surface {
    void *base; // start of the layout; for linear memory, element (0, 0, 0). Only read if it is a
                // source
    const struct dm_layout *layout; // NULL: linear memory
    uint32_t level;                 // level of the layout
    uint64_t pitch_B, slice_B;      // linear memory only: distances between rows and between slices
};

struct dm_position {
    uint64_t x_B, y, z;
};

struct dm_box_extent {
    uint64_t width_B, height, depth;
};

// Checks that a box lies in a surface. Returns 0, or -EINVAL if it leaves the level, or if rows or
// slices of linear memory overlap or their addresses wrap. An empty box (an extent is 0) must start
// inside.
int dm_box_check(const struct dm_surface *surface, struct dm_position at,
                 struct dm_box_extent extent);

// Copies a box. Checks both surfaces with dm_box_check before it moves a byte, and returns 0 or
// -EINVAL. Boxes in linear memory, and boxes in one level, may overlap: the result is that of a
// copy through a buffer.
int dm_box_copy(const struct dm_surface *dst, struct dm_position dst_at,
                const struct dm_surface *src, struct dm_position src_at,
                struct dm_box_extent extent);

// Fills a box with a value of 1, 2, 4, 8 or 16 bytes, which starts at the first byte of every row.
// Returns 0, or -EINVAL if the box lies outside, the value has another size, or the width is not a
// multiple of that size.
int dm_box_fill(const struct dm_surface *surface, struct dm_position at,
                struct dm_box_extent extent, const void *value, unsigned value_B);
