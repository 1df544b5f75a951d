// SPDX-License-Identifier: MIT
// The properties of each result code: its name, its text, and whether it is sticky. cuGetErrorName,
// cuGetErrorString and messages use them.
#include "error.h"

#include <stddef.h>

#define EM_ERROR(code, value, text) _Static_assert(code == value, #code);
#include "errors.def"
#undef EM_ERROR

const char *em_error_name(CUresult code)
{
    switch ((int)code) {
#define EM_ERROR(code, value, text)                                                                \
    case value:                                                                                    \
        return #code;
#include "errors.def"
#undef EM_ERROR
    default:
        return "an unknown code";
    }
}

const char *em_error_string(CUresult code)
{
    switch ((int)code) {
#define EM_ERROR(code, value, text)                                                                \
    case value:                                                                                    \
        return text;
#include "errors.def"
#undef EM_ERROR
    default:
        return NULL;
    }
}

bool em_error_is_sticky(CUresult code)
{
    switch ((int)code) {
    // The manual at each: "This leaves the process in an inconsistent state and any further CUDA
    // work will return the same error."
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
        return true;
    default:
        return false;
    }
}
