// SPDX-License-Identifier: MIT
// For the families of forms: the registers of an operation, its lanes, and the macros that write an
// operation twice, for all lanes and for some. Each family is compiled once for every instruction
// set, with KN_SET as its name.
#pragma once

#include "kn_lanes.h"
#include "small.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

__extension__ typedef __int128 kn_int128;
__extension__ typedef unsigned __int128 kn_uint128;

#define KN_JOIN_(a, b) a##_##b
#define KN_JOIN(a, b) KN_JOIN_(a, b)
// The table of a family: const struct kn_form KN_FAMILY(integer)[] = { …, {0} };
#define KN_FAMILY(family) KN_JOIN(kn_forms_##family, KN_SET)

// Operations call the next one at the end, if compilers turn that into a jump (KN_TAIL_CALLS).
// Otherwise they return it, and the loop of kn_warp_run calls it.
#ifdef KN_TAIL_CALLS
#define KN_GO(op)                                                                                  \
    do {                                                                                           \
        const struct kn_op *kn_next = (op);                                                        \
        return kn_next->run[w->partial](kn_next, w);                                               \
    } while (0)
#else
#define KN_GO(op) return (op)
#endif
#define KN_NEXT KN_GO(op + 1)
// For operations that keep the address of a local variable, because their call of the next one
// would be no jump.
#define KN_RETURN_NEXT return op + 1

#define KN_OPERATION(name)                                                                         \
    static const struct kn_op *name(const struct kn_op *op, struct kn_warp *w)

// The register at an offset. Registers are the same or do not overlap, so that loops over them can
// be vectorised.
#define KN_REGISTER(T, at) ((T *)__builtin_assume_aligned(w->r + (at), 64))
#define KN_PREDICATE(at) (*(uint32_t *)(w->r + (at)))
#if defined(__clang__)
#define KN_EACH(count)                                                                             \
    _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < (count); i++)
#else
#define KN_EACH(count) _Pragma("GCC ivdep") for (int i = 0; i < (count); i++)
#endif
#define KN_EACH_LANE KN_EACH(KN_LANES)
#define KN_EACH_HALF KN_EACH(2 * KN_LANES) // of registers that have two values a lane

