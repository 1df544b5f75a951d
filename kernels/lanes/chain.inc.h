// SPDX-License-Identifier: MIT
// For links of chains (kn_chain.h): the value of a chain as the parameters of a function, and the
// macros that write a link once for every place of its operands.
#pragma once

#include "float.inc.h"

#include "kn_abreast.h"
#include "kn_chain.h"

// The tables of links; each ends with a row without a form.
#pragma GCC visibility push(hidden)
extern const struct kn_chain KN_JOIN(kn_chains_arithmetic, KN_SET)[];
extern const struct kn_chain KN_JOIN(kn_chains_approx, KN_SET)[];
extern const struct kn_chain KN_JOIN(kn_chains_row, KN_SET)[];
extern const struct kn_abreast KN_JOIN(kn_abreast_arithmetic, KN_SET)[];
extern const struct kn_abreast KN_JOIN(kn_abreast_memory, KN_SET)[];
#pragma GCC visibility pop

// Values are passed on only if a call of the next operation is a jump, in as many vectors as the
// processor's calling convention has registers for.
#if defined(KN_TAIL_CALLS) && defined(__AVX512DQ__)
#define KN_HAVE_CHAINS 1
enum { KN_PARTS = 2 };
#define KN_VALUE v0, v1
#elif defined(KN_TAIL_CALLS) && defined(__AVX2__)
#define KN_HAVE_CHAINS 1
enum { KN_PARTS = 4 };
#define KN_VALUE v0, v1, v2, v3
#elif defined(KN_TAIL_CALLS) && defined(__aarch64__)
#define KN_HAVE_CHAINS 1
enum { KN_PARTS = 8 };
#define KN_VALUE v0, v1, v2, v3, v4, v5, v6, v7
#else
#define KN_HAVE_CHAINS 0
#endif

#if KN_HAVE_CHAINS
enum { KN_PART_B = KN_LANES * sizeof(uint32_t) / KN_PARTS };
typedef uint32_t kn_bits __attribute__((vector_size(KN_PART_B), may_alias));
typedef float kn_floats __attribute__((vector_size(KN_PART_B), may_alias));

#if defined(__AVX512DQ__)
#define KN_VALUE_PARAMETERS kn_bits v0, kn_bits v1
#define KN_VALUE_OF(v) (v)[0], (v)[1]
#elif defined(__AVX2__)
#define KN_VALUE_PARAMETERS kn_bits v0, kn_bits v1, kn_bits v2, kn_bits v3
#define KN_VALUE_OF(v) (v)[0], (v)[1], (v)[2], (v)[3]
#else
#define KN_VALUE_PARAMETERS                                                                        \
    kn_bits v0, kn_bits v1, kn_bits v2, kn_bits v3, kn_bits v4, kn_bits v5, kn_bits v6, kn_bits v7
#define KN_VALUE_OF(v) (v)[0], (v)[1], (v)[2], (v)[3], (v)[4], (v)[5], (v)[6], (v)[7]
#endif

typedef const struct kn_op *kn_link_fn(const struct kn_op *op, struct kn_warp *w,
                                       KN_VALUE_PARAMETERS);
typedef void kn_any_fn(void);
// Stored as kn_lane_fn, and called as what it is.
#define KN_LINK(name) ((kn_lane_fn *)(kn_any_fn *)(name))

#define KN_EACH_PART _Pragma("GCC unroll 8") for (int p = 0; p < KN_PARTS; p++)

// ---- arithmetic ----

