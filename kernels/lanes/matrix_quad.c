// SPDX-License-Identifier: MIT
// Forms of mma.m8n8k4 for f16: four products of matrices at once, each by the 8 lanes of a pair of
// quads: lanes 4 p to 4 p + 3 and 16 + 4 p to 16 + 4 p + 3.
//
//     A, row by row       row q + 4 h, columns 0 to 3         q: lane % 4, h: lane / 16
//     A, column by column rows 4 h to 4 h + 3, column q
//     B, row by row       row q, columns 4 h to 4 h + 3
//     B, column by column rows 0 to 3, column q + 4 h
//     C, f16              row q + 4 h, columns 0 to 7
//     C, f32              register i: row q % 2 + i % 4 / 2 * 2 + 4 h, column
//                         i / 4 * 4 + q / 2 * 2 + i % 2
//
// Sums are made in f32, each rounded to the nearest number: (p0 + p1 + c) + (p2 + p3) for f16,
// which is rounded at the end, and p0 + p1 + p2 + p3 + c for f32 (measured). kn_op.i: enum
// kn_matrix_quad.
#include <stddef.h>

#include "convert_scalar.h"
#include "families.h"
#include "kn_matrix.h"
#include "matrix.inc.h"

enum { DEPTH = 4, SIDE = 8, PAIRS = 4 };

static inline uint32_t *nth(const struct kn_op *op, const struct kn_warp *w, unsigned registers,
                            unsigned n)
{
    return KN_REGISTER(uint32_t, kn_matrix_register(op, registers, n));
}

static inline float element(const uint32_t *words, int n)
{
    return kn_from_half((uint16_t)(words[n / 2] >> n % 2 * 16));
}

static void read_pair(const struct kn_op *op, const struct kn_warp *w, unsigned registers, int pair,
                      float (*a)[DEPTH], float (*b)[SIDE])
{
    for (int n = 0; n < SIDE; n++) {
        const int q = n % 4, h = n / 4, lane = 16 * h + 4 * pair + q;
        const uint32_t a_words[] = {nth(op, w, registers, registers)[lane],
                                    nth(op, w, registers, registers + 1)[lane]};
        const uint32_t b_words[] = {nth(op, w, registers, registers + 2)[lane],
                                    nth(op, w, registers, registers + 3)[lane]};
        for (int i = 0; i < DEPTH; i++) {
            const bool a_columns = op->i & KN_MATRIX_A_COLUMNS;
            const bool b_columns = op->i & KN_MATRIX_B_COLUMNS;
            a[(a_columns ? i : q) + 4 * h][a_columns ? q : i] = element(a_words, i);
            b[b_columns ? i : q][(b_columns ? q : i) + 4 * h] = element(b_words, i);
        }
    }
}

// The row and column of register i, or of element i of f16.
static inline void place_of(int lane, int i, bool half, int *row, int *column)
{
    const int q = lane % 4, h = lane / 16;
    *row = half ? q + 4 * h : q % 2 + i % 4 / 2 * 2 + 4 * h;
    *column = half ? i : i / 4 * 4 + q / 2 * 2 + i % 2;
}

static inline void multiply(const struct kn_op *op, struct kn_warp *w, bool half)
{
    const unsigned registers = half ? 4 : 8;
    const uint32_t mask = kn_mask_of(op, w);
    float a[PAIRS][SIDE][DEPTH], b[PAIRS][DEPTH][SIDE];
    uint32_t results[KN_LANES][SIDE];
    for (int pair = 0; pair < PAIRS; pair++)
        read_pair(op, w, registers, pair, a[pair], b[pair]);
    for (int lane = 0; lane < KN_LANES; lane++)
        for (int i = 0; i < SIDE; i++) {
            const int r = half ? i / 2 : i, pair = lane / 4 % 4;
            const uint32_t word = nth(op, w, registers, registers + 4 + (unsigned)r)[lane];
            int row, column;
            place_of(lane, i, half, &row, &column);
            const float c =
                half ? kn_from_half((uint16_t)(word >> i % 2 * 16)) : kn_float_of_bits(word);
            float p[DEPTH]; // products have 22 digits
            for (int k = 0; k < DEPTH; k++)
                p[k] = a[pair][row][k] * b[pair][k][column];
            const float sum =
                half ? (p[0] + p[1] + c) + (p[2] + p[3]) : 0.0f + p[0] + p[1] + p[2] + p[3] + c;
            results[lane][i] = half ? (sum != sum ? 0x7fff : kn_to_half(sum))
                                    : (sum != sum ? 0x7fffffff : kn_float_bits(sum));
        }
    KN_EACH_OF(mask, lane)
    for (int i = 0; i < SIDE; i++) {
        uint32_t *d = nth(op, w, registers, (unsigned)(half ? i / 2 : i));
        const uint32_t value = results[lane][i];
        if (!half)
            d[lane] = value;
        else
            d[lane] = i % 2 ? (d[lane] & 0xffff) | value << 16 : value;
    }
}

KN_OPERATION(mma_f32)
{
    multiply(op, w, false);
    KN_RETURN_NEXT;
}

KN_OPERATION(mma_f16)
{
    multiply(op, w, true);
    KN_RETURN_NEXT;
}

const struct kn_form KN_FAMILY(matrix_quad)[] = {
    {"mma.m8n8k4.f16.f32", "wwwwwwww=wwwwwwwwwwwwi", {mma_f32, mma_f32}},
    {"mma.m8n8k4.f16.f16", "wwww=wwwwwwwwi", {mma_f16, mma_f16}},
    {0},
};
