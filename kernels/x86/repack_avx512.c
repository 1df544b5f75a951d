// SPDX-License-Identifier: MIT
// Repacking with 64-byte registers: a group of elements in each quarter.
#include "kn_x86.h"
#include "small.h"

#include <immintrin.h>

struct repack_how {
    __m512i shuffle, over;
};

KN_INLINE struct repack_how repack_how(const struct kn_repack *how)
{
    return (struct repack_how){_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)how->shuffle)),
                               _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)how->over))};
}

KN_INLINE void repack_step(uint8_t *dst, unsigned out_B, const uint8_t *src, unsigned in_B, struct repack_how how)
{
    __m256i low = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)src));
    __m256i high = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(src + 2 * in_B)));
    __m512i v;

    low = _mm256_inserti128_si256(low, _mm_loadu_si128((const __m128i *)(src + in_B)), 1);
    high = _mm256_inserti128_si256(high, _mm_loadu_si128((const __m128i *)(src + 3 * in_B)), 1);
    v = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    v = _mm512_or_si512(_mm512_shuffle_epi8(v, how.shuffle), how.over);
    if (out_B == 16) {
        _mm512_storeu_si512(dst, v);
        return;
    }
    _mm_storeu_si128((__m128i *)dst, _mm512_castsi512_si128(v));
    _mm_storeu_si128((__m128i *)(dst + out_B), _mm512_extracti32x4_epi32(v, 1));
    _mm_storeu_si128((__m128i *)(dst + 2 * out_B), _mm512_extracti32x4_epi32(v, 2));
    _mm_storeu_si128((__m128i *)(dst + 3 * out_B), _mm512_extracti32x4_epi32(v, 3));
}

#define REPACK_GROUPS 4
#define REPACK_SUFFIX(name) name##_avx512
#include "repack_template.h"
