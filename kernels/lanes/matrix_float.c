// SPDX-License-Identifier: MIT
// Forms of mma for f16, bf16, tf32 and the types of 8 bits. Products are added in groups, as
// matrix_sum.inc.h describes: C is in the first group, and each group's result is in the next one.
//
// Types of 8 bits have other rules, because the hardware makes f16 of them: the first half of the
// products are those of the lower two bytes of each register, the second half those of the upper
// two; and C is added at the end, rounded to the nearest number.
#include <stddef.h>
#include <string.h>

#include "families.h"
#include "matrix.inc.h"
#include "matrix_sum.inc.h"

struct rule {
    struct kn_small_format a, b;
    int group; // products that are added at once; 0: of bytes
};

static inline int width_of(struct kn_small_format f)
{
    return 1 + f.exponent + f.digits + f.unused;
}

static inline void read_factors(const struct kn_op *op, const struct kn_warp *w,
                                const struct kn_matrix_shape *s, const struct rule *rule,
                                struct kn_factors *f)
{
    const int a_bits = width_of(rule->a), a_n = 32 / a_bits;
    const int b_bits = width_of(rule->b), b_n = 32 / b_bits;
    f->a_format = rule->a;
    f->b_format = rule->b;
    f->some_special = false;
    for (int r = 0; r < s->a; r++) {
        const uint32_t *words =
            KN_REGISTER(uint32_t, kn_matrix_register(op, s->c, (unsigned)(s->c + r)));
        for (int lane = 0; lane < KN_LANES; lane++)
            for (int j = 0; j < a_n; j++)
                kn_factor_a(f, kn_matrix_a_row(s, r, lane), kn_matrix_a_column(s, r, lane, a_n, j),
                            words[lane] >> a_bits * j % 32);
    }
    for (int r = 0; r < s->b; r++) {
        const uint32_t *words =
            KN_REGISTER(uint32_t, kn_matrix_register(op, s->c, (unsigned)(s->c + s->a + r)));
        for (int lane = 0; lane < KN_LANES; lane++)
            for (int j = 0; j < b_n; j++)
                kn_factor_b(f, b_n * (lane & 3) + j + 4 * b_n * r, lane >> 2,
                            words[lane] >> b_bits * j % 32);
    }
}

// The n-th product of a row: a column of A.
static inline int nth_column(const struct kn_matrix_shape *s, const struct rule *rule, int n)
{
    const int half = s->stored / 2, upper = n < half ? 0 : 2;
    if (rule->group)
        return n;
    n %= half;
    return n / 2 * 4 + n % 2 + upper;
}

// c + d, rounded to the nearest number.
static inline uint32_t rounded_sum(uint32_t c, uint32_t d, bool half)
{
    const float sum = half ? kn_from_half((uint16_t)c) + kn_from_half((uint16_t)d)
                           : kn_float_of_bits(c) + kn_float_of_bits(d);
    if (half)
        return sum != sum ? 0x7fff : kn_to_half(sum);
    return sum != sum ? 0x7fffffff : kn_float_bits(sum);
}

// Row i of D.
static inline void row_of_d(const struct kn_op *op, const uint32_t *metadata,
                            const struct kn_matrix_shape *s, const struct rule *rule,
                            struct kn_sum_row *r, const uint32_t *c, uint32_t *d)
{
    for (int n = 0; n < s->stored; n++) {
        r->columns[n] = nth_column(s, rule, n);
        r->rows[n] = kn_matrix_b_row(op, metadata, s, r->row, r->columns[n]);
    }
    for (int j = 0; j < KN_MATRIX_COLUMNS; j++)
        d[j] = rule->group ? c[j] : 0;
    kn_add_row(r, d);
    for (int j = 0; j < KN_MATRIX_COLUMNS && !rule->group; j++)
        d[j] = rounded_sum(c[j], d[j], r->half);
}

// ---- forms ----

static inline uint32_t *register_of_c(const struct kn_op *op, const struct kn_warp *w,
                                      const struct kn_matrix_shape *s, bool source, int r)
{
    const unsigned n = source ? (unsigned)(s->c + s->a + s->b + r) : (unsigned)r;
    return KN_REGISTER(uint32_t, kn_matrix_register(op, s->c, n));
}

static inline void multiply(const struct kn_op *op, struct kn_warp *w,
                            const struct kn_matrix_shape *s, const struct rule *rule, bool half)
{
    struct kn_factors factors;
    struct kn_sum_row row = {.factors = &factors,
                             .count = s->stored,
                             .group = rule->group ? rule->group : s->stored / 2,
                             .half = half};
    uint32_t c[KN_MATRIX_ROWS][KN_MATRIX_COLUMNS] = {{0}}, d[KN_MATRIX_ROWS][KN_MATRIX_COLUMNS];
    const uint32_t mask = kn_mask_of(op, w), *metadata = kn_matrix_metadata(op, w, s);
    read_factors(op, w, s, rule, &factors);
    for (int r = 0; r < s->c; r++) {
        const uint32_t *words = register_of_c(op, w, s, true, r);
        for (int lane = 0; lane < KN_LANES; lane++) {
            const int g = lane >> 2, column = 2 * (lane & 3);
            if (half) {
                c[g + 8 * r][column] = words[lane] & 0xffff;
                c[g + 8 * r][column + 1] = words[lane] >> 16;
            } else {
                c[g + 8 * (r / 2)][column + r % 2] = words[lane];
            }
        }
    }
    for (row.row = 0; row.row < s->rows; row.row++)
        row_of_d(op, metadata, s, rule, &row, c[row.row], d[row.row]);
    for (int r = 0; r < s->c; r++) {
        uint32_t *words = register_of_c(op, w, s, false, r);
        KN_EACH_OF(mask, lane)
        {
            const int g = lane >> 2, column = 2 * (lane & 3);
            words[lane] = half ? d[g + 8 * r][column] | d[g + 8 * r][column + 1] << 16
                               : d[g + 8 * (r / 2)][column + r % 2];
        }
    }
}

