// SPDX-License-Identifier: MIT
// Forms of mma for f64: a chain of fused multiply-adds, from the first column of A to the last.
// kn_op.i is the rounding mode, an enum kn_mode.
#include "f64.inc.h"

#include <stddef.h>
#include <string.h>

#include "families.h"
#include "matrix.inc.h"

enum { COLUMNS = 16 }; // of A, at most

static inline bool is_nan(uint64_t x)
{
    return (x & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}

// Of several NaNs, the result is that of c, or else of b (measured).
static inline uint64_t fused(uint64_t a, uint64_t b, uint64_t c, enum kn_mode mode)
{
    if (is_nan(a) || is_nan(b) || is_nan(c))
        return (is_nan(c) ? c : is_nan(b) ? b : a) | KN_QUIET_F64;
#if defined(__FMA__) || defined(__aarch64__)
    if (mode == KN_RN)
        return kn_f64_result3(__builtin_fma(kn_f64(a), kn_f64(b), kn_f64(c)), kn_f64(a), kn_f64(b),
                              kn_f64(c));
#endif
    return kn_fma_f64(a, b, c, mode);
}

static inline void multiply(const struct kn_op *op, struct kn_warp *w,
                            const struct kn_matrix_shape *s)
{
    uint64_t a[KN_MATRIX_ROWS][COLUMNS], b[COLUMNS][KN_MATRIX_COLUMNS];
    const uint32_t mask = kn_mask_of(op, w);
    const enum kn_mode mode = (enum kn_mode)(op->i & 3);
    uint64_t results[4][KN_LANES];
    for (int lane = 0; lane < KN_LANES; lane++) {
        for (int r = 0; r < s->a; r++)
            a[kn_matrix_a_row(s, r, lane)][kn_matrix_a_column(s, r, lane, 1, 0)] =
                KN_REGISTER(uint64_t, kn_matrix_register(op, s->c, (unsigned)(s->c + r)))[lane];
        for (int r = 0; r < s->b; r++)
            b[(lane & 3) + 4 * r][lane >> 2] = KN_REGISTER(
                uint64_t, kn_matrix_register(op, s->c, (unsigned)(s->c + s->a + r)))[lane];
    }
    for (int r = 0; r < s->c; r++)
        for (int lane = 0; lane < KN_LANES; lane++) {
            const int row = (lane >> 2) + 8 * (r / 2), column = 2 * (lane & 3) + r % 2;
            const unsigned n = (unsigned)(s->c + s->a + s->b + r);
            uint64_t sum = KN_REGISTER(uint64_t, kn_matrix_register(op, s->c, n))[lane];
            for (int k = 0; k < s->stored; k++)
                sum = fused(a[row][k], b[k][column], sum, mode);
            results[r][lane] = sum;
        }
    for (int r = 0; r < s->c; r++)
        KN_EACH_OF(mask, lane)
    KN_REGISTER(uint64_t, kn_matrix_register(op, s->c, (unsigned)r))[lane] = results[r][lane];
}

// X(name, rows, columns of A, registers of A, of B, of C, operands)
#define EACH_SHAPE(X)                                                                              \
    X(m8n8k4, 8, 4, 1, 1, 2, "ll=lllli")                                                           \
    X(m16n8k4, 16, 4, 2, 1, 4, "llll=llllllli")                                                    \
    X(m16n8k8, 16, 8, 4, 2, 4, "llll=lllllllllli")                                                 \
    X(m16n8k16, 16, 16, 8, 4, 4, "llll=lllllllllllllllli")

#define MMA(name, rows, columns, a, b, c, operands)                                                \
    KN_OPERATION(mma_##name)                                                                       \
    {                                                                                              \
        static const struct kn_matrix_shape shape = {rows, columns, columns, a, b, c, KN_DENSE};   \
        multiply(op, w, &shape);                                                                   \
        KN_RETURN_NEXT;                                                                            \
    }
EACH_SHAPE(MMA)

#define ROW(name, rows, columns, a, b, c, operands)                                                \
    {"mma." #name ".f64", operands, {mma_##name, mma_##name}},

const struct kn_form KN_FAMILY(matrix_double)[] = {EACH_SHAPE(ROW){0}};
