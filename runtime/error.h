// SPDX-License-Identifier: MIT
// Errors: from the driver's numbers to the runtime's, and from there to names and texts.
#pragma once
#include <cuda.h>

#include "message.h"
#include "types.h"

// The runtime's error for one of the driver. The runtime uses the driver's numbers; a number that
// it does not define becomes cudaErrorUnknown.
cudaError_t rt_error_slow(CUresult result);

static inline cudaError_t rt_error(CUresult result)
{
    return __builtin_expect(result == CUDA_SUCCESS, 1) ? cudaSuccess : rt_error_slow(result);
}

// Returns from a body if a call of the driver fails. A body whose last statement is such a call
// returns rt_error(call) instead.
#define RT_TRY(call)                                                                               \
    do {                                                                                           \
        CUresult rt_result_ = (call);                                                              \
        if (__builtin_expect(rt_result_ != CUDA_SUCCESS, 0))                                       \
            return rt_error_slow(rt_result_);                                                      \
    } while (0)
