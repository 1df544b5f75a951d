// SPDX-License-Identifier: MIT
// Forms of floating-point minimum, maximum and properties (testp).
//
// "If one of the inputs is NaN, the result is the other input", or with .NaN the canonical NaN.
// "+0.0 > -0.0". .xorsign.abs: the minimum or maximum of the absolute values, with the exclusive or
// of the signs.
#include "half.inc.h"

#include "families.h"

// Each type compares integers whose order is that of its values: negative ones have their other
// bits inverted.
KN_INLINE int32_t kn_order16(uint32_t bits)
{
    const int32_t value = (int16_t)bits;
    return value ^ (int32_t)((uint32_t)(value >> 31) & 0x7fff);
}

KN_INLINE int32_t kn_order32(uint32_t bits)
{
    return (int32_t)(bits ^ ((uint32_t)((int32_t)bits >> 31) & 0x7fffffff));
}

KN_INLINE int64_t kn_order64(uint64_t bits)
{
    return (int64_t)(bits ^ ((uint64_t)((int64_t)bits >> 63) & 0x7fffffffffffffffu));
}

// NAME_select(a, b, which, nan_wins): `which` selects a. The type's infinity, NaN and sign:
#define SELECT(name, T, SIGN, INFINITE, NAN_BITS)                                                  \
    KN_INLINE T name(T a, T b, bool take_a, bool nan_wins)                                         \
    {                                                                                              \
        const bool nan_a = (a & (T)~SIGN) > INFINITE, nan_b = (b & (T)~SIGN) > INFINITE;           \
        const T number = nan_a ? b : nan_b ? a : take_a ? a : b;                                   \
        return ((nan_a & nan_b) | (nan_wins & (nan_a | nan_b))) ? NAN_BITS : number;               \
    }
SELECT(select_f16, uint16_t, 0x8000, 0x7c00, 0x7fff)
SELECT(select_bf16, uint16_t, 0x8000, 0x7f80, 0x7fff)
SELECT(select_f32, uint32_t, 0x80000000u, 0x7f800000u, 0x7fffffff)
// Of two NaNs of f64, the second one is the result.
SELECT(select_f64, uint64_t, 0x8000000000000000u, 0x7ff0000000000000u, b | KN_QUIET_F64)

#define MIN_MAX(type, T, ORDER, SIGN, INFINITE)                                                    \
    KN_INLINE T min_##type(T a, T b, bool nan_wins)                                                \
    {                                                                                              \
        return select_##type(a, b, ORDER(a) < ORDER(b), nan_wins);                                 \
    }                                                                                              \
    KN_INLINE T max_##type(T a, T b, bool nan_wins)                                                \
    {                                                                                              \
        return select_##type(a, b, ORDER(a) > ORDER(b), nan_wins);                                 \
    }                                                                                              \
    KN_INLINE T xorsign_##type(T a, T b, T value)                                                  \
    {                                                                                              \
        return value > INFINITE ? value : (T)(value | ((a ^ b) & SIGN));                           \
    }
MIN_MAX(f16, uint16_t, kn_order16, 0x8000, 0x7c00)
MIN_MAX(bf16, uint16_t, kn_order16, 0x8000, 0x7f80)
MIN_MAX(f32, uint32_t, kn_order32, 0x80000000u, 0x7f800000u)
MIN_MAX(f64, uint64_t, kn_order64, 0x8000000000000000u, 0x7ff0000000000000u)

#define SAME(x) (x)
#define FLUSH_F16(x) kn_f16_flush(x)
// For one value, and for the two halves of a register.
#define ONE(T, expression) (expression(a[i], b[i]))
#define PAIR(T, expression)                                                                        \
    ((uint32_t)expression((uint16_t)a[i], (uint16_t)b[i]) |                                        \
     (uint32_t)expression((uint16_t)(a[i] >> 16), (uint16_t)(b[i] >> 16)) << 16)

#define OPERATIONS(type, T, SIGN, suffix, FLUSH)                                                   \
    KN_INLINE T min_plain_##suffix(T a, T b)                                                       \
    {                                                                                              \
        return min_##type(FLUSH(a), FLUSH(b), false);                                              \
    }                                                                                              \
    KN_INLINE T max_plain_##suffix(T a, T b)                                                       \
    {                                                                                              \
        return max_##type(FLUSH(a), FLUSH(b), false);                                              \
    }                                                                                              \
    KN_INLINE T min_nan_##suffix(T a, T b)                                                         \
    {                                                                                              \
        return min_##type(FLUSH(a), FLUSH(b), true);                                               \
    }                                                                                              \
    KN_INLINE T max_nan_##suffix(T a, T b)                                                         \
    {                                                                                              \
        return max_##type(FLUSH(a), FLUSH(b), true);                                               \
    }                                                                                              \
    KN_INLINE T min_xor_##suffix(T a, T b)                                                         \
    {                                                                                              \
        return xorsign_##type(a, b, min_##type(FLUSH(a) & (T)~SIGN, FLUSH(b) & (T)~SIGN, false));  \
    }                                                                                              \
    KN_INLINE T max_xor_##suffix(T a, T b)                                                         \
    {                                                                                              \
        return xorsign_##type(a, b, max_##type(FLUSH(a) & (T)~SIGN, FLUSH(b) & (T)~SIGN, false));  \
    }                                                                                              \
    KN_INLINE T min_nanxor_##suffix(T a, T b)                                                      \
    {                                                                                              \
        return xorsign_##type(a, b, min_##type(FLUSH(a) & (T)~SIGN, FLUSH(b) & (T)~SIGN, true));   \
    }                                                                                              \
    KN_INLINE T max_nanxor_##suffix(T a, T b)                                                      \
    {                                                                                              \
        return xorsign_##type(a, b, max_##type(FLUSH(a) & (T)~SIGN, FLUSH(b) & (T)~SIGN, true));   \
    }
