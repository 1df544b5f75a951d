// SPDX-License-Identifier: MIT
// Signals and waits with the parameters of before CUDA 11.2.

#include "../own_memory.h"
#include "../rt.h"

// The newer structures, whose reserved bytes must be 0.
static struct cudaExternalSemaphoreSignalParams
signal_params(const struct cudaExternalSemaphoreSignalParams_v1 *old)
{
    return (struct cudaExternalSemaphoreSignalParams){
        .params = {.fence.value = old->params.fence.value,
                   .nvSciSync.reserved = old->params.nvSciSync.reserved,
                   .keyedMutex.key = old->params.keyedMutex.key},
        .flags = old->flags,
    };
}

static struct cudaExternalSemaphoreWaitParams
wait_params(const struct cudaExternalSemaphoreWaitParams_v1 *old)
{
    return (struct cudaExternalSemaphoreWaitParams){
        .params = {.fence.value = old->params.fence.value,
                   .nvSciSync.reserved = old->params.nvSciSync.reserved,
                   .keyedMutex = {old->params.keyedMutex.key, old->params.keyedMutex.timeoutMs}},
        .flags = old->flags,
    };
}

// An array that is NULL stays NULL, for the driver to refuse.
cudaError_t rt12_cudaSignalExternalSemaphoresAsync(
    const cudaExternalSemaphore_t *extSemArray,
    const struct cudaExternalSemaphoreSignalParams_v1 *paramsArray, unsigned int numExtSems,
    cudaStream_t stream)
{
    struct cudaExternalSemaphoreSignalParams *params = NULL;
    if (paramsArray) {
        params = rt_alloc((numExtSems + (size_t)1) * sizeof *params);
        if (!params)
            return rt_fail(cudaErrorMemoryAllocation,
                           "out of host memory for numExtSems (%u) semaphores", numExtSems);
        for (unsigned int i = 0; i < numExtSems; i++)
            params[i] = signal_params(&paramsArray[i]);
    }
    const cudaError_t r =
        rt_cudaSignalExternalSemaphoresAsync(extSemArray, params, numExtSems, stream);
    rt_free(params);
    return r;
}

cudaError_t
rt12_cudaWaitExternalSemaphoresAsync(const cudaExternalSemaphore_t *extSemArray,
                                     const struct cudaExternalSemaphoreWaitParams_v1 *paramsArray,
                                     unsigned int numExtSems, cudaStream_t stream)
{
    struct cudaExternalSemaphoreWaitParams *params = NULL;
    if (paramsArray) {
        params = rt_alloc((numExtSems + (size_t)1) * sizeof *params);
        if (!params)
            return rt_fail(cudaErrorMemoryAllocation,
                           "out of host memory for numExtSems (%u) semaphores", numExtSems);
        for (unsigned int i = 0; i < numExtSems; i++)
            params[i] = wait_params(&paramsArray[i]);
    }
    const cudaError_t r =
        rt_cudaWaitExternalSemaphoresAsync(extSemArray, params, numExtSems, stream);
    rt_free(params);
    return r;
}
