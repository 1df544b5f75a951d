// SPDX-License-Identifier: MIT
// The manual's chapter "Device Management": settings of the current device.
#include "rt.h"

// The runtime's limits and configurations have the driver's numbers.

cudaError_t rt_cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    RT_TRY(rt_cu.cuCtxSetLimit((CUlimit)limit, value));
    return cudaSuccess;
}

cudaError_t rt_cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit)
{
    RT_TRY(rt_cu.cuCtxGetLimit(pValue, (CUlimit)limit));
    return cudaSuccess;
}

cudaError_t rt_cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig)
{
    RT_TRY(rt_cu.cuCtxSetCacheConfig((CUfunc_cache)cacheConfig));
    return cudaSuccess;
}

cudaError_t rt_cudaDeviceGetCacheConfig(enum cudaFuncCache *pCacheConfig)
{
    CUfunc_cache config;
    RT_TRY(rt_cu.cuCtxGetCacheConfig(&config));
    *pCacheConfig = (enum cudaFuncCache)config;
    return cudaSuccess;
}

cudaError_t rt_cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    RT_TRY(rt_cu.cuCtxSetSharedMemConfig((CUsharedconfig)config));
    return cudaSuccess;
}

cudaError_t rt_cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *pConfig)
{
    CUsharedconfig config;
    RT_TRY(rt_cu.cuCtxGetSharedMemConfig(&config));
    *pConfig = (enum cudaSharedMemConfig)config;
    return cudaSuccess;
}

cudaError_t rt_cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    RT_TRY(rt_cu.cuCtxGetStreamPriorityRange(leastPriority, greatestPriority));
    return cudaSuccess;
}

cudaError_t rt_cudaDeviceFlushGPUDirectRDMAWrites(enum cudaFlushGPUDirectRDMAWritesTarget target,
                                                  enum cudaFlushGPUDirectRDMAWritesScope scope)
{
    RT_TRY(rt_cu.cuFlushGPUDirectRDMAWrites((CUflushGPUDirectRDMAWritesTarget)target,
                                            (CUflushGPUDirectRDMAWritesScope)scope));
    return cudaSuccess;
}

// Works on the current context, and does not start one (recorded: lazy/CtxResetPersistingL2Cache).
cudaError_t rt_cudaCtxResetPersistingL2Cache(void)
{
    RT_TRY(rt_cu.cuCtxResetPersistingL2Cache());
    return cudaSuccess;
}
