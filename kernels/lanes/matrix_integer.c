// SPDX-License-Identifier: MIT
// Forms of mma for integers of 8, 4 and 1 bits. "mma.m16n8k32.8" takes the signs of A and B, and
// whether the result is saturated, from kn_op.i.
//
// Whoever runs a form should make all lanes of the warp active, as far as they exist.
#include <stddef.h>

#include "families.h"
#include "matrix.inc.h"

struct integers {
    int32_t a[KN_MATRIX_ROWS][KN_MATRIX_STORED];
    int32_t b[KN_MATRIX_DEPTH][KN_MATRIX_COLUMNS];
};

static inline int32_t element(uint32_t word, int bits, int j, bool is_signed)
{
    const uint32_t value = word << (32 - bits * (j + 1));
    return is_signed ? (int32_t)value >> (32 - bits) : (int32_t)(value >> (32 - bits));
}

static inline void read_integers(const struct kn_op *op, const struct kn_warp *w,
                                 const struct kn_matrix_shape *s, int bits, struct integers *m)
{
    const int n = 32 / bits;
    for (int r = 0; r < s->a; r++) {
        const uint32_t *words =
            KN_REGISTER(uint32_t, kn_matrix_register(op, s->c, (unsigned)(s->c + r)));
        for (int lane = 0; lane < KN_LANES; lane++)
            for (int j = 0; j < n; j++)
                m->a[kn_matrix_a_row(s, r, lane)][kn_matrix_a_column(s, r, lane, n, j)] =
                    element(words[lane], bits, j, op->i & KN_MATRIX_A_SIGNED);
    }
    for (int r = 0; r < s->b; r++) {
        const uint32_t *words =
            KN_REGISTER(uint32_t, kn_matrix_register(op, s->c, (unsigned)(s->c + s->a + r)));
        for (int lane = 0; lane < KN_LANES; lane++)
            for (int j = 0; j < n; j++)
                m->b[n * (lane & 3) + j + 4 * n * r][lane >> 2] =
                    element(words[lane], bits, j, op->i & KN_MATRIX_B_SIGNED);
    }
}

// Adds C and writes D. "satfinite: the result is clamped to the range of the accumulator;
// otherwise it wraps around."
static inline void write_integers(const struct kn_op *op, struct kn_warp *w,
                                  const struct kn_matrix_shape *s,
                                  int32_t (*sums)[KN_MATRIX_COLUMNS])
{
    const uint32_t mask = kn_mask_of(op, w);
    const unsigned first = (unsigned)(s->c + s->a + s->b);
    for (unsigned r = 0; r < s->c; r++) {
        uint32_t *d = KN_REGISTER(uint32_t, kn_matrix_register(op, s->c, r));
        const int32_t *c = KN_REGISTER(int32_t, kn_matrix_register(op, s->c, first + r));
        for (int lane = 0; lane < KN_LANES; lane++) {
            int64_t sum =
                (int64_t)sums[(lane >> 2) + 8 * (int)(r / 2)][2 * (lane & 3) + (int)(r % 2)] +
                c[lane];
            if (op->i & KN_MATRIX_SATURATED)
                sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            if (mask >> lane & 1)
                d[lane] = (uint32_t)sum;
        }
    }
}

static inline void multiply(const struct kn_op *op, struct kn_warp *w,
                            const struct kn_matrix_shape *s, int bits)
{
    struct integers m;
    int32_t sums[KN_MATRIX_ROWS][KN_MATRIX_COLUMNS] = {{0}};
    const uint32_t *metadata = kn_matrix_metadata(op, w, s);
    read_integers(op, w, s, bits, &m);
    for (int i = 0; i < s->rows; i++)
        for (int k = 0; k < s->stored; k++) {
            const int32_t *b = m.b[kn_matrix_b_row(op, metadata, s, i, k)];
            for (int j = 0; j < KN_MATRIX_COLUMNS; j++)
                sums[i][j] += m.a[i][k] * b[j];
        }
    write_integers(op, w, s, sums);
}

