// SPDX-License-Identifier: MIT
// Pitched copies with 64-byte registers: rows of 65 to 256 bytes in the caches. Shorter and longer
// rows gain nothing, and rows beyond the caches lose.
#include "kn_x86.h"
#include "small.h"

#include <immintrin.h>

// Copies 128 to 256 bytes.
KN_INLINE void copy_upto256(uint8_t *dst, const uint8_t *src, uint64_t size_B)
{
    __m512i a = _mm512_loadu_si512(src), b = _mm512_loadu_si512(src + 64);
    __m512i c = _mm512_loadu_si512(src + size_B - 128), d = _mm512_loadu_si512(src + size_B - 64);

    _mm512_storeu_si512(dst, a);
    _mm512_storeu_si512(dst + 64, b);
    _mm512_storeu_si512(dst + size_B - 128, c);
    _mm512_storeu_si512(dst + size_B - 64, d);
}

void kn_copy_rows_avx512(void *dst, uint64_t dst_pitch_B, const void *src, uint64_t src_pitch_B,
                         uint64_t width_B, uint64_t rows)
{
    if (width_B <= 64 || width_B > 256 || width_B * rows >= kn_wide_max_B)
        kn_copy_rows_avx2(dst, dst_pitch_B, src, src_pitch_B, width_B, rows);
    else if (width_B <= 128)
        KN_EACH_ROW(KN_ROW_2(__m512i, __m512i));
    else
        KN_EACH_ROW(copy_upto256(to, from, width_B));
}
