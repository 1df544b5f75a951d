// SPDX-License-Identifier: MIT
// For the families that access memory: the pattern of 32 addresses.
//
// A block of 16 x 16 threads has two rows in a warp, one of 8 x 8 four. Their accesses are made of
// pieces of 8 lanes, of which each one is consecutive or has one address:
//
//     s[threadIdx.y][k]   │ 0 0 0 0 0 0 0 0 │ 0 0 0 0 0 0 0 0 │ 64 64 64 64 …   uniform pieces
//     s[k][threadIdx.x]   │ 0 4 8 …      28 │ 32 36 40 …   60 │ 0 4 8 …         consecutive ones
#pragma once

#include "lanes.inc.h"

enum { KN_PIECE = 8, KN_PIECES = KN_LANES / KN_PIECE };
#define KN_PIECE_BITS 0x80808080u // bit 8 p + 7 stands for piece p

// The pieces that are consecutive or uniform, as KN_PIECE_BITS.
struct kn_pattern {
    uint32_t consecutive, uniform;
};

// Pieces all of whose lanes are in a mask.
static inline uint32_t kn_whole_pieces(uint32_t mask)
{
    return ((mask & ~KN_PIECE_BITS) + ~KN_PIECE_BITS / 0x7f) & mask & KN_PIECE_BITS;
}

// Whether piece p is one of the pieces.
static inline bool kn_has_piece(uint32_t pieces, int p)
{
    return pieces >> (KN_PIECE * p + KN_PIECE - 1) & 1;
}

// name_32 and name_64 for 32 addresses of these widths:
//   kn_is_consecutive  each one is size_B after the one before
//   kn_is_uniform      all of them are equal
//   kn_pattern         the pieces
#if defined(__AVX512DQ__)
#define KN_STEPS_32(first, size_B)                                                                 \
    _mm512_mullo_epi32(                                                                            \
        _mm512_add_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),   \
                         _mm512_set1_epi32(first)),                                                \
        _mm512_set1_epi32((int)(size_B)))
#define KN_STEPS_64(first, size_B)                                                                 \
    _mm512_mullo_epi64(                                                                            \
        _mm512_add_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(first)),      \
        _mm512_set1_epi64((int)(size_B)))

static inline bool kn_is_consecutive_32(const uint32_t *a, unsigned size_B)
{
    const __m512i first = _mm512_set1_epi32((int)a[0]);
    const __m512i x = _mm512_sub_epi32(_mm512_load_si512(a), first);
    const __m512i y = _mm512_sub_epi32(_mm512_load_si512(a + 16), first);
    return _kortestz_mask16_u8(_mm512_cmpneq_epi32_mask(x, KN_STEPS_32(0, size_B)),
                               _mm512_cmpneq_epi32_mask(y, KN_STEPS_32(16, size_B)));
}

static inline bool kn_is_uniform_32(const uint32_t *a)
{
    const __m512i first = _mm512_set1_epi32((int)a[0]);
    return _kortestz_mask16_u8(_mm512_cmpneq_epi32_mask(_mm512_load_si512(a), first),
                               _mm512_cmpneq_epi32_mask(_mm512_load_si512(a + 16), first));
}

static inline __m512i kn_differences_64(const uint64_t *a, __m512i first, __m512i steps)
{
    return _mm512_xor_si512(_mm512_sub_epi64(_mm512_load_si512(a), first), steps);
}

static inline bool kn_is_consecutive_64(const uint64_t *a, unsigned size_B)
{
    const __m512i first = _mm512_set1_epi64((int64_t)a[0]);
    const __m512i x = _mm512_or_si512(kn_differences_64(a, first, KN_STEPS_64(0, size_B)),
                                      kn_differences_64(a + 8, first, KN_STEPS_64(8, size_B)));
    const __m512i y = _mm512_or_si512(kn_differences_64(a + 16, first, KN_STEPS_64(16, size_B)),
                                      kn_differences_64(a + 24, first, KN_STEPS_64(24, size_B)));
    const __m512i z = _mm512_or_si512(x, y);
    return !_mm512_test_epi64_mask(z, z);
}

static inline bool kn_is_uniform_64(const uint64_t *a)
{
    const __m512i first = _mm512_set1_epi64((int64_t)a[0]), none = _mm512_setzero_si512();
    const __m512i x =
        _mm512_or_si512(kn_differences_64(a, first, none), kn_differences_64(a + 8, first, none));
    const __m512i y = _mm512_or_si512(kn_differences_64(a + 16, first, none),
                                      kn_differences_64(a + 24, first, none));
    const __m512i z = _mm512_or_si512(x, y);
    return !_mm512_test_epi64_mask(z, z);
}

static inline uint32_t kn_equal_32(const __m512i *x, __m512i y)
{
    const uint32_t low = _mm512_cmpeq_epi32_mask(x[0], y);
    return low | (uint32_t)_mm512_cmpeq_epi32_mask(x[1], y) << 16;
}

