// SPDX-License-Identifier: MIT
// The conversion family with 64-byte registers.
#include "convert_scalar.h"
#include "kn_x86.h"

#include <immintrin.h>

#define LANES 16
#define VF __m512
#define VI __m512i
#define CONVERT_PREFETCH_B 1024
#define CONVERT_SUFFIX(name) name##_avx512
#define CONVERT_SMALL(name) name##_avx2

#define v_loadf(p) _mm512_loadu_ps(p)
#define v_loadi(p) _mm512_loadu_si512(p)
#define v_storef(p, v) _mm512_storeu_ps(p, v)
#define v_storei(p, v) _mm512_storeu_si512(p, v)
#define v_load_half(p) _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(p)))
#define v_store_half(p, v)                                                                         \
    _mm256_storeu_si256((__m256i *)(p), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT))

#define v_set(x) _mm512_set1_ps(x)
#define v_seti(x) _mm512_set1_epi32((int)(x))
#define v_set4(rgb, a) _mm512_setr4_ps(rgb, rgb, rgb, a)
#define v_seti4(r, g, b, a) _mm512_setr4_epi32(r, g, b, a)
#define v_bits(v) _mm512_castps_si512(v)
#define v_float(v) _mm512_cvtepi32_ps(v)
#define v_floatu(v) _mm512_cvtepu32_ps(v)
#define v_fma(a, b, c) _mm512_fmadd_ps(a, b, c)
#define v_mul(a, b) _mm512_mul_ps(a, b)
// Returns the second operand if one of them is NaN.
#define v_max(a, b) _mm512_max_ps(a, b)
#define v_min(a, b) _mm512_min_ps(a, b)
#define v_add(a, b) _mm512_add_epi32(a, b)
#define v_sub(a, b) _mm512_sub_epi32(a, b)
#define v_and(a, b) _mm512_and_si512(a, b)
#define v_or(a, b) _mm512_or_si512(a, b)
#define v_minu(a, b) _mm512_min_epu32(a, b)
#define v_maxs(a, b) _mm512_max_epi32(a, b)
#define v_with_alpha(colour, alpha) _mm512_mask_mov_epi32(colour, 0x8888, alpha)

KN_INLINE VF v_clamp01(VF v)
{
    return v_min(v_max(v, _mm512_setzero_ps()), v_set(1.0f));
}

KN_INLINE VF v_clamp11(VF v)
{
    return v_max(v_min(_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(v, v, _CMP_ORD_Q), v), v_set(1.0f)),
                 v_set(-1.0f));
}

// Values that are too large become all ones.
KN_INLINE VI v_to_uint(VF v)
{
    return _mm512_cvtps_epu32(v_max(v, _mm512_setzero_ps()));
}

KN_INLINE VI v_to_sint(VF v)
{
    __mmask16 large = _mm512_cmp_ps_mask(v, v_set(0x1p31f), _CMP_GE_OQ),
              number = _mm512_cmp_ps_mask(v, v, _CMP_ORD_Q);

    return _mm512_mask_mov_epi32(_mm512_maskz_cvtps_epi32(number, v), large, v_seti(INT32_MAX));
}

// Copies four elements, from the i-th group of four on, to four lanes each and shifts each lane's
// field to its lowest bits; and back.
KN_INLINE VI v_spread(VI pixels, unsigned i)
{
    VI first = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);

    return _mm512_permutexvar_epi32(v_add(first, v_seti(4 * i)), pixels);
}

KN_INLINE VI v_fields(VI v)
{
    return v_and(_mm512_srlv_epi32(v, v_seti4(0, 10, 20, 30)), v_seti4(1023, 1023, 1023, 3));
}

KN_INLINE VI v_place(VI v)
{
    return _mm512_sllv_epi32(v, v_seti4(0, 10, 20, 30));
}

// A table of 256 words in eight pairs of registers: the low five bits choose within a pair, the
// others choose the pair. Takes half as long as gathers.
KN_INLINE VI v_srgb_colour(VI n)
{
    __mmask16 bit5 = _mm512_test_epi32_mask(n, v_seti(32)),
              bit6 = _mm512_test_epi32_mask(n, v_seti(64));
    __mmask16 bit7 = _mm512_test_epi32_mask(n, v_seti(128));
    VI v[8];

#pragma GCC unroll 8
    for (unsigned i = 0; i < 8; i++)
        v[i] = _mm512_permutex2var_epi32(v_loadi(kn_srgb_decode_bits + 32 * i), n,
                                         v_loadi(kn_srgb_decode_bits + 32 * i + 16));
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++)
        v[i] = _mm512_mask_mov_epi32(v[2 * i], bit5, v[2 * i + 1]);
    v[0] = _mm512_mask_mov_epi32(v[0], bit6, v[1]);
    v[2] = _mm512_mask_mov_epi32(v[2], bit6, v[3]);
    return _mm512_mask_mov_epi32(v[0], bit7, v[2]);
}
#define V_SRGB(n) v_srgb_colour(n)
#define V_SRGB_REGISTERS 3

// Single look-ups gain nothing from wider registers, and gathers are slower.
#define SRGB_ENCODED_ELSEWHERE
void kn_encode_srgb8_avx512(void *dst, const void *src, uint64_t count, unsigned channels)
{
    kn_encode_srgb8_avx2(dst, src, count, channels);
}

#define MM(op) _mm512_##op
#define LOAD_LANES(p) _mm_loadu_si128((const __m128i *)(p))
#define LOAD_2LANES(p) _mm256_loadu_si256((const __m256i *)(p))
#define IN_ORDER8(v)                                                                               \
    _mm512_permutexvar_epi32(                                                                      \
        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), v)
#define IN_ORDER16(v) _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), v)
#include "convert_pack.inc.h"

#include "convert.inc.h"
