// SPDX-License-Identifier: MIT
// The fill family with 64-byte registers.
#define VEC_B 64
#define VEC __m512i
#define VEC_SET(pattern) _mm512_set1_epi32((int)(pattern))
#define VEC_STORE(p, v) _mm512_storeu_si512(p, v)
#define FILL_SUFFIX(name) name##_avx512
#include "fill.inc.h"
