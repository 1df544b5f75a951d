// SPDX-License-Identifier: MIT
// Forms of mma for f16, bf16, tf32 and the types of 8 bits, as the hardware adds products:
//
//     products are exact        ┌ c ─────────┐
//                               │ a0 b0 ───┐ │  aligned to the greatest exponent of the group,
//                               │ a1 b1 ─┐ │ │  cut off after FRACTION bits, added exactly;
//                               │ …      ▼ ▼ ▼  the sum is cut off to f32, or rounded to f16
//
// The exponent of a product is the sum of its factors' exponents, although its digits may be up to
// 3.99. A group is GROUP columns of A; the next group adds to the result of the one before.
// Measured: tests/silicon/matrix.
#include <stddef.h>
#include <string.h>

#include "families.h"
#include "matrix.inc.h"

enum {
    COLUMNS = 32,   // of A, at most
    DEPTH = 64,     // rows of B, at most
    NOTHING = -4096 // the exponent of 0
};

// A format: digits after the point, bits of the exponent, and the bits of a register below it.
struct format {
    int8_t digits, exponent, unused;
    bool has_infinity;
};

#define F16 ((struct format){10, 5, 0, true})
#define F32 ((struct format){23, 8, 0, true})

enum special { FINITE, INFINITE, NOT_A_NUMBER };

// (1 + x) 2^exponent: the digits are an integer with a sign.
struct number {
    int32_t digits, exponent;
    enum special special;
};

struct numbers {
    int32_t a_digits[KN_MATRIX_ROWS][COLUMNS], a_exponents[KN_MATRIX_ROWS][COLUMNS];
    int32_t b_digits[DEPTH][KN_MATRIX_COLUMNS], b_exponents[DEPTH][KN_MATRIX_COLUMNS];
    uint8_t a_specials[KN_MATRIX_ROWS][COLUMNS], b_specials[DEPTH][KN_MATRIX_COLUMNS];
    bool some_special;
};

struct rule {
    struct format a, b;
    int group;    // products that are added at once
    int fraction; // bits that are kept of them
};

static inline struct number number_of(uint32_t bits, struct format f)
{
    const int width = 1 + f.exponent + f.digits;
    const uint32_t all = bits >> f.unused & (uint32_t)((UINT64_C(1) << width) - 1);
    const uint32_t fraction = all & ((1u << f.digits) - 1);
    const int most = (1 << f.exponent) - 1, field = (int)(all >> f.digits) & most;
    const int32_t digits = (int32_t)(field ? fraction | 1u << f.digits : fraction);
    struct number out = {all >> (width - 1) ? -digits : digits,
                         digits ? (field ? field : 1) - most / 2 : NOTHING, FINITE};
    if (field == most && f.has_infinity)
        out.special = fraction ? NOT_A_NUMBER : INFINITE;
    else if (field == most && fraction == (1u << f.digits) - 1)
        out.special = NOT_A_NUMBER;
    return out;
}

static inline void read_numbers(const struct kn_op *op, const struct kn_warp *w,
                                const struct kn_matrix_shape *s, const struct rule *rule,
                                struct numbers *m)
{
    const int a_bits = 1 + rule->a.exponent + rule->a.digits + rule->a.unused, a_n = 32 / a_bits;
    const int b_bits = 1 + rule->b.exponent + rule->b.digits + rule->b.unused, b_n = 32 / b_bits;
    m->some_special = false;
    for (int r = 0; r < s->a; r++) {
        const uint32_t *words =
            KN_REGISTER(uint32_t, kn_matrix_register(op, s->c, (unsigned)(s->c + r)));
        for (int lane = 0; lane < KN_LANES; lane++)
            for (int j = 0; j < a_n; j++) {
                const int row = kn_matrix_a_row(s, r, lane);
                const int column = kn_matrix_a_column(s, r, lane, a_n, j);
                const struct number x = number_of(words[lane] >> a_bits * j % 32, rule->a);
                m->a_digits[row][column] = x.digits;
                m->a_exponents[row][column] = x.exponent;
                m->a_specials[row][column] = (uint8_t)x.special;
                m->some_special |= x.special != FINITE;
            }
    }
    for (int r = 0; r < s->b; r++) {
        const uint32_t *words =
            KN_REGISTER(uint32_t, kn_matrix_register(op, s->c, (unsigned)(s->c + s->a + r)));
        for (int lane = 0; lane < KN_LANES; lane++)
            for (int j = 0; j < b_n; j++) {
                const int row = b_n * (lane & 3) + j + 4 * b_n * r, column = lane >> 2;
                const struct number x = number_of(words[lane] >> b_bits * j % 32, rule->b);
                m->b_digits[row][column] = x.digits;
                m->b_exponents[row][column] = x.exponent;
                m->b_specials[row][column] = (uint8_t)x.special;
                m->some_special |= x.special != FINITE;
            }
    }
}

