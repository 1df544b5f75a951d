/* SPDX-License-Identifier: MIT */
/* Numbers of 16 bits, and pairs of them, for kernels and for programs of the host. */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__

#include "cuda_runtime_api.h"
#include "vector_functions.h"

#ifndef __cplusplus
/* C has the bits only. */
typedef struct {
    unsigned short x;
} __half_raw;
typedef struct __align__(4)
{
    unsigned short x, y;
}
__half2_raw;
#else
#include "cardless/runtime/half.h"
#include "cardless/runtime/half_arithmetic.h"
#include "cardless/runtime/half_compare.h"
#include "cardless/runtime/half_convert.h"
#include "cardless/runtime/half_math.h"

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
#endif

#endif
