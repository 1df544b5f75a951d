// SPDX-License-Identifier: MIT
// The immediate of forms of matrix instructions (kn_op.i).
#pragma once

// mma: bits, and the first of two bits of the selector of a sparse A. For f64, the rounding mode:
// rn, rz, rm, rp.
enum kn_matrix_flags {
    KN_MATRIX_A_SIGNED = 1,
    KN_MATRIX_B_SIGNED = 2,
    KN_MATRIX_SATURATED = 4,
    KN_MATRIX_XOR = 8, // of single bits: a xor b; otherwise a and b
    KN_MATRIX_SELECTOR = 4,
};

// mma.m8n8k4 of f16: A and B have column after column.
enum kn_matrix_quad { KN_MATRIX_A_COLUMNS = 1, KN_MATRIX_B_COLUMNS = 2 };

// wmma.load, wmma.store: the first bit of each field. A fragment consists of tiles, each of which
// is a fragment of mma.
enum kn_matrix_fragment { KN_FRAGMENT_A, KN_FRAGMENT_B, KN_FRAGMENT_C };
enum kn_fragment_field {
    KN_FRAGMENT_WHICH = 0,      // enum kn_matrix_fragment
    KN_FRAGMENT_WIDTH = 2,      // of an element, 2^n bits
    KN_FRAGMENT_COLUMNS = 5,    // memory has column after column
    KN_FRAGMENT_TALL = 6,       // tiles of A and C have 16 rows, not 8
    KN_FRAGMENT_ACROSS = 7,     // tiles of C beside each other, - 1
    KN_FRAGMENT_TILES = 10,     // all tiles, - 1
    KN_FRAGMENT_REGISTERS = 13, // of a tile, - 1
};
enum { KN_FRAGMENT_MOST = 8 }; // registers of a fragment of wmma
