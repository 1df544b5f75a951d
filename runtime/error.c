// SPDX-License-Identifier: MIT
// The manual's chapter "Error Handling".
#include "error.h"

#include "rt.h"

#define RT_ERROR(name, number, text) _Static_assert(name == number, #name);
#include "errors.def"
#undef RT_ERROR

cudaError_t rt_error_slow(CUresult result)
{
    switch ((int)result) {
#define RT_ERROR(name, number, text) case number:
#include "errors.def"
#undef RT_ERROR
        return (cudaError_t)result;
    default:
        return cudaErrorUnknown;
    }
}

// Manual: "If the error code is not recognized, "unrecognized error code" is returned."
static const char unrecognized[] = "unrecognized error code";

const char *rt_cudaGetErrorName(cudaError_t error)
{
    switch ((int)error) {
#define RT_ERROR(name, number, text)                                                               \
    case number:                                                                                   \
        return #name;
#include "errors.def"
#undef RT_ERROR
    default:
        return unrecognized;
    }
}

const char *rt_cudaGetErrorString(cudaError_t error)
{
    switch ((int)error) {
#define RT_ERROR(name, number, text)                                                               \
    case number:                                                                                   \
        return text;
#include "errors.def"
#undef RT_ERROR
    default:
        return unrecognized;
    }
}

// The bodies return the error without making it the last one: their rows are `quiet`.
cudaError_t rt_cudaGetLastError(void)
{
    struct rt_thread *self = rt_thread();
    cudaError_t error = self->last_error;
    self->last_error = cudaSuccess;
    return error;
}

cudaError_t rt_cudaPeekAtLastError(void)
{
    return rt_thread()->last_error;
}
