// SPDX-License-Identifier: MIT
// Forms that compare integers, and forms that select by a predicate or by a sign.
#include "lanes.inc.h"

#include "families.h"

#include <stddef.h>

// name_bits: a predicate, bit i of which says how a[i] and b[i] compare. (Compilers do not find the
// instructions that write a mask.)
#if defined(__AVX512BW__)
#define COMPARE_BITS(name, bits, A, condition, instruction)                                        \
    static inline uint32_t name##_bits(const struct kn_op *op, const struct kn_warp *w)            \
    {                                                                                              \
        enum { EACH = 512 / bits };                                                                \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        const A *b = KN_REGISTER(A, op->b);                                                        \
        uint32_t all = 0;                                                                          \
        for (int i = 0; i < KN_LANES; i += EACH)                                                   \
            all |= (uint32_t)instruction(_mm512_load_si512(a + i), _mm512_load_si512(b + i)) << i; \
        return all;                                                                                \
    }
#else
#define COMPARE_BITS(name, bits, A, condition, instruction)                                        \
    static inline uint32_t name##_bits(const struct kn_op *op, const struct kn_warp *w)            \
    {                                                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        const A *b = KN_REGISTER(A, op->b);                                                        \
        const int##bits##_t yes = -1, no = 0;                                                      \
        _Alignas(64) int##bits##_t lanes[KN_LANES];                                                \
        KN_EACH_LANE                                                                               \
        lanes[i] = (condition) ? yes : no;                                                         \
        return kn_bits_##bits(lanes);                                                              \
    }
