// SPDX-License-Identifier: MIT
// Offsets inside a GOB, for the sets that move 16 bytes of a row at a time (kn_tile.h has the
// drawing).
#pragma once

#include "small.h"

// 16 bytes of a row stay together. Offset of those of column 0 to 3 and row 0 to 7.
KN_INLINE unsigned gob_cell_B(unsigned column, unsigned row)
{
    return (column & 2) << 7 | (row & 4) << 5 | (column & 1) << 6 | (row & 3) << 4;
}

// The rows y0 to y1, a bit for each.
KN_INLINE unsigned part_rows(unsigned y0, unsigned y1)
{
    return (1u << y1) - (1u << y0);
}

// The part of a row of GOBs that a box covers: bytes x0_B to x1_B of the surface, and rows y0 to y1
// (0 to 8) of each GOB.
struct gob_row {
    uint64_t x0_B, x1_B;
    unsigned y0, y1;
    uintptr_t next; // where the next row of GOBs will be written, which is prefetched
};
