// SPDX-License-Identifier: MIT
// The fill family with 32-byte registers.
#define VEC_B 32
#define VEC __m256i
#define VEC_SET(pattern) _mm256_set1_epi32((int)(pattern))
#define VEC_STORE(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#define FILL_SUFFIX(name) name##_avx2
#include "fill.inc.h"
