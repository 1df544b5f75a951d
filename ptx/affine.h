// SPDX-License-Identifier: MIT
// Finds accesses of arrays by an index, whose addresses need not be computed if the index is
// consecutive:
//
//     mul.wide.s32  %rd5, %r1, 4
//     add.s64       %rd6, %rd4, %rd5      %rd4 is an argument
//     ld.global.f32 %f2, [%rd6]           the form ld.affine.s32 goes before it
//
// Instead of mul.wide, compilers write cvt.s64.s32 and shl.b64 by 2, too.
#pragma once
#include "layout.h"

// By operation of the program.
struct px_affine {
    uint32_t add;      // that makes the address, or PX_NONE: the access is not such a one
    uint32_t multiply; // that makes its offset
    uint32_t convert;  // that makes a 64-bit index for it, or PX_NONE
    px_register index, base;
    bool is_signed;
};

struct px_affines {
    struct px_affine *of;
    bool *drops; // by operation: only such accesses need it, so it is done there if at all
    bool *pins;  // by register: is read later than the program says
};

// Returns false if host memory is short. Free with px_affine_free, also then.
bool px_affine_find(struct px_affines *out, const struct px_layout *layout);
void px_affine_free(struct px_affines *affines);
// The operations that follow the form before an access: those that were dropped, and the access.
uint32_t px_affine_count(const struct px_affines *affines, uint32_t access);
