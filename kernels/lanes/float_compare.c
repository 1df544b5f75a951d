// SPDX-License-Identifier: MIT
// Forms of floating-point comparison. For two values in a register a form has two predicates.
//
// "eq, ne, lt, le, gt, ge: if either operand is NaN, the result is false. equ, neu, ltu …: if
// either operand is NaN, the result is true. num: both are numbers; nan: either is NaN."
#include "half.inc.h"

#include "families.h"

#define IS_eq(x, y) ((x) == (y))
#define IS_ne(x, y) ((x) < (y) || (x) > (y))
#define IS_lt(x, y) ((x) < (y))
#define IS_le(x, y) ((x) <= (y))
#define IS_gt(x, y) ((x) > (y))
#define IS_ge(x, y) ((x) >= (y))
#define IS_equ(x, y) (!IS_ne(x, y))
#define IS_neu(x, y) ((x) != (y))
#define IS_ltu(x, y) (!IS_ge(x, y))
#define IS_leu(x, y) (!IS_gt(x, y))
#define IS_gtu(x, y) (!IS_le(x, y))
#define IS_geu(x, y) (!IS_lt(x, y))
#define IS_num(x, y) ((x) == (x) && (y) == (y))
#define IS_nan(x, y) ((x) != (x) || (y) != (y))
#define EACH_COMPARISON(X, ...)                                                                    \
    X(eq, __VA_ARGS__)                                                                             \
    X(ne, __VA_ARGS__)                                                                             \
    X(lt, __VA_ARGS__)                                                                             \
    X(le, __VA_ARGS__)                                                                             \
    X(gt, __VA_ARGS__)                                                                             \
    X(ge, __VA_ARGS__)                                                                             \
    X(equ, __VA_ARGS__)                                                                            \
    X(neu, __VA_ARGS__)                                                                            \
    X(ltu, __VA_ARGS__)                                                                            \
    X(leu, __VA_ARGS__)                                                                            \
    X(gtu, __VA_ARGS__)                                                                            \
    X(geu, __VA_ARGS__)                                                                            \
    X(num, __VA_ARGS__)                                                                            \
    X(nan, __VA_ARGS__)

#define F32(x) kn_f32(x)
#define F32_FTZ(x) kn_f32(kn_f32_flush(x))
#define F64(x) kn_f64(x)
#define F16(x) kn_f16_value(x)
#define F16_FTZ(x) kn_f16_value(kn_f16_flush((uint16_t)(x)))
#define BF16(x) kn_bf16_value(x)

#define ONE(is, name, T, VALUE) KN_PREDICATE2(is##_##name, T, T, IS_##is(VALUE(a[i]), VALUE(b[i])))
EACH_COMPARISON(ONE, f32, uint32_t, F32)
EACH_COMPARISON(ONE, f32_ftz, uint32_t, F32_FTZ)
EACH_COMPARISON(ONE, f64, uint64_t, F64)
EACH_COMPARISON(ONE, f16, uint16_t, F16)
EACH_COMPARISON(ONE, f16_ftz, uint16_t, F16_FTZ)
EACH_COMPARISON(ONE, bf16, uint16_t, BF16)

// The second predicate is of the upper halves.
#define LOW(x) ((x)[i] & 0xffffu)
#define HIGH(x) ((x)[i] >> 16)
#define PAIR(is, name, VALUE)                                                                      \
    static void is##_##name##_bits(const struct kn_op *op, struct kn_warp *w, uint32_t mask)       \
    {                                                                                              \
        const uint32_t *a = KN_REGISTER(uint32_t, op->a), *b = KN_REGISTER(uint32_t, op->b);       \
        uint32_t low = 0, high = 0;                                                                \
        KN_EACH_LANE                                                                               \
        {                                                                                          \
            low |= (uint32_t)IS_##is(VALUE(LOW(a)), VALUE(LOW(b))) << i;                           \
            high |= (uint32_t)IS_##is(VALUE(HIGH(a)), VALUE(HIGH(b))) << i;                        \
        }                                                                                          \
        uint32_t *d = &KN_PREDICATE(op->d), *e = &KN_PREDICATE(op->more[0]);                       \
        *d = (low & mask) | (*d & ~mask);                                                          \
        *e = (high & mask) | (*e & ~mask);                                                         \
    }                                                                                              \
    KN_OPERATION(is##_##name##_all)                                                                \
    {                                                                                              \
        is##_##name##_bits(op, w, UINT32_MAX);                                                     \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(is##_##name##_some)                                                               \
    {                                                                                              \
        is##_##name##_bits(op, w, kn_mask_of(op, w));                                              \
        KN_NEXT;                                                                                   \
    }
EACH_COMPARISON(PAIR, f16x2, F16)
EACH_COMPARISON(PAIR, f16x2_ftz, F16_FTZ)
EACH_COMPARISON(PAIR, bf16x2, BF16)

#define ROW(is, name, text, operands) KN_ROW(is##_##name, "setp." #is text, operands),

const struct kn_form KN_FAMILY(float_compare)[] = {
    EACH_COMPARISON(ROW, f32, ".f32", "p=ww") EACH_COMPARISON(ROW, f32_ftz, ".ftz.f32", "p=ww")
        EACH_COMPARISON(ROW, f64, ".f64", "p=ll") EACH_COMPARISON(ROW, f16, ".f16", "p=hh")
            EACH_COMPARISON(ROW, f16_ftz, ".ftz.f16", "p=hh")
                EACH_COMPARISON(ROW, bf16, ".bf16", "p=hh")
                    EACH_COMPARISON(ROW, f16x2, ".f16x2", "pp=ww")
                        EACH_COMPARISON(ROW, f16x2_ftz, ".ftz.f16x2", "pp=ww")
                            EACH_COMPARISON(ROW, bf16x2, ".bf16x2", "pp=ww"){0},
};
