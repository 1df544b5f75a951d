// SPDX-License-Identifier: MIT
// Repacking with 32-byte registers, one group of elements in each half. Wider registers are slower,
// because their stores straddle lines.
#include "kn_x86.h"
#include "small.h"

#include <immintrin.h>

struct repack_how {
    __m256i shuffle, over;
};

KN_INLINE struct repack_how repack_how(const struct kn_repack *how)
{
    return (struct repack_how){
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)how->shuffle)),
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)how->over))};
}

KN_INLINE void repack_step(uint8_t *dst, unsigned out_B, const uint8_t *src, unsigned in_B,
                           struct repack_how how)
{
    __m256i v = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)src));

    v = _mm256_inserti128_si256(v, _mm_loadu_si128((const __m128i *)(src + in_B)), 1);
    v = _mm256_or_si256(_mm256_shuffle_epi8(v, how.shuffle), how.over);
    _mm_storeu_si128((__m128i *)dst, _mm256_castsi256_si128(v));
    _mm_storeu_si128((__m128i *)(dst + out_B), _mm256_extracti128_si256(v, 1));
}

#define REPACK_GROUPS 2
#define REPACK_SUFFIX(name) name##_avx2
#include "repack.inc.h"
