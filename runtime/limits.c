// SPDX-License-Identifier: MIT
// The manual's chapter "Device Management": settings of the current device.
#include "rt.h"

// Limits and configurations have the same numbers in the runtime and in the driver.

cudaError_t rt_cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    return rt_error(rt_cu.cuCtxSetLimit((CUlimit)limit, value));
}

cudaError_t rt_cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit)
{
    return rt_error(rt_cu.cuCtxGetLimit(pValue, (CUlimit)limit));
}

cudaError_t rt_cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig)
{
    return rt_error(rt_cu.cuCtxSetCacheConfig((CUfunc_cache)cacheConfig));
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
    return rt_error(rt_cu.cuCtxSetSharedMemConfig((CUsharedconfig)config));
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
    return rt_error(rt_cu.cuCtxGetStreamPriorityRange(leastPriority, greatestPriority));
}

cudaError_t rt_cudaDeviceFlushGPUDirectRDMAWrites(enum cudaFlushGPUDirectRDMAWritesTarget target,
                                                  enum cudaFlushGPUDirectRDMAWritesScope scope)
{
    return rt_error(rt_cu.cuFlushGPUDirectRDMAWrites((CUflushGPUDirectRDMAWritesTarget)target,
                                                     (CUflushGPUDirectRDMAWritesScope)scope));
}

// Applies to the current context, if any; does not create one (recorded:
// lazy/CtxResetPersistingL2Cache).
cudaError_t rt_cudaCtxResetPersistingL2Cache(void)
{
    return rt_error(rt_cu.cuCtxResetPersistingL2Cache());
}
