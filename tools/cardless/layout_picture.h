// SPDX-License-Identifier: MIT
// Pictures of how one slice or layer of a level lies in memory.
#pragma once

#include "layout.h"

#include <stdio.h>

// Numbers in a grid: for block-linear levels the order of GOBs in memory and of 16-byte pieces in a
// GOB, otherwise row offsets.
void layout_picture_text(FILE *to, const struct dm_layout *layout, uint32_t level, uint64_t z);

// A PNG file: every element coloured by its place in the slice's memory (blue first, red last),
// GOBs framed thinly and blocks strongly. Returns 0, or a negative errno.
int layout_picture_png(const char *path, const struct dm_layout *layout, uint32_t level,
                       uint64_t z);
