// SPDX-License-Identifier: MIT
// Starts and ends NVML, and names its errors.
#include <stdbool.h>
#include <string.h>

#include "ml.h"

static unsigned users; // atomic: how often the library was initialised and not shut down

// An unknown flag is ignored, because newer programs may pass flags of newer drivers.
EXPORT nvmlReturn_t nvmlInitWithFlags(unsigned flags)
{
    __atomic_fetch_add(&users, 1, __ATOMIC_ACQ_REL);
    return NVML_SUCCESS;
}

EXPORT nvmlReturn_t nvmlInit_v2(void)
{
    return nvmlInitWithFlags(0);
}

// "nvmlShutdown: NVML_ERROR_UNINITIALIZED if the library has not been successfully initialized".
EXPORT nvmlReturn_t nvmlShutdown(void)
{
    unsigned now = __atomic_load_n(&users, __ATOMIC_ACQUIRE);
    while (now && !__atomic_compare_exchange_n(&users, &now, now - 1, false, __ATOMIC_ACQ_REL,
                                               __ATOMIC_ACQUIRE))
        continue;
    return now ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

nvmlReturn_t nvmlInit(void);
EXPORT nvmlReturn_t nvmlInit(void)
{
    return nvmlInit_v2();
}

nvmlReturn_t ml_check_started(void)
{
    return __atomic_load_n(&users, __ATOMIC_ACQUIRE) ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

EXPORT const char *nvmlErrorString(nvmlReturn_t result)
{
    switch ((int)result) {
#define X(code, sentence)                                                                          \
    case code:                                                                                     \
        return sentence;
#include "errors.def"
#undef X
    default:
        return "Unknown Error";
    }
}

nvmlReturn_t ml_result(CUresult result)
{
    switch (result) {
    case CUDA_SUCCESS:
        return NVML_SUCCESS;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_DEVICE:
        return NVML_ERROR_INVALID_ARGUMENT;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return NVML_ERROR_MEMORY;
    default:
        return NVML_ERROR_UNKNOWN;
    }
}

nvmlReturn_t ml_copy_text(const char *text, char *out, unsigned length)
{
    const size_t size = strlen(text) + 1;
    if (size > length)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    memcpy(out, text, size);
    return NVML_SUCCESS;
}