// Single bits: the number of bits of "a xor b" or "a and b".
static inline void multiply_bits(const struct kn_op *op, struct kn_warp *w,
                                 const struct kn_matrix_shape *s)
{
    uint32_t a[KN_MATRIX_ROWS][8], b[8][KN_MATRIX_COLUMNS];
    int32_t sums[KN_MATRIX_ROWS][KN_MATRIX_COLUMNS] = {{0}};
    for (int lane = 0; lane < KN_LANES; lane++) {
        for (int r = 0; r < s->a; r++)
            a[kn_matrix_a_row(s, r, lane)][kn_matrix_a_column(s, r, lane, 1, 0)] =
                KN_REGISTER(uint32_t, kn_matrix_register(op, s->c, (unsigned)(s->c + r)))[lane];
        for (int r = 0; r < s->b; r++)
            b[(lane & 3) + 4 * r][lane >> 2] = KN_REGISTER(
                uint32_t, kn_matrix_register(op, s->c, (unsigned)(s->c + s->a + r)))[lane];
    }
    for (int i = 0; i < s->rows; i++)
        for (int k = 0; k < s->stored; k++)
            for (int j = 0; j < KN_MATRIX_COLUMNS; j++)
                sums[i][j] += __builtin_popcount(op->i & KN_MATRIX_XOR ? a[i][k] ^ b[k][j]
                                                                       : a[i][k] & b[k][j]);
    write_integers(op, w, s, sums);
}

// X(name, text, bits, rows, stored, depth, registers of A, of B, of C, operands, sparsity). The
// columns of A for single bits are words.
#define EACH_SHAPE(X)                                                                              \
    X(m8n8k16_8, "m8n8k16.8", 8, 8, 16, 16, 1, 1, 2, "ww=wwwwi", KN_DENSE)                         \
    X(m16n8k16_8, "m16n8k16.8", 8, 16, 16, 16, 2, 1, 4, "wwww=wwwwwwwi", KN_DENSE)                 \
    X(m16n8k32_8, "m16n8k32.8", 8, 16, 32, 32, 4, 2, 4, "wwww=wwwwwwwwwwi", KN_DENSE)              \
    X(m8n8k32_4, "m8n8k32.4", 4, 8, 32, 32, 1, 1, 2, "ww=wwwwi", KN_DENSE)                         \
    X(m16n8k32_4, "m16n8k32.4", 4, 16, 32, 32, 2, 1, 4, "wwww=wwwwwwwi", KN_DENSE)                 \
    X(m16n8k64_4, "m16n8k64.4", 4, 16, 64, 64, 4, 2, 4, "wwww=wwwwwwwwwwi", KN_DENSE)              \
    X(sp_m16n8k32_8, "sp.m16n8k32.8", 8, 16, 16, 32, 2, 2, 4, "wwww=wwwwwwwwwi",                   \
      KN_TWO_OF_FOUR_BYTES)                                                                        \
    X(sp_m16n8k64_8, "sp.m16n8k64.8", 8, 16, 32, 64, 4, 4, 4, "wwww=wwwwwwwwwwwwwi",               \
      KN_TWO_OF_FOUR_BYTES)                                                                        \
    X(sp_m16n8k64_4, "sp.m16n8k64.4", 4, 16, 32, 64, 2, 2, 4, "wwww=wwwwwwwwwi", KN_PAIRS_OF_FOUR) \
    X(sp_m16n8k128_4, "sp.m16n8k128.4", 4, 16, 64, 128, 4, 4, 4, "wwww=wwwwwwwwwwwwwi",            \
      KN_PAIRS_OF_FOUR)                                                                            \
    X(m8n8k128_1, "m8n8k128.1", 1, 8, 4, 4, 1, 1, 2, "ww=wwwwi", KN_DENSE)                         \
    X(m16n8k128_1, "m16n8k128.1", 1, 16, 4, 4, 2, 1, 4, "wwww=wwwwwwwi", KN_DENSE)                 \
    X(m16n8k256_1, "m16n8k256.1", 1, 16, 8, 8, 4, 2, 4, "wwww=wwwwwwwwwwi", KN_DENSE)

#define MMA(name, text, bits, rows, stored, depth, a, b, c, operands, sparsity)                    \
    KN_OPERATION(mma_##name)                                                                       \
    {                                                                                              \
        static const struct kn_matrix_shape shape = {rows, stored, depth, a, b, c, sparsity};      \
        if ((bits) == 1)                                                                           \
            multiply_bits(op, w, &shape);                                                          \
        else                                                                                       \
            multiply(op, w, &shape, bits);                                                         \
        KN_RETURN_NEXT;                                                                            \
    }
EACH_SHAPE(MMA)

#define ROW(name, text, bits, rows, stored, depth, a, b, c, operands, sparsity)                    \
    {"mma." text, operands, {mma_##name, mma_##name}},

const struct kn_form KN_FAMILY(matrix_integer)[] = {EACH_SHAPE(ROW){0}};
