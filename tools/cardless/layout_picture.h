// SPDX-License-Identifier: MIT
// Pictures of how one slice or layer of a level lies in memory.
#pragma once

#include "layout.h"

#include <stdbool.h>
#include <stdio.h>

// Prints numbers in a grid: for block-linear levels the order of the GOBs in memory, and of the
// 16-byte cells in a GOB; for other levels the offsets of the rows.
void layout_picture_text(FILE *to, const struct dm_layout *layout, uint32_t level, uint64_t z);

// Whether this build can write PNG files (it was built with libpng).
extern const bool layout_picture_has_png;

// Writes a PNG file: the colour of an element is its place in the slice's memory, from blue (first)
// to red (last). GOBs have thin frames and blocks thick ones. Returns 0, or a negative errno.
int layout_picture_png(const char *path, const struct dm_layout *layout, uint32_t level,
                       uint64_t z);