KN_INLINE kn_floats kn_fma_parts(kn_bits a, kn_bits b, kn_bits c)
{
#if defined(__AVX512DQ__)
    return (kn_floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX2__)
    return (kn_floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    kn_floats x = (kn_floats)c;
    __asm__("fmla %0.4s, %1.4s, %2.4s" : "+w"(x) : "w"(a), "w"(b));
    return x;
#endif
}

// A result, or the card's NaN.
KN_INLINE kn_bits kn_result_parts(kn_bits value)
{
#if defined(__AVX512DQ__)
    const __m512 x = (__m512)value;
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    return (kn_bits)_mm512_mask_mov_epi32((__m512i)value, nan, _mm512_set1_epi32(KN_NAN_F32));
#else
    const kn_floats x = (kn_floats)value;
    const kn_bits nan = (kn_bits)(x != x);
    return (value & ~nan) | (nan & KN_NAN_F32);
#endif
}

// ---- links ----

// Part of a register in a register file.
KN_INLINE kn_bits kn_part(const char *r, uint32_t at, int p)
{
    return *(const kn_bits *)(const void *)(r + at + p * KN_PART_B);
}

// Stores a result, in the active lanes only.
KN_INLINE void kn_put_parts(const struct kn_warp *w, uint32_t at, const kn_bits *result)
{
    kn_bits *to = (kn_bits *)(void *)(w->r + at);
    if (__builtin_expect(!w->partial, 1)) {
        KN_EACH_PART
        to[p] = result[p];
        return;
    }
    KN_EACH_PART
    {
        const kn_bits on = ((const kn_bits *)(const void *)w->active_lanes)[p];
        to[p] = (result[p] & on) | (to[p] & ~on);
    }
}

// Goes on with the next operation, for which the same lanes are active.
KN_INLINE const struct kn_op *kn_link_next(const struct kn_op *op, struct kn_warp *w,
                                           const kn_bits *value, enum kn_link link)
{
    const struct kn_op *next = op + 1;
    if (link == KN_LINK_STORE)
        return next->run[w->partial](next, w);
    return ((kn_link_fn *)(kn_any_fn *)next->run[0])(next, w, KN_VALUE_OF(value));
}

// name_link computes `expression` of a, b and c, which are bits. `in` are the sources that are the
// value. A result that is stored is fixed by `fix`.
#define KN_LINK_BODY(name, sources, fix, expression)                                               \
    KN_INLINE const struct kn_op *name##_link(const struct kn_op *op, struct kn_warp *w,           \
                                              const kn_bits *value, const unsigned in,             \
                                              const enum kn_link link)                             \
    {                                                                                              \
        kn_bits result[KN_PARTS];                                                                  \
        KN_EACH_PART                                                                               \
        {                                                                                          \
            const kn_bits a = in & 1 ? value[p] : kn_part(w->r, op->a, p);                         \
            const kn_bits b = sources < 2 ? a : in & 2 ? value[p] : kn_part(w->r, op->b, p);       \
            const kn_bits c = sources < 3 ? a : in & 4 ? value[p] : kn_part(w->r, op->c, p);       \
            (void)b;                                                                               \
            (void)c;                                                                               \
            result[p] = (kn_bits)(expression);                                                     \
        }                                                                                          \
        if (link != KN_LINK_PASS) {                                                                \
            kn_bits fixed[KN_PARTS];                                                               \
            KN_EACH_PART                                                                           \
            fixed[p] = fix(result[p]);                                                             \
            kn_put_parts(w, op->d, fixed);                                                         \
        }                                                                                          \
        return kn_link_next(op, w, link == KN_LINK_KEEP ? value : result, link);                   \
    }
// The same for warps abreast, without a chain.
#define KN_ABREAST_BODY(name, sources, fix, expression)                                            \
    static bool name##_abreast(const struct kn_op *op, struct kn_warp *w, uint32_t warps,          \
                               uint32_t file_B)                                                    \
    {                                                                                              \
        const uint32_t at_d = op->d, at_a = op->a, at_b = op->b, at_c = op->c;                     \
        for (char *r = w->r; warps--; r += file_B)                                                 \
            KN_EACH_PART                                                                           \
            {                                                                                      \
                const kn_bits a = kn_part(r, at_a, p);                                             \
                const kn_bits b = sources < 2 ? a : kn_part(r, at_b, p);                           \
                const kn_bits c = sources < 3 ? a : kn_part(r, at_c, p);                           \
                (void)b;                                                                           \
                (void)c;                                                                           \
                ((kn_bits *)(void *)(r + at_d))[p] = fix((kn_bits)(expression));                   \
            }                                                                                      \
        return true;                                                                               \
    }
#define KN_UNFIXED(value) (value)

// The functions of a link: those that have a value before, and those that begin a chain.
#define KN_LINK_IN(name, in, link)                                                                 \
    static const struct kn_op *name##_##in##_##link(const struct kn_op *op, struct kn_warp *w,     \
                                                    KN_VALUE_PARAMETERS)                           \
    {                                                                                              \
        const kn_bits value[KN_PARTS] = {KN_VALUE};                                                \
        return name##_link(op, w, value, in, KN_LINK_##link);                                      \
    }
#define KN_LINK_FIRST(name, link)                                                                  \
    static const struct kn_op *name##_0_##link(const struct kn_op *op, struct kn_warp *w)          \
    {                                                                                              \
        return name##_link(op, w, NULL, 0, KN_LINK_##link);                                        \
    }
#define KN_LINK_EACH(name, in)                                                                     \
    KN_LINK_IN(name, in, STORE)                                                                    \
    KN_LINK_IN(name, in, PASS)                                                                     \
    KN_LINK_IN(name, in, BOTH)                                                                     \
    KN_LINK_IN(name, in, KEEP)
