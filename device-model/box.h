// SPDX-License-Identifier: MIT
// Boxes: the one way to copy between linear memory and arrays of any layout, and to fill. x is in
// bytes, y in rows (of elements), z in slices or layers. The bytes are moved by kernels/; the
// caller sees to it that the memory is there, and wraps the call in dm_guarded() where it belongs
// to someone else.
#pragma once

#include "layout.h"

#include <stdint.h>

// A place for boxes: a level of an array, or linear memory.
struct dm_surface {
    void *
        base; // where the layout starts; in linear memory, element (0, 0, 0). Only read as a source
    const struct dm_layout *layout; // NULL: linear memory
    uint32_t level;                 // of the layout
    uint64_t pitch_B, slice_B;      // linear memory only: from row to row, from slice to slice
};

struct dm_position {
    uint64_t x_B, y, z;
};

struct dm_box_extent {
    uint64_t width_B, height, depth;
};

// Whether the box lies in the surface. Returns 0, or -EINVAL where it leaves the level, or where
// rows or slices of linear memory would overlap or their addresses wrap. An empty box (some extent
// 0) touches nothing but must start inside.
int dm_box_check(const struct dm_surface *surface, struct dm_position at,
                 struct dm_box_extent extent);

// Copies a box. Both surfaces are checked as by dm_box_check before any byte moves; returns 0 or
// -EINVAL. Boxes of linear memory and of one level may overlap: the result is that of a copy
// through a buffer.
int dm_box_copy(const struct dm_surface *dst, struct dm_position dst_at,
                const struct dm_surface *src, struct dm_position src_at,
                struct dm_box_extent extent);

// Fills a box with a value of 1, 2, 4, 8 or 16 bytes, starting at the box's first byte in every
// row. Returns 0, or -EINVAL for a box outside, another size of value, or a width that is not a
// multiple of it.
int dm_box_fill(const struct dm_surface *surface, struct dm_position at,
                struct dm_box_extent extent, const void *value, unsigned value_B);
