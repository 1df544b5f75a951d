// SPDX-License-Identifier: MIT
// The copy family with 64-byte registers.
#define VEC_B 64
#define VEC __m512i
#define VEC_LOAD(p) _mm512_loadu_si512(p)
#define VEC_STORE(p, v) _mm512_storeu_si512(p, v)
#define VEC_STREAM(p, v) _mm512_stream_si512((__m512i *)(p), v)
#define COPY_SUFFIX(name) name##_avx512
#include "copy_template.h"
