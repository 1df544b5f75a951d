// SPDX-License-Identifier: MIT
// Forms of integer arithmetic: sums, differences, products of one width, least and greatest values.
#include "lanes.inc.h"

#include "families.h"

#define WRAP(bits)                                                                                 \
    KN_FORM2(add_##bits, uint##bits##_t, uint##bits##_t, uint##bits##_t, a[i] + b[i])              \
    KN_FORM2(sub_##bits, uint##bits##_t, uint##bits##_t, uint##bits##_t, a[i] - b[i])              \
    KN_FORM2(mul_##bits, uint##bits##_t, uint##bits##_t, uint##bits##_t, (uint64_t)a[i] * b[i])    \
    KN_FORM3(mad_##bits, uint##bits##_t, uint##bits##_t, uint##bits##_t, uint##bits##_t,           \
             (uint64_t)a[i] * b[i] + c[i])                                                         \
    KN_FORM1(neg_##bits, uint##bits##_t, uint##bits##_t, 0 - a[i])                                 \
    KN_FORM1(abs_##bits, uint##bits##_t, int##bits##_t,                                            \
             a[i] < 0 ? 0 - (uint##bits##_t)a[i] : (uint##bits##_t)a[i])
WRAP(16)
WRAP(32)
WRAP(64)

#define ORDER(s, T)                                                                                \
    KN_FORM2(min_##s, T, T, T, a[i] < b[i] ? a[i] : b[i])                                          \
    KN_FORM2(max_##s, T, T, T, a[i] > b[i] ? a[i] : b[i])
ORDER(u32, uint32_t)
ORDER(s32, int32_t)
ORDER(u64, uint64_t)
ORDER(s64, int64_t)

// 16 bits: with the upper bit flipped, unsigned values are ordered as signed ones and the other way
// round. gcc 12 for AVX-512 fails on a masked minimum of two values in memory.
#define FLIP(T, x) ((T)((x) ^ 0x8000))
#define FLIPPED(s, T, F)                                                                           \
    KN_FORM2(min_##s, T, T, T, FLIP(F, a[i]) < FLIP(F, b[i]) ? a[i] : b[i])                        \
    KN_FORM2(max_##s, T, T, T, FLIP(F, a[i]) > FLIP(F, b[i]) ? a[i] : b[i])
FLIPPED(u16, uint16_t, int16_t)
FLIPPED(s16, int16_t, uint16_t)

// sad: "c + ((a < b) ? b − a : a − b)"
#define DISTANCE(s, T, U)                                                                          \
    KN_FORM3(sad_##s, U, T, T, U,                                                                  \
             (U)(c[i] + (a[i] < b[i] ? (U)((U)b[i] - (U)a[i]) : (U)((U)a[i] - (U)b[i]))))
DISTANCE(u16, uint16_t, uint16_t)
DISTANCE(s16, int16_t, uint16_t)
DISTANCE(u32, uint32_t, uint32_t)
DISTANCE(s32, int32_t, uint32_t)
DISTANCE(u64, uint64_t, uint64_t)
DISTANCE(s64, int64_t, uint64_t)

// Saturation by signs: a sum overflows if both operands have the sign that the sum has not.
static inline int32_t add_sat(int32_t a, int32_t b)
{
    const uint32_t sum = (uint32_t)a + (uint32_t)b;
    const uint32_t over = ((uint32_t)a ^ sum) & ((uint32_t)b ^ sum);
    return (int32_t)over < 0 ? (int32_t)((uint32_t)(a >> 31) ^ INT32_MAX) : (int32_t)sum;
}

static inline int32_t sub_sat(int32_t a, int32_t b)
{
    const uint32_t difference = (uint32_t)a - (uint32_t)b;
    const uint32_t over = (uint32_t)(a ^ b) & ((uint32_t)a ^ difference);
    return (int32_t)over < 0 ? (int32_t)((uint32_t)(a >> 31) ^ INT32_MAX) : (int32_t)difference;
}

KN_FORM2(add_sat_s32, int32_t, int32_t, int32_t, add_sat(a[i], b[i]))
KN_FORM2(sub_sat_s32, int32_t, int32_t, int32_t, sub_sat(a[i], b[i]))

// .relu: "clamps the result to 0 if negative".
#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define GREATEST(a, b) ((a) > (b) ? (a) : (b))
KN_FORM2(min_relu_s32, int32_t, int32_t, int32_t, GREATEST(LEAST(a[i], b[i]), 0))
KN_FORM2(max_relu_s32, int32_t, int32_t, int32_t, GREATEST(GREATEST(a[i], b[i]), 0))

// Two values of 16 bits in each register of 32.
#define PACKED(name, T, f)                                                                         \
    static inline void name##_halves(T *d, const T *a, const T *b)                                 \
    {                                                                                              \
        KN_EACH_HALF                                                                               \
        d[i] = (T)f(a[i], b[i]);                                                                   \
    }                                                                                              \
    KN_OPERATION(name##_all)                                                                       \
    {                                                                                              \
        name##_halves(KN_REGISTER(T, op->d), KN_REGISTER(T, op->a), KN_REGISTER(T, op->b));        \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(name##_some)                                                                      \
    {                                                                                              \
        uint32_t *d = KN_REGISTER(uint32_t, op->d);                                                \
        const int32_t *on = kn_lanes_of(op, w);                                                    \
        _Alignas(64) uint32_t value[KN_LANES];                                                     \
        name##_halves((T *)value, KN_REGISTER(T, op->a), KN_REGISTER(T, op->b));                   \
        KN_EACH_LANE                                                                               \
        d[i] = on[i] ? value[i] : d[i];                                                            \
        KN_NEXT;                                                                                   \
    }
#define SUM(a, b) ((a) + (b))
#define LEAST_RELU(a, b) GREATEST(LEAST(a, b), 0)
#define GREATEST_RELU(a, b) GREATEST(GREATEST(a, b), 0)
PACKED(add_16x2, uint16_t, SUM)
PACKED(min_u16x2, uint16_t, LEAST)
PACKED(max_u16x2, uint16_t, GREATEST)
PACKED(min_s16x2, int16_t, LEAST)
PACKED(max_s16x2, int16_t, GREATEST)
PACKED(min_relu_s16x2, int16_t, LEAST_RELU)
PACKED(max_relu_s16x2, int16_t, GREATEST_RELU)

#define WRAP_ROWS(bits, l)                                                                         \
    KN_ROW(add_##bits, "add." #bits, l "=" l l), KN_ROW(sub_##bits, "sub." #bits, l "=" l l),      \
        KN_ROW(mul_##bits, "mul.lo." #bits, l "=" l l),                                            \
        KN_ROW(mad_##bits, "mad.lo." #bits, l "=" l l l),                                          \
        KN_ROW(neg_##bits, "neg." #bits, l "=" l), KN_ROW(abs_##bits, "abs.s" #bits, l "=" l)
#define ORDER_ROWS(s, l)                                                                           \
    KN_ROW(min_##s, "min." #s, l "=" l l), KN_ROW(max_##s, "max." #s, l "=" l l),                  \
        KN_ROW(sad_##s, "sad." #s, l "=" l l l)

const struct kn_form KN_FAMILY(integer)[] = {
    WRAP_ROWS(16, "h"),
    WRAP_ROWS(32, "w"),
    WRAP_ROWS(64, "l"),
    ORDER_ROWS(u16, "h"),
    ORDER_ROWS(s16, "h"),
    ORDER_ROWS(u32, "w"),
    ORDER_ROWS(s32, "w"),
    ORDER_ROWS(u64, "l"),
    ORDER_ROWS(s64, "l"),
    KN_ROW(add_sat_s32, "add.sat.s32", "w=ww"),
    KN_ROW(sub_sat_s32, "sub.sat.s32", "w=ww"),
    KN_ROW(min_relu_s32, "min.relu.s32", "w=ww"),
    KN_ROW(max_relu_s32, "max.relu.s32", "w=ww"),
    KN_ROW(add_16x2, "add.16x2", "w=ww"),
    KN_ROW(min_u16x2, "min.u16x2", "w=ww"),
    KN_ROW(max_u16x2, "max.u16x2", "w=ww"),
    KN_ROW(min_s16x2, "min.s16x2", "w=ww"),
    KN_ROW(max_s16x2, "max.s16x2", "w=ww"),
    KN_ROW(min_relu_s16x2, "min.relu.s16x2", "w=ww"),
    KN_ROW(max_relu_s16x2, "max.relu.s16x2", "w=ww"),
    {0},
};