static inline struct kn_pattern kn_pattern_32(const uint32_t *a, unsigned size_B)
{
    const __m512i lane = _mm512_set_epi32(7, 6, 5, 4, 3, 2, 1, 0, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i first = _mm512_set_epi32(8, 8, 8, 8, 8, 8, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m512i steps = _mm512_mullo_epi32(lane, _mm512_set1_epi32((int)size_B));
    __m512i x[2];
    for (int k = 0; k < 2; k++) {
        x[k] = _mm512_load_si512(a + 16 * k);
        x[k] = _mm512_sub_epi32(x[k], _mm512_permutexvar_epi32(first, x[k]));
    }
    return (struct kn_pattern){kn_whole_pieces(kn_equal_32(x, steps)),
                               kn_whole_pieces(kn_equal_32(x, _mm512_setzero_si512()))};
}

static inline struct kn_pattern kn_pattern_64(const uint64_t *a, unsigned size_B)
{
    uint32_t consecutive = 0, uniform = 0;
    for (int k = 0; k < KN_PIECES; k++) {
        const __m512i first = _mm512_set1_epi64((int64_t)a[KN_PIECE * k]);
        const __m512i x = _mm512_sub_epi64(_mm512_load_si512(a + KN_PIECE * k), first);
        consecutive |= (uint32_t)_mm512_cmpeq_epi64_mask(x, KN_STEPS_64(0, size_B)) << KN_PIECE * k;
        uniform |= (uint32_t)_mm512_cmpeq_epi64_mask(x, _mm512_setzero_si512()) << KN_PIECE * k;
    }
    return (struct kn_pattern){kn_whole_pieces(consecutive), kn_whole_pieces(uniform)};
}
#else
#define KN_STEPS(T, step)                                                                          \
    T steps = 0;                                                                                   \
    KN_EACH_LANE                                                                                   \
    steps |= (a[i] - a[0]) ^ (T)i * (T)(step);                                                     \
    return !steps

static inline bool kn_is_consecutive_32(const uint32_t *a, unsigned size_B)
{
    KN_STEPS(uint32_t, size_B);
}

static inline bool kn_is_uniform_32(const uint32_t *a)
{
    KN_STEPS(uint32_t, 0);
}

static inline bool kn_is_consecutive_64(const uint64_t *a, unsigned size_B)
{
    KN_STEPS(uint64_t, size_B);
}

static inline bool kn_is_uniform_64(const uint64_t *a)
{
    KN_STEPS(uint64_t, 0);
}
#if defined(__AVX2__)
static inline bool kn_is_zero(__m256i x)
{
    return _mm256_testz_si256(x, x);
}

static inline struct kn_pattern kn_pattern_32(const uint32_t *a, unsigned size_B)
{
    const __m256i steps = _mm256_mullo_epi32(_mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0),
                                             _mm256_set1_epi32((int)size_B));
    struct kn_pattern p = {0};
    for (int k = 0; k < KN_PIECES; k++) {
        const __m256i first = _mm256_set1_epi32((int)a[KN_PIECE * k]);
        const __m256i all = _mm256_load_si256((const __m256i *)(a + KN_PIECE * k));
        const __m256i x = _mm256_sub_epi32(all, first);
        p.consecutive |= (uint32_t)kn_is_zero(_mm256_xor_si256(x, steps)) << (KN_PIECE * k + 7);
        p.uniform |= (uint32_t)kn_is_zero(x) << (KN_PIECE * k + 7);
    }
    return p;
}

static inline struct kn_pattern kn_pattern_64(const uint64_t *a, unsigned size_B)
{
    const int64_t s = size_B;
    const __m256i low = _mm256_set_epi64x(3 * s, 2 * s, s, 0);
    const __m256i high = _mm256_set_epi64x(7 * s, 6 * s, 5 * s, 4 * s);
    struct kn_pattern p = {0};
    for (int k = 0; k < KN_PIECES; k++) {
        const __m256i *from = (const __m256i *)(a + KN_PIECE * k);
        const __m256i first = _mm256_set1_epi64x((int64_t)a[KN_PIECE * k]);
        const __m256i x = _mm256_sub_epi64(_mm256_load_si256(from), first);
        const __m256i y = _mm256_sub_epi64(_mm256_load_si256(from + 1), first);
        const __m256i off = _mm256_or_si256(_mm256_xor_si256(x, low), _mm256_xor_si256(y, high));
        p.consecutive |= (uint32_t)kn_is_zero(off) << (KN_PIECE * k + 7);
        p.uniform |= (uint32_t)kn_is_zero(_mm256_or_si256(x, y)) << (KN_PIECE * k + 7);
    }
    return p;
}
#else
#define KN_PATTERN(name, T)                                                                        \
    static inline struct kn_pattern name(const T *a, unsigned size_B)                              \
    {                                                                                              \
        struct kn_pattern pattern = {0};                                                           \
        for (int p = 0; p < KN_PIECES; p++) {                                                      \
            const T first = a[KN_PIECE * p];                                                       \
            T steps = 0, differences = 0;                                                          \
            KN_EACH(KN_PIECE)                                                                      \
            {                                                                                      \
                const T x = a[KN_PIECE * p + i] - first;                                           \
                differences |= x;                                                                  \
                steps |= x ^ (T)i * size_B;                                                        \
            }                                                                                      \
            pattern.consecutive |= (uint32_t)!steps << (KN_PIECE * p + 7);                         \
            pattern.uniform |= (uint32_t)!differences << (KN_PIECE * p + 7);                       \
        }                                                                                          \
        return pattern;                                                                            \
    }
KN_PATTERN(kn_pattern_32, uint32_t)
KN_PATTERN(kn_pattern_64, uint64_t)
#endif
#endif