#define KN_LINKS_1(name)                                                                           \
    KN_LINK_FIRST(name, PASS)                                                                      \
    KN_LINK_FIRST(name, BOTH)                                                                      \
    KN_LINK_IN(name, 0, KEEP)                                                                      \
    KN_LINK_EACH(name, 1)
#define KN_LINKS_2(name)                                                                           \
    KN_LINKS_1(name)                                                                               \
    KN_LINK_EACH(name, 2)                                                                          \
    KN_LINK_EACH(name, 3)
#define KN_LINKS_3(name)                                                                           \
    KN_LINKS_2(name)                                                                               \
    KN_LINK_EACH(name, 4)                                                                          \
    KN_LINK_EACH(name, 5)                                                                          \
    KN_LINK_EACH(name, 6)                                                                          \
    KN_LINK_EACH(name, 7)

// A form of one source that a function computes for all lanes: function(d, a, scratch). It cannot
// keep a value.
#define KN_LINK_CALLED(name, function)                                                             \
    KN_INLINE const struct kn_op *name##_link(const struct kn_op *op, struct kn_warp *w,           \
                                              const kn_bits *value, const unsigned in,             \
                                              const enum kn_link link)                             \
    {                                                                                              \
        uint32_t *const a = in ? (uint32_t *)w->addresses : KN_REGISTER(uint32_t, op->a);          \
        uint32_t *const d = (uint32_t *)w->addresses + KN_LANES;                                   \
        kn_bits result[KN_PARTS];                                                                  \
        if (in)                                                                                    \
            KN_EACH_PART((kn_bits *)(void *)a)[p] = value[p];                                      \
        function(d, a, (uint32_t *)w->guard_lanes);                                                \
        KN_EACH_PART                                                                               \
        result[p] = ((const kn_bits *)(const void *)d)[p];                                         \
        if (link != KN_LINK_PASS)                                                                  \
            kn_put_parts(w, op->d, result);                                                        \
        return kn_link_next(op, w, result, link);                                                  \
    }                                                                                              \
    KN_LINK_FIRST(name, PASS)                                                                      \
    KN_LINK_FIRST(name, BOTH)                                                                      \
    KN_LINK_IN(name, 1, STORE)                                                                     \
    KN_LINK_IN(name, 1, PASS)                                                                      \
    KN_LINK_IN(name, 1, BOTH)

#define KN_LINK_ROW_1(name, link, first)                                                           \
    {                                                                                              \
        first, KN_LINK(name##_1_##link)                                                            \
    }
#define KN_LINK_ROW_2(name, link, first)                                                           \
    {                                                                                              \
        first, KN_LINK(name##_1_##link), KN_LINK(name##_2_##link), KN_LINK(name##_3_##link)        \
    }
#define KN_LINK_ROW_3(name, link, first)                                                           \
    {                                                                                              \
        first, KN_LINK(name##_1_##link), KN_LINK(name##_2_##link), KN_LINK(name##_3_##link),       \
            KN_LINK(name##_4_##link), KN_LINK(name##_5_##link), KN_LINK(name##_6_##link),          \
            KN_LINK(name##_7_##link)                                                               \
    }
#define KN_CHAIN_ROW(name, sources, text, is_raw, is_bits)                                         \
    {                                                                                              \
        .form = text, .raw = is_raw, .bits = is_bits, .run = {                                     \
            [KN_LINK_STORE] = KN_LINK_ROW_##sources(name, STORE, NULL),                            \
            [KN_LINK_PASS] = KN_LINK_ROW_##sources(name, PASS, KN_LINK(name##_0_PASS)),            \
            [KN_LINK_BOTH] = KN_LINK_ROW_##sources(name, BOTH, KN_LINK(name##_0_BOTH)),            \
            [KN_LINK_KEEP] = KN_LINK_ROW_##sources(name, KEEP, KN_LINK(name##_0_KEEP)),            \
        }                                                                                          \
    }
#define KN_CALLED_CHAIN_ROW(name, text)                                                            \
    {                                                                                              \
        .form = text, .run = {                                                                     \
            [KN_LINK_STORE] = {NULL, KN_LINK(name##_1_STORE)},                                     \
            [KN_LINK_PASS] = {KN_LINK(name##_0_PASS), KN_LINK(name##_1_PASS)},                     \
            [KN_LINK_BOTH] = {KN_LINK(name##_0_BOTH), KN_LINK(name##_1_BOTH)},                     \
        }                                                                                          \
    }
#endif