#endif
#define COMPARISON_FORMS(name)                                                                     \
    KN_OPERATION(name##_all)                                                                       \
    {                                                                                              \
        KN_PREDICATE(op->d) = name##_bits(op, w);                                                  \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(name##_some)                                                                      \
    {                                                                                              \
        kn_predicate_set(op, w, op->d, name##_bits(op, w));                                        \
        KN_NEXT;                                                                                   \
    }
#define COMPARISON(name, bits, A, condition, instruction)                                          \
    COMPARE_BITS(name, bits, A, condition, instruction)                                            \
    COMPARISON_FORMS(name)

// The other comparisons are these with their operands exchanged.
#define COMPARE(bits)                                                                              \
    COMPARISON(setp_eq_##bits, bits, uint##bits##_t, a[i] == b[i], _mm512_cmpeq_epi##bits##_mask)  \
    COMPARISON(setp_ne_##bits, bits, uint##bits##_t, a[i] != b[i], _mm512_cmpneq_epi##bits##_mask) \
    COMPARISON(setp_lt_u##bits, bits, uint##bits##_t, a[i] < b[i], _mm512_cmplt_epu##bits##_mask)  \
    COMPARISON(setp_le_u##bits, bits, uint##bits##_t, a[i] <= b[i], _mm512_cmple_epu##bits##_mask) \
    COMPARISON(setp_lt_s##bits, bits, int##bits##_t, a[i] < b[i], _mm512_cmplt_epi##bits##_mask)   \
    COMPARISON(setp_le_s##bits, bits, int##bits##_t, a[i] <= b[i], _mm512_cmple_epi##bits##_mask)
COMPARE(16)
COMPARE(32)
COMPARE(64)

// The same with a constant of 32 bits in place of b: kn_op.i.
#if defined(__AVX512BW__)
#define COMPARE_CONSTANT_BITS(name, A, condition, instruction)                                     \
    static inline uint32_t name##_bits(const struct kn_op *op, const struct kn_warp *w)            \
    {                                                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        const __m512i b = _mm512_set1_epi32((int)op->i);                                           \
        return (uint32_t)instruction(_mm512_load_si512(a), b) |                                    \
               (uint32_t)instruction(_mm512_load_si512(a + 16), b) << 16;                          \
    }
#else
#define COMPARE_CONSTANT_BITS(name, A, condition, instruction)                                     \
    static inline uint32_t name##_bits(const struct kn_op *op, const struct kn_warp *w)            \
    {                                                                                              \
        const A *a = KN_REGISTER(A, op->a), b = (A)op->i;                                          \
        const int32_t yes = -1, no = 0;                                                            \
        _Alignas(64) int32_t lanes[KN_LANES];                                                      \
        KN_EACH_LANE                                                                               \
        lanes[i] = (condition) ? yes : no;                                                         \
        return kn_bits_32(lanes);                                                                  \
    }
#endif
#define COMPARISON_CONSTANT(name, A, condition, instruction)                                       \
    COMPARE_CONSTANT_BITS(name, A, condition, instruction)                                         \
    COMPARISON_FORMS(name)
COMPARISON_CONSTANT(setp_eq_32_constant, uint32_t, a[i] == b, _mm512_cmpeq_epi32_mask)
COMPARISON_CONSTANT(setp_ne_32_constant, uint32_t, a[i] != b, _mm512_cmpneq_epi32_mask)
#define COMPARE_CONSTANT(s, A, suffix)                                                             \
    COMPARISON_CONSTANT(setp_lt_##s##_constant, A, a[i] < b, _mm512_cmplt_##suffix##_mask)         \
    COMPARISON_CONSTANT(setp_le_##s##_constant, A, a[i] <= b, _mm512_cmple_##suffix##_mask)        \
    COMPARISON_CONSTANT(setp_gt_##s##_constant, A, a[i] > b, _mm512_cmpgt_##suffix##_mask)         \
    COMPARISON_CONSTANT(setp_ge_##s##_constant, A, a[i] >= b, _mm512_cmpge_##suffix##_mask)
COMPARE_CONSTANT(u32, uint32_t, epu32)
COMPARE_CONSTANT(s32, int32_t, epi32)

// selp: d = predicate c ? a : b.
#define SELECT(bits, chosen_bits)                                                                  \
    KN_INLINE void selp_##bits##_lanes(const struct kn_op *op, struct kn_warp *w,                  \
                                       const int32_t *on)                                          \
    {                                                                                              \
        uint##bits##_t *d = KN_REGISTER(uint##bits##_t, op->d);                                    \
        const uint##bits##_t *a = KN_REGISTER(uint##bits##_t, op->a);                              \
        const uint##bits##_t *b = KN_REGISTER(uint##bits##_t, op->b);                              \
        const chosen_bits chosen = KN_PREDICATE(op->c);                                            \
        KN_EACH_LANE                                                                               \
        {                                                                                          \
            const uint##bits##_t yes = a[i], no = b[i];                                            \
            const uint##bits##_t value = chosen & (chosen_bits)1 << i ? yes : no;                  \
            d[i] = !on || on[i] ? value : d[i];                                                    \
        }                                                                                          \
    }                                                                                              \
    KN_OPERATION(selp_##bits##_all)                                                                \
    {                                                                                              \
        selp_##bits##_lanes(op, w, NULL);                                                          \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(selp_##bits##_some)                                                               \
    {                                                                                              \
        selp_##bits##_lanes(op, w, kn_lanes_of(op, w));                                            \
        KN_NEXT;                                                                                   \
    }
SELECT(16, uint32_t)
SELECT(32, uint32_t)
SELECT(64, uint64_t)

// "slct: If c ≥ 0, a is selected, otherwise b." (With a c of f32, it is a comparison and selp.)
#define CHOOSE(bits)                                                                               \
    KN_FORM3(slct_##bits##_s32, uint##bits##_t, uint##bits##_t, uint##bits##_t, int32_t,           \
             c[i] >= 0 ? a[i] : b[i])
CHOOSE(16)
CHOOSE(32)
CHOOSE(64)

#define ROWS(bits, l)                                                                              \
    KN_ROW(setp_eq_##bits, "setp.eq." #bits, "p=" l l),                                            \
        KN_ROW(setp_ne_##bits, "setp.ne." #bits, "p=" l l),                                        \
        KN_ROW(setp_lt_u##bits, "setp.lt.u" #bits, "p=" l l),                                      \
        KN_ROW(setp_le_u##bits, "setp.le.u" #bits, "p=" l l),                                      \
        KN_ROW(setp_lt_s##bits, "setp.lt.s" #bits, "p=" l l),                                      \
        KN_ROW(setp_le_s##bits, "setp.le.s" #bits, "p=" l l),                                      \
        KN_ROW(selp_##bits, "selp." #bits, l "=" l l "p"),                                         \
        KN_ROW(slct_##bits##_s32, "slct." #bits ".s32", l "=" l l "w")

#define CONSTANT_ROWS(s)                                                                           \
    KN_ROW(setp_lt_##s##_constant, "setp.lt." #s ".constant", "p=wi"),                             \
        KN_ROW(setp_le_##s##_constant, "setp.le." #s ".constant", "p=wi"),                         \
        KN_ROW(setp_gt_##s##_constant, "setp.gt." #s ".constant", "p=wi"),                         \
        KN_ROW(setp_ge_##s##_constant, "setp.ge." #s ".constant", "p=wi")

const struct kn_form KN_FAMILY(compare)[] = {
    ROWS(16, "h"),
    ROWS(32, "w"),
    ROWS(64, "l"),
    KN_ROW(setp_eq_32_constant, "setp.eq.32.constant", "p=wi"),
    KN_ROW(setp_ne_32_constant, "setp.ne.32.constant", "p=wi"),
    CONSTANT_ROWS(u32),
    CONSTANT_ROWS(s32),
    {0},
};
