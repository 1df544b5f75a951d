// SPDX-License-Identifier: MIT
// The conversion family with 32-byte registers.
#include "convert_scalar.h"
#include "kn_x86.h"

#include <immintrin.h>

#define LANES 8
#define VF __m256
#define VI __m256i
#define CONVERT_PREFETCH_B 1024
#define CONVERT_SUFFIX(name) name##_avx2
#define CONVERT_SMALL(name) name##_c

#define v_loadf(p) _mm256_loadu_ps((const float *)(p))
#define v_loadi(p) _mm256_loadu_si256((const __m256i *)(p))
#define v_storef(p, v) _mm256_storeu_ps((float *)(p), v)
#define v_storei(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#define v_load_half(p) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p)))
#define v_store_half(p, v)                                                                         \
    _mm_storeu_si128((__m128i *)(p), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT))

#define v_set(x) _mm256_set1_ps(x)
#define v_seti(x) _mm256_set1_epi32((int)(x))
#define v_setf_bits(x) _mm256_castsi256_ps(v_seti(x))
#define v_set4(rgb, a) _mm256_setr_ps(rgb, rgb, rgb, a, rgb, rgb, rgb, a)
#define v_bits(v) _mm256_castps_si256(v)
#define v_float(v) _mm256_cvtepi32_ps(v)
#define v_fma(a, b, c) _mm256_fmadd_ps(a, b, c)
#define v_mul(a, b) _mm256_mul_ps(a, b)
// Returns the second operand if one of them is NaN.
#define v_max(a, b) _mm256_max_ps(a, b)
#define v_above(v, least) v_max(v, least)
#define v_min(a, b) _mm256_min_ps(a, b)
#define v_add(a, b) _mm256_add_epi32(a, b)
#define v_sub(a, b) _mm256_sub_epi32(a, b)
#define v_and(a, b) _mm256_and_si256(a, b)
#define v_or(a, b) _mm256_or_si256(a, b)
#define v_minu(a, b) _mm256_min_epu32(a, b)
#define v_maxs(a, b) _mm256_max_epi32(a, b)
#define v_shift_right16(v) _mm256_srli_epi32(v, 16)
#define v_with_alpha(colour, alpha) _mm256_blend_epi32(colour, alpha, 0x88)

KN_INLINE VF v_clamp01(VF v)
{
    return v_min(v_max(v, _mm256_setzero_ps()), v_set(1.0f));
}

KN_INLINE VF v_clamp11(VF v)
{
    return v_max(v_min(_mm256_and_ps(v, _mm256_cmp_ps(v, v, _CMP_ORD_Q)), v_set(1.0f)),
                 v_set(-1.0f));
}

// Both halves are exact, and their sum is rounded once.
KN_INLINE VF v_floatu(VI v)
{
    return v_fma(v_float(_mm256_srli_epi32(v, 16)), v_set(65536.0f),
                 v_float(v_and(v, v_seti(0xffff))));
}

KN_INLINE VI v_to_uint(VF v)
{
    VF positive = v_max(v, _mm256_setzero_ps());
    VF large = _mm256_cmp_ps(positive, v_set(0x1p31f), _CMP_GE_OQ),
       huge = _mm256_cmp_ps(positive, v_set(0x1p32f), _CMP_GE_OQ);
    VI low = _mm256_cvtps_epi32(_mm256_sub_ps(positive, _mm256_and_ps(large, v_set(0x1p31f))));

    return v_or(_mm256_xor_si256(low, _mm256_slli_epi32(v_bits(large), 31)), v_bits(huge));
}

KN_INLINE VI v_to_sint(VF v)
{
    VF large = _mm256_cmp_ps(v, v_set(0x1p31f), _CMP_GE_OQ),
       number = _mm256_cmp_ps(v, v, _CMP_ORD_Q);

    return v_and(_mm256_xor_si256(_mm256_cvtps_epi32(v), v_bits(large)), v_bits(number));
}

// Copies element pair i to four lanes each and shifts each lane's field to its lowest bits; and
// back.
KN_INLINE VI v_spread(VI pixels, unsigned i)
{
    int first = (int)(2 * i), second = first + 1;

    return _mm256_permutevar8x32_epi32(
        pixels, _mm256_setr_epi32(first, first, first, first, second, second, second, second));
}

KN_INLINE VI v_fields(VI v)
{
    return v_and(_mm256_srlv_epi32(v, _mm256_setr_epi32(0, 10, 20, 30, 0, 10, 20, 30)),
                 _mm256_setr_epi32(1023, 1023, 1023, 3, 1023, 1023, 1023, 3));
}

KN_INLINE VI v_place(VI v)
{
    return _mm256_sllv_epi32(v, _mm256_setr_epi32(0, 10, 20, 30, 0, 10, 20, 30));
}

#define MM(op) _mm256_##op
#define LOAD_LANES(p) _mm_loadl_epi64((const __m128i *)(p))
#define LOAD_2LANES(p) _mm_loadu_si128((const __m128i *)(p))
#define IN_ORDER8(v) _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
#define IN_ORDER16(v) _mm256_permute4x64_epi64(v, 0xd8)
#include "convert_pack.inc.h"

#include "convert.inc.h"