// ---- sums ----

enum { GUARD_BITS = 30 }; // so that no number is moved to the left

// digits 2^GUARD_BITS, moved to the right and cut off towards 0.
static inline int64_t aligned(int64_t digits, int32_t right)
{
    const int64_t sign = digits >> 63;
    const uint64_t size = (uint64_t)((digits ^ sign) - sign) << GUARD_BITS;
    const int64_t cut = (int64_t)(size >> (right < 63 ? right : 63));
    return (cut ^ sign) - sign;
}

// sum 2^exponent in f32, cut off.
static inline uint32_t f32_of_sum(int64_t sum, int32_t exponent)
{
    const uint32_t sign = sum < 0 ? 0x80000000 : 0;
    const uint64_t size = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
    if (!size)
        return 0;
    const int top = 63 - __builtin_clzll(size); // of the first digit
    int32_t field = exponent + top + 127;
    int right = top - 23;
    if (field < 1) { // subnormal
        right += 1 - field;
        field = 1;
    }
    if (field > 254)
        return sign | 0x7f800000;
    const uint32_t digits = right > 63   ? 0
                            : right >= 0 ? (uint32_t)(size >> right)
                                         : (uint32_t)(size << -right);
    return sign | (((uint32_t)(field - 1) << 23) + digits);
}

// sum 2^exponent in f16, rounded to the nearest one, or to the even one.
static inline uint32_t f16_of_sum(int64_t sum, int32_t exponent)
{
    const uint32_t sign = sum < 0 ? 0x8000 : 0;
    const uint64_t size = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
    if (!size)
        return 0;
    const int top = 63 - __builtin_clzll(size);
    int32_t field = exponent + top + 15;
    int right = top - 10;
    if (field < 1) {
        right += 1 - field;
        field = 1;
    }
    if (field > 30)
        return sign | 0x7c00;
    uint32_t digits;
    if (right <= 0) {
        digits = (uint32_t)(size << -right);
    } else if (right > 63) {
        digits = 0;
    } else {
        const uint64_t kept = size >> right, rest = size << (64 - right);
        const uint64_t half = UINT64_C(1) << 63;
        digits = (uint32_t)(kept + (rest > half || (rest == half && (kept & 1))));
    }
    return sign | (((uint32_t)(field - 1) << 10) + digits); // may carry into infinity
}

// One row of D, from one row of C.
static inline void add_row(const struct kn_op *op, const uint32_t *metadata,
                           const struct kn_matrix_shape *s, const struct rule *rule,
                           const struct numbers *m, int i, bool half, uint32_t *bits)
{
    enum { N = KN_MATRIX_COLUMNS };
    const int digits = rule->a.digits + rule->b.digits;
    int32_t rows[COLUMNS];
    for (int k = 0; k < s->stored; k++)
        rows[k] = kn_matrix_b_row(op, metadata, s, i, k);
    for (int first = 0; first < s->stored; first += rule->group) {
        int32_t most[N];
        int64_t sums[N];
        struct number c[N];
        const int c_digits = half ? 10 : 23;
        for (int j = 0; j < N; j++) {
            c[j] = number_of(bits[j], half ? F16 : F32);
            most[j] = c[j].exponent;
        }
        for (int k = first; k < first + rule->group; k++)
            for (int j = 0; j < N; j++) {
                const int32_t e = m->a_exponents[i][k] + m->b_exponents[rows[k]][j];
                most[j] = e > most[j] ? e : most[j];
            }
        for (int j = 0; j < N; j++)
            sums[j] = aligned(c[j].digits,
                              GUARD_BITS + c_digits - rule->fraction + most[j] - c[j].exponent);
        for (int k = first; k < first + rule->group; k++) {
            const int32_t *b = m->b_digits[rows[k]], *be = m->b_exponents[rows[k]];
            for (int j = 0; j < N; j++)
                sums[j] +=
                    aligned(m->a_digits[i][k] * b[j], GUARD_BITS + digits - rule->fraction +
                                                          most[j] - m->a_exponents[i][k] - be[j]);
        }
        for (int j = 0; j < N; j++)
            bits[j] = half ? f16_of_sum(sums[j], most[j] - rule->fraction)
                           : f32_of_sum(sums[j], most[j] - rule->fraction);
    }
}