OPERATIONS(f16, uint16_t, 0x8000, f16, SAME)
OPERATIONS(f16, uint16_t, 0x8000, f16_ftz, FLUSH_F16)
OPERATIONS(bf16, uint16_t, 0x8000, bf16, SAME)
OPERATIONS(f32, uint32_t, 0x80000000u, f32, SAME)
OPERATIONS(f32, uint32_t, 0x80000000u, f32_ftz, kn_f32_flush)
OPERATIONS(f64, uint64_t, 0x8000000000000000u, f64, SAME)

#define FORMS_OF(operation, T, suffix, WIDTH, name)                                                \
    KN_CALLED2(min_##operation##_##name, T, T, T, WIDTH(T, min_##operation##_##suffix))            \
    KN_CALLED2(max_##operation##_##name, T, T, T, WIDTH(T, max_##operation##_##suffix))
#define FORMS(T, suffix, WIDTH, name)                                                              \
    FORMS_OF(plain, T, suffix, WIDTH, name)                                                        \
    FORMS_OF(nan, T, suffix, WIDTH, name)                                                          \
    FORMS_OF(xor, T, suffix, WIDTH, name)                                                          \
    FORMS_OF(nanxor, T, suffix, WIDTH, name)
FORMS(uint16_t, f16, ONE, f16)
FORMS(uint16_t, f16_ftz, ONE, f16_ftz)
FORMS(uint16_t, bf16, ONE, bf16)
FORMS(uint32_t, f16, PAIR, f16x2)
FORMS(uint32_t, f16_ftz, PAIR, f16x2_ftz)
FORMS(uint32_t, bf16, PAIR, bf16x2)
FORMS(uint32_t, f32, ONE, f32)
FORMS(uint32_t, f32_ftz, ONE, f32_ftz)
FORMS_OF(plain, uint64_t, f64, ONE, f64)

#define ROWS_OF(operation, text, operands, name, type)                                             \
    KN_ROW(min_##operation##_##name, "min" text type, operands),                                   \
        KN_ROW(max_##operation##_##name, "max" text type, operands)
#define ROWS(name, ftz, type, operands)                                                            \
    ROWS_OF(plain, ftz, operands, name, type), ROWS_OF(nan, ftz ".NaN", operands, name, type),     \
        ROWS_OF(xor, ftz ".xorsign.abs", operands, name, type),                                    \
        ROWS_OF(nanxor, ftz ".NaN.xorsign.abs", operands, name, type)

// testp: a predicate for each property. Zeros count as normal, as measured.
#define EXPONENT32 0x7f800000u
#define EXPONENT64 0x7ff0000000000000u
#define TESTP(name, T, expression) KN_PREDICATE1(name, T, expression)
#define TESTS(type, T, E)                                                                          \
    TESTP(finite_##type, T, (a[i] & E) != E)                                                       \
    TESTP(infinite_##type, T, a[i] << 1 == E << 1)                                                 \
    TESTP(number_##type, T, a[i] << 1 <= E << 1)                                                   \
    TESTP(nan_##type, T, a[i] << 1 > E << 1)                                                       \
    TESTP(normal_##type, T, ((a[i] & E) || !(a[i] << 1)) && (a[i] & E) != E)                       \
    TESTP(subnormal_##type, T, !(a[i] & E) && a[i] << 1)
TESTS(f32, uint32_t, EXPONENT32)
TESTS(f64, uint64_t, EXPONENT64)
#define TEST_ROWS(type, operands)                                                                  \
    KN_ROW(finite_##type, "testp.finite." #type, operands),                                        \
        KN_ROW(infinite_##type, "testp.infinite." #type, operands),                                \
        KN_ROW(number_##type, "testp.number." #type, operands),                                    \
        KN_ROW(nan_##type, "testp.notanumber." #type, operands),                                   \
        KN_ROW(normal_##type, "testp.normal." #type, operands),                                    \
        KN_ROW(subnormal_##type, "testp.subnormal." #type, operands)

const struct kn_form KN_FAMILY(float_minmax)[] = {
    ROWS(f16, "", ".f16", "h=hh"),
    ROWS(f16_ftz, ".ftz", ".f16", "h=hh"),
    ROWS(bf16, "", ".bf16", "h=hh"),
    ROWS(f16x2, "", ".f16x2", "w=ww"),
    ROWS(f16x2_ftz, ".ftz", ".f16x2", "w=ww"),
    ROWS(bf16x2, "", ".bf16x2", "w=ww"),
    ROWS(f32, "", ".f32", "w=ww"),
    ROWS(f32_ftz, ".ftz", ".f32", "w=ww"),
    ROWS_OF(plain, "", "l=ll", f64, ".f64"),
    TEST_ROWS(f32, "p=w"),
    TEST_ROWS(f64, "p=l"),
    {0},
};
