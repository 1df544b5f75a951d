// SPDX-License-Identifier: MIT
// The copy family with 32-byte registers.
#define VEC_B 32
#define VEC __m256i
#define VEC_LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define VEC_STORE(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#define VEC_STREAM(p, v) _mm256_stream_si256((__m256i *)(p), v)
#define COPY_SUFFIX(name) name##_avx2
#include "copy_template.h"
