// SPDX-License-Identifier: MIT
// Finds operations that compute the index of a thread in the grid, with which most kernels begin.
// Their results are filled in before a warp starts, as the index of a thread in its block is:
//
//     mov.u32     %r1, %ctaid.x
//     mov.u32     %r2, %ntid.x
//     mov.u32     %r3, %tid.x
//     mad.lo.s32  %r4, %r1, %r2, %r3         %r4 is filled in, and all four operations are skipped
//
// The number of the block may be shifted or multiplied by a constant instead, and the product may
// be an operation of its own.
#pragma once
#include "layout.h"

// Adds them to decoded->indices, where `at` is the register until it has an offset, and marks those
// operations in layout->skips. Returns false if host memory is short.
// Precondition: px_layout_copies has run.
bool px_indices_find(struct px_decoded *decoded, const struct px_layout *layout);