// X(type, name, text, rows, stored, depth, registers of A, of B, sparsity, letters of A, B and the
// metadata)
#define HALVES(X, type)                                                                            \
    X(type, m16n8k8, "m16n8k8.", 16, 8, 8, 2, 1, KN_DENSE, "www", "")                              \
    X(type, m16n8k16, "m16n8k16.", 16, 16, 16, 4, 2, KN_DENSE, "wwwwww", "")                       \
    X(type, sp_m16n8k16, "sp.m16n8k16.", 16, 8, 16, 2, 2, KN_TWO_OF_FOUR, "wwww", "w")             \
    X(type, sp_m16n8k32, "sp.m16n8k32.", 16, 16, 32, 4, 4, KN_TWO_OF_FOUR, "wwwwwwww", "w")
#define WORDS(X, type)                                                                             \
    X(type, m16n8k4, "m16n8k4.", 16, 4, 4, 2, 1, KN_DENSE, "www", "")                              \
    X(type, m16n8k8, "m16n8k8.", 16, 8, 8, 4, 2, KN_DENSE, "wwwwww", "")                           \
    X(type, sp_m16n8k8, "sp.m16n8k8.", 16, 4, 8, 2, 2, KN_ONE_OF_TWO, "wwww", "w")                 \
    X(type, sp_m16n8k16, "sp.m16n8k16.", 16, 8, 16, 4, 4, KN_ONE_OF_TWO, "wwwwwwww", "w")
#define BYTES(X, type)                                                                             \
    X(type, m16n8k16, "m16n8k16.", 16, 16, 16, 2, 1, KN_DENSE, "www", "")                          \
    X(type, m16n8k32, "m16n8k32.", 16, 32, 32, 4, 2, KN_DENSE, "wwwwww", "")                       \
    X(type, sp_m16n8k64, "sp.m16n8k64.", 16, 32, 64, 4, 4, KN_TWO_OF_FOUR_BYTES, "wwwwwwww", "w")

#define MMA(operation, rows, stored, depth, a, b, c, sparsity, rule, half)                         \
    KN_OPERATION(operation)                                                                        \
    {                                                                                              \
        static const struct kn_matrix_shape shape = {rows, stored, depth, a, b, c, sparsity};      \
        multiply(op, w, &shape, &(rule), half);                                                    \
        KN_RETURN_NEXT;                                                                            \
    }
#define MMA_F32(type, name, text, rows, stored, depth, a, b, sparsity, letters, e)                 \
    MMA(mma_##name##_##type##_f32, rows, stored, depth, a, b, 4, sparsity, rule_##type, false)
#define MMA_F16(type, name, text, rows, stored, depth, a, b, sparsity, letters, e)                 \
    MMA(mma_##name##_##type##_f16, rows, stored, depth, a, b, 2, sparsity, rule_##type, true)

static const struct rule rule_f16 = {{10, 5, 0, true}, {10, 5, 0, true}, 16};
static const struct rule rule_bf16 = {{7, 8, 0, true}, {7, 8, 0, true}, 16};
static const struct rule rule_tf32 = {{10, 8, 13, true}, {10, 8, 13, true}, 8};
static const struct rule rule_e4m3_e4m3 = {{3, 4, 0, false}, {3, 4, 0, false}, 0};
static const struct rule rule_e4m3_e5m2 = {{3, 4, 0, false}, {2, 5, 0, true}, 0};
static const struct rule rule_e5m2_e4m3 = {{2, 5, 0, true}, {3, 4, 0, false}, 0};
static const struct rule rule_e5m2_e5m2 = {{2, 5, 0, true}, {2, 5, 0, true}, 0};

#define EACH_BYTE(X, F) X(F, e4m3_e4m3) X(F, e4m3_e5m2) X(F, e5m2_e4m3) X(F, e5m2_e5m2)
HALVES(MMA_F32, f16)
HALVES(MMA_F16, f16)
HALVES(MMA_F32, bf16)
WORDS(MMA_F32, tf32)
EACH_BYTE(BYTES, MMA_F32)
EACH_BYTE(BYTES, MMA_F16)

#define ROW_F32(type, name, text, rows, stored, depth, a, b, sparsity, letters, e)                 \
    {"mma." text #type ".f32",                                                                     \
     "wwww=" letters "wwww" e "i",                                                                 \
     {mma_##name##_##type##_f32, mma_##name##_##type##_f32}},
#define ROW_F16(type, name, text, rows, stored, depth, a, b, sparsity, letters, e)                 \
    {"mma." text #type ".f16",                                                                     \
     "ww=" letters "ww" e "i",                                                                     \
     {mma_##name##_##type##_f16, mma_##name##_##type##_f16}},

const struct kn_form KN_FAMILY(matrix_float)[] = {
    HALVES(ROW_F32, f16) HALVES(ROW_F16, f16) HALVES(ROW_F32, bf16) WORDS(ROW_F32, tf32)
        EACH_BYTE(BYTES, ROW_F32) EACH_BYTE(BYTES, ROW_F16){0},
};
