// SPDX-License-Identifier: MIT
// For the families of matrix instructions: where the elements of a matrix lie in the registers of a
// warp, and the rows of B that a sparse A names.
//
// A warp is 8 groups of 4 lanes. Row g of A, column g of B and row g of C belong to group g; a
// register of 32 bits has `n` elements that are neighbours along K (in C: along a row).
//
//     A: register r, lane 4 g + u, element j     row g + 8 (r % h), column n u + j + 4 n (r / h)
//     B:                                         row n u + j + 4 n r, column g
//     C:                                         row g + 8 (r / 2), column 2 u + r % 2
//     C of 16 bits: both columns in register r   row g + 8 r,       column 2 u + j
//
// h is 2 if A has 16 rows, and 1 if it has 8.
#pragma once

#include "kn_matrix.h"
#include "lanes.inc.h"

enum {
    KN_MATRIX_COLUMNS = 8, // of B, C and D
    KN_MATRIX_ROWS = 16,   // of A, C and D, at most
    KN_MATRIX_STORED = 64, // columns of A, at most: those that a sparse A has
    KN_MATRIX_DEPTH = 128, // rows of B, at most
};

// How a sparse A says which rows of B its elements belong to. "mma.sp … 2:4: two of four
// consecutive elements"; tf32: one of two; 4 bits: two pairs of four.
enum kn_sparsity {
    KN_DENSE,
    KN_TWO_OF_FOUR,       // of 16 bits
    KN_TWO_OF_FOUR_BYTES, // of 8 bits
    KN_ONE_OF_TWO,
    KN_PAIRS_OF_FOUR
};

struct kn_matrix_shape {
    uint8_t rows;    // of A, C and D
    uint8_t stored;  // columns of A's registers
    uint8_t depth;   // rows of B: twice as many if A is sparse
    uint8_t a, b, c; // numbers of registers
    enum kn_sparsity sparsity;
};

// The offset of an operation's n-th register, of which the first `destinations` are written.
static inline uint32_t kn_matrix_register(const struct kn_op *op, unsigned destinations, unsigned n)
{
    if (n < destinations)
        return n ? op->more[n - 1] : op->d;
    n -= destinations;
    return n == 0   ? op->a
           : n == 1 ? op->b
           : n == 2 ? op->c
                    : op->more[n - 3 + (destinations ? destinations - 1 : 0)];
}

static inline int kn_matrix_a_row(const struct kn_matrix_shape *s, int r, int lane)
{
    return (lane >> 2) + (s->rows > 8 ? 8 * (r % 2) : 0);
}

static inline int kn_matrix_a_column(const struct kn_matrix_shape *s, int r, int lane, int n, int j)
{
    return n * (lane & 3) + j + 4 * n * (s->rows > 8 ? r / 2 : r);
}

// The register of A's metadata, or NULL.
static inline const uint32_t *kn_matrix_metadata(const struct kn_op *op, const struct kn_warp *w,
                                                 const struct kn_matrix_shape *s)
{
    if (s->sparsity == KN_DENSE)
        return NULL;
    const unsigned n = 2u * s->c + s->a + s->b;
    return KN_REGISTER(uint32_t, kn_matrix_register(op, s->c, n));
}

// The row of B that element `k` of a row of A belongs to. A row has 2 bits for each unit (an
// element, or a pair of elements of 4 bits) and 4 for an element of tf32. "The sparsity selector
// indicates the lanes of a group that have the metadata": if `words` is false, a lane has 16 bits
// of a row g, and above them 16 of row g + 8; else the lanes of row g come before those of row g
// + 8.
static inline int kn_matrix_b_row(const struct kn_op *op, const uint32_t *metadata,
                                  const struct kn_matrix_shape *s, int row, int k)
{
    const int selector = (int)(op->i >> KN_MATRIX_SELECTOR & 3);
    const int bits = s->sparsity == KN_ONE_OF_TWO ? 4 : 2;
    const int unit = s->sparsity == KN_PAIRS_OF_FOUR ? k / 2 : k;
    const int units = s->sparsity == KN_PAIRS_OF_FOUR ? s->stored / 2 : s->stored;
    const int lanes = units * bits / 16; // of a group
    const bool words = s->sparsity == KN_TWO_OF_FOUR_BYTES || s->sparsity == KN_PAIRS_OF_FOUR;
    const int part = words ? 2 * (unit * bits / 32) + row / 8 : unit * bits / 16;
    const int shift = words ? unit * bits % 32 : unit * bits % 16 + row / 8 * 16;
    if (s->sparsity == KN_DENSE)
        return k;
    const int lane = 4 * (row % 8) + ((selector * lanes + part) & 3);
    const uint32_t index = metadata[lane] >> shift & ((1u << bits) - 1);
    switch (s->sparsity) {
    case KN_ONE_OF_TWO:
        return 2 * k + (int)(index >> 3);
    case KN_PAIRS_OF_FOUR:
        return 8 * (unit / 2) + 2 * (int)index + k % 2;
    default:
        return 4 * (unit / 2) + (int)index;
    }
}