// Replaces the results that have an infinity or a NaN among their summands.
static void add_specials(const struct kn_op *op, const uint32_t *metadata,
                         const struct kn_matrix_shape *s, const struct numbers *m, int i, bool half,
                         const uint32_t *c, uint32_t *bits)
{
    for (int j = 0; j < KN_MATRIX_COLUMNS; j++) {
        const struct number x = number_of(c[j], half ? F16 : F32);
        bool nan = x.special == NOT_A_NUMBER;
        bool infinite[2] = {x.special == INFINITE && !(c[j] >> (half ? 15 : 31) & 1),
                            x.special == INFINITE && (c[j] >> (half ? 15 : 31) & 1)};
        for (int k = 0; k < s->stored; k++) {
            const int row = kn_matrix_b_row(op, metadata, s, i, k);
            const int a = m->a_specials[i][k], b = m->b_specials[row][j];
            if (a == FINITE && b == FINITE)
                continue;
            nan |= a == NOT_A_NUMBER || b == NOT_A_NUMBER || (a == FINITE && !m->a_digits[i][k]) ||
                   (b == FINITE && !m->b_digits[row][j]);
            infinite[(m->a_digits[i][k] < 0) != (m->b_digits[row][j] < 0)] = true;
        }
        if (nan || (infinite[0] && infinite[1]))
            bits[j] = half ? 0x7fff : 0x7fffffff;
        else if (infinite[0] || infinite[1])
            bits[j] =
                (half ? 0x7c00u : 0x7f800000u) | (infinite[1] ? half ? 0x8000u : 0x80000000u : 0);
    }
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
    struct numbers m;
    uint32_t c[KN_MATRIX_ROWS][KN_MATRIX_COLUMNS] = {{0}}, d[KN_MATRIX_ROWS][KN_MATRIX_COLUMNS];
    const uint32_t mask = kn_mask_of(op, w), *metadata = kn_matrix_metadata(op, w, s);
    bool some_special = false;
    read_numbers(op, w, s, rule, &m);
    for (int r = 0; r < s->c; r++) {
        const uint32_t *words = register_of_c(op, w, s, true, r);
        for (int lane = 0; lane < KN_LANES; lane++) {
            const int row = lane >> 2, column = 2 * (lane & 3);
            if (half) {
                c[row + 8 * r][column] = words[lane] & 0xffff;
                c[row + 8 * r][column + 1] = words[lane] >> 16;
            } else {
                c[row + 8 * (r / 2)][column + r % 2] = words[lane];
            }
        }
    }
    memcpy(d, c, sizeof d);
    for (int i = 0; i < s->rows; i++) {
        add_row(op, metadata, s, rule, &m, i, half, d[i]);
        some_special = m.some_special;
        for (int j = 0; j < KN_MATRIX_COLUMNS; j++)
            some_special |=
                (c[i][j] & (half ? 0x7c00 : 0x7f800000)) == (half ? 0x7c00 : 0x7f800000);
        if (some_special)
            add_specials(op, metadata, s, &m, i, half, c[i], d[i]);
    }
    for (int r = 0; r < s->c; r++) {
        uint32_t *words = register_of_c(op, w, s, false, r);
        KN_EACH_OF(mask, lane)
        {
            const int row = lane >> 2, column = 2 * (lane & 3);
            words[lane] = half ? d[row + 8 * r][column] | d[row + 8 * r][column + 1] << 16
                               : d[row + 8 * (r / 2)][column + r % 2];
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

static const struct rule rule_f16 = {{10, 5, 0, true}, {10, 5, 0, true}, 8, 25};
static const struct rule rule_bf16 = {{7, 8, 0, true}, {7, 8, 0, true}, 8, 25};
static const struct rule rule_tf32 = {{10, 8, 13, true}, {10, 8, 13, true}, 4, 25};
static const struct rule rule_e4m3_e4m3 = {{3, 4, 0, false}, {3, 4, 0, false}, 16, 25};
static const struct rule rule_e4m3_e5m2 = {{3, 4, 0, false}, {2, 5, 0, true}, 16, 25};
static const struct rule rule_e5m2_e4m3 = {{2, 5, 0, true}, {3, 4, 0, false}, 16, 25};
static const struct rule rule_e5m2_e5m2 = {{2, 5, 0, true}, {2, 5, 0, true}, 16, 25};

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