// The lanes of a mask, in the order of their numbers.
#define KN_EACH_OF(mask, i)                                                                        \
    for (uint32_t kn_rest_##i = (mask); kn_rest_##i; kn_rest_##i &= kn_rest_##i - 1)               \
        for (int i = kn_lowest(kn_rest_##i), kn_once_##i = 1; kn_once_##i; kn_once_##i = 0)

static inline int kn_lowest(uint32_t mask)
{
    return __builtin_ctz(mask);
}

// The lanes that take part in an operation: as bits, and as 0 or -1 a lane.
static inline uint32_t kn_mask_of(const struct kn_op *op, const struct kn_warp *w)
{
    return w->active & (*(const uint32_t *)(w->r + op->guard) ^ op->guard_flip);
}

static inline const int32_t *kn_lanes_of(const struct kn_op *op, struct kn_warp *w)
{
    const uint32_t mask = kn_mask_of(op, w);
    if (mask == w->active)
        return w->active_lanes;
    KN_EACH_LANE
    w->guard_lanes[i] = -(int32_t)(mask >> i & 1);
    return w->guard_lanes;
}

// One bit a lane for lanes that are 0 or -1, in elements of 16, 32 or 64 bits.
static inline uint32_t kn_bits_16(const int16_t *lanes)
{
#if defined(__AVX512BW__)
    return _mm512_movepi16_mask(_mm512_load_si512(lanes));
#elif defined(__AVX2__)
    const __m256i low = _mm256_load_si256((const __m256i *)lanes);
    const __m256i high = _mm256_load_si256((const __m256i *)(lanes + 16));
    const __m256i bytes = _mm256_packs_epi16(low, high);
    return (uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(bytes, 0xd8));
#else
    uint32_t bits = 0;
    for (int i = 0; i < KN_LANES; i++)
        bits |= (uint32_t)(lanes[i] & 1) << i;
    return bits;
#endif
}

static inline uint32_t kn_bits_32(const int32_t *lanes)
{
#if defined(__AVX512DQ__)
    const uint32_t low = _mm512_movepi32_mask(_mm512_load_si512(lanes));
    return low | (uint32_t)_mm512_movepi32_mask(_mm512_load_si512(lanes + 16)) << 16;
#elif defined(__AVX2__)
    uint32_t bits = 0;
    for (int i = 0; i < KN_LANES; i += 8)
        bits |= (uint32_t)_mm256_movemask_ps(_mm256_load_ps((const float *)(lanes + i))) << i;
    return bits;
#else
    uint32_t bits = 0;
    for (int i = 0; i < KN_LANES; i++)
        bits |= (uint32_t)(lanes[i] & 1) << i;
    return bits;
#endif
}

static inline uint32_t kn_bits_64(const int64_t *lanes)
{
    uint32_t bits = 0;
#if defined(__AVX512DQ__)
    for (int i = 0; i < KN_LANES; i += 8)
        bits |= (uint32_t)_mm512_movepi64_mask(_mm512_load_si512(lanes + i)) << i;
#elif defined(__AVX2__)
    for (int i = 0; i < KN_LANES; i += 4)
        bits |= (uint32_t)_mm256_movemask_pd(_mm256_load_pd((const double *)(lanes + i))) << i;
#else
    for (int i = 0; i < KN_LANES; i++)
        bits |= (uint32_t)(lanes[i] & 1) << i;
#endif
    return bits;
}

// Sets the bits of the lanes that take part.
static inline void kn_predicate_set(const struct kn_op *op, struct kn_warp *w, uint32_t at,
                                    uint32_t bits)
{
    const uint32_t mask = kn_mask_of(op, w);
    KN_PREDICATE(at) = (KN_PREDICATE(at) & ~mask) | (bits & mask);
}

// KN_FORM1(name, D, A, expression): d[i] = expression of a[i], lane by lane, as name_all and
// name_some. KN_FORM2 has b[i] too, KN_FORM3 c[i], and KN_FORM4 e[i]. D to E are the element types.
#define KN_FORM1(name, D, A, expression)                                                           \
    KN_OPERATION(name##_all)                                                                       \
    {                                                                                              \
        D *d = KN_REGISTER(D, op->d);                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        KN_EACH_LANE                                                                               \
        d[i] = (D)(expression);                                                                    \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(name##_some)                                                                      \
    {                                                                                              \
        D *d = KN_REGISTER(D, op->d);                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        const int32_t *on = kn_lanes_of(op, w);                                                    \
        KN_EACH_LANE                                                                               \
        {                                                                                          \
            const D value = (D)(expression);                                                       \
            d[i] = on[i] ? value : d[i];                                                           \
        }                                                                                          \
        KN_NEXT;                                                                                   \
    }
#define KN_FORM2(name, D, A, B, expression)                                                        \
    KN_OPERATION(name##_all)                                                                       \
    {                                                                                              \
        D *d = KN_REGISTER(D, op->d);                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        const B *b = KN_REGISTER(B, op->b);                                                        \
        KN_EACH_LANE                                                                               \
        d[i] = (D)(expression);                                                                    \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(name##_some)                                                                      \
    {                                                                                              \
        D *d = KN_REGISTER(D, op->d);                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        const B *b = KN_REGISTER(B, op->b);                                                        \
        const int32_t *on = kn_lanes_of(op, w);                                                    \
        KN_EACH_LANE                                                                               \
        {                                                                                          \
            const D value = (D)(expression);                                                       \
            d[i] = on[i] ? value : d[i];                                                           \
        }                                                                                          \
        KN_NEXT;                                                                                   \
    }
#define KN_FORM3(name, D, A, B, C, expression)                                                     \
    KN_OPERATION(name##_all)                                                                       \
    {                                                                                              \
        D *d = KN_REGISTER(D, op->d);                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        const B *b = KN_REGISTER(B, op->b);                                                        \
        const C *c = KN_REGISTER(C, op->c);                                                        \
        KN_EACH_LANE                                                                               \
        d[i] = (D)(expression);                                                                    \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(name##_some)                                                                      \
    {                                                                                              \
        D *d = KN_REGISTER(D, op->d);                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        const B *b = KN_REGISTER(B, op->b);                                                        \
        const C *c = KN_REGISTER(C, op->c);                                                        \
        const int32_t *on = kn_lanes_of(op, w);                                                    \
        KN_EACH_LANE                                                                               \
        {                                                                                          \
            const D value = (D)(expression);                                                       \
            d[i] = on[i] ? value : d[i];                                                           \
        }                                                                                          \
        KN_NEXT;                                                                                   \
    }
#define KN_FORM4(name, D, A, B, C, E, expression)                                                  \
    KN_OPERATION(name##_all)                                                                       \
    {                                                                                              \
        D *d = KN_REGISTER(D, op->d);                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        const B *b = KN_REGISTER(B, op->b);                                                        \
        const C *c = KN_REGISTER(C, op->c);                                                        \
        const E *e = KN_REGISTER(E, op->more[0]);                                                  \
        KN_EACH_LANE                                                                               \
        d[i] = (D)(expression);                                                                    \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(name##_some)                                                                      \
    {                                                                                              \
        D *d = KN_REGISTER(D, op->d);                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        const B *b = KN_REGISTER(B, op->b);                                                        \
        const C *c = KN_REGISTER(C, op->c);                                                        \
        const E *e = KN_REGISTER(E, op->more[0]);                                                  \
        const int32_t *on = kn_lanes_of(op, w);                                                    \
        KN_EACH_LANE                                                                               \
        {                                                                                          \
            const D value = (D)(expression);                                                       \
            d[i] = on[i] ? value : d[i];                                                           \
        }                                                                                          \
        KN_NEXT;                                                                                   \
    }
// A row of the table for an operation that looks at the active lanes itself.
#define KN_ROW_OF(operation, text, operands)                                                       \
    {                                                                                              \
        text, operands,                                                                            \
        {                                                                                          \
            operation, operation                                                                   \
        }                                                                                          \
    }
// A row of the table for an operation of these macros.
#define KN_ROW(name, text, operands)                                                               \
    {                                                                                              \
        text, operands,                                                                            \
        {                                                                                          \
            name##_all, name##_some                                                                \
        }                                                                                          \
    }
