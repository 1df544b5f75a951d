/* SPDX-License-Identifier: MIT */
/* C++: kernels by their functions instead of their addresses. */
#ifndef CARDLESS_RUNTIME_TYPED_KERNEL_H
#define CARDLESS_RUNTIME_TYPED_KERNEL_H

#ifdef __cplusplus
#include "typed.h"

#if __cplusplus >= 201103L
#include <utility>
#endif

/* ---- launches. `args` are the addresses of the kernel's arguments, `sharedMem` is bytes. */

CARDLESS_TYPED cudaLaunchKernel(T *func, dim3 gridDim, dim3 blockDim, void **args,
                                size_t sharedMem = 0, cudaStream_t stream = 0)
{
    return ::cudaLaunchKernel(cardless_runtime::function(func), gridDim, blockDim, args, sharedMem,
                              stream);
}

CARDLESS_TYPED cudaLaunchCooperativeKernel(T *func, dim3 gridDim, dim3 blockDim, void **args,
                                           size_t sharedMem = 0, cudaStream_t stream = 0)
{
    return ::cudaLaunchCooperativeKernel(cardless_runtime::function(func), gridDim, blockDim, args,
                                         sharedMem, stream);
}

#if __cplusplus >= 201103L
namespace cardless_runtime
{
/* Launches with copies of the arguments, which have the types of the kernel's parameters. */
template <typename... Parameters>
static inline __host__ cudaError_t launch(const cudaLaunchConfig_t *config, const void *kernel,
                                          Parameters... values)
{
    void *addresses[] = {(void *)&values..., nullptr};
    return ::cudaLaunchKernelExC(config, kernel, addresses);
}
} // namespace cardless_runtime

/* Arguments convert to the kernel's parameters as in a call. */
template <typename... Parameters, typename... Arguments>
static inline __host__ cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                                      void (*kernel)(Parameters...),
                                                      Arguments &&...args)
{
    static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                  "the kernel has another number of parameters");
    return cardless_runtime::launch<Parameters...>(config, cardless_runtime::function(kernel),
                                                   std::forward<Arguments>(args)...);
}

/* A kernel of a library has no type: arguments must have the types of its parameters. */
template <typename... Arguments>
static inline __host__ cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                                      const cudaKernel_t kernel,
                                                      Arguments &&...args)
{
    void *addresses[] = {(void *)&args..., nullptr};
    return ::cudaLaunchKernelExC(config, cardless_runtime::function(kernel), addresses);
}
#endif

/* ---- occupancy of clusters and of shared memory */

CARDLESS_TYPED cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, T func, int blockSize,
                                                             size_t dynamicSMemSize)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        numBlocks, cardless_runtime::function(func), blockSize, dynamicSMemSize);
}

CARDLESS_TYPED cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, T func,
                                                                      int blockSize,
                                                                      size_t dynamicSMemSize,
                                                                      unsigned int flags)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, cardless_runtime::function(func), blockSize, dynamicSMemSize, flags);
}

CARDLESS_TYPED cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, T *func,
                                                         int numBlocks, int blockSize)
{
    return ::cudaOccupancyAvailableDynamicSMemPerBlock(
        dynamicSmemSize, cardless_runtime::function(func), numBlocks, blockSize);
}

CARDLESS_TYPED cudaOccupancyMaxPotentialClusterSize(int *clusterSize, T *func,
                                                    const cudaLaunchConfig_t *config)
{
    return ::cudaOccupancyMaxPotentialClusterSize(clusterSize, cardless_runtime::function(func),
                                                  config);
}

CARDLESS_TYPED cudaOccupancyMaxActiveClusters(int *numClusters, T *func,
                                              const cudaLaunchConfig_t *config)
{
    return ::cudaOccupancyMaxActiveClusters(numClusters, cardless_runtime::function(func), config);
}

/* ---- attributes of functions: only for compilers of CUDA C++, because the names of kernels mean
 * something else to others */

#ifdef __CUDACC__
CARDLESS_TYPED cudaFuncGetAttributes(struct cudaFuncAttributes *attr, T *entry)
{
    return ::cudaFuncGetAttributes(attr, cardless_runtime::function(entry));
}

CARDLESS_TYPED cudaFuncSetAttribute(T *func, enum cudaFuncAttribute attr, int value)
{
    return ::cudaFuncSetAttribute(cardless_runtime::function(func), attr, value);
}

CARDLESS_TYPED cudaFuncSetCacheConfig(T *func, enum cudaFuncCache cacheConfig)
{
    return ::cudaFuncSetCacheConfig(cardless_runtime::function(func), cacheConfig);
}

/* Has no effect since CUDA 12.4. */
CARDLESS_TYPED cudaFuncSetSharedMemConfig(T *func, enum cudaSharedMemConfig config)
{
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
    return ::cudaFuncSetSharedMemConfig(cardless_runtime::function(func), config);
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
}

CARDLESS_TYPED cudaFuncGetName(const char **name, T *func)
{
    return ::cudaFuncGetName(name, cardless_runtime::function(func));
}

CARDLESS_TYPED cudaGetKernel(cudaKernel_t *kernelPtr, T *func)
{
    return ::cudaGetKernel(kernelPtr, cardless_runtime::function(func));
}

CARDLESS_TYPED cudaLibraryGetGlobal(T **dptr, size_t *bytes, cudaLibrary_t library,
                                    const char *name)
{
    return ::cudaLibraryGetGlobal(cardless_runtime::untyped(dptr), bytes, library, name);
}

CARDLESS_TYPED cudaLibraryGetManaged(T **dptr, size_t *bytes, cudaLibrary_t library,
                                     const char *name)
{
    return ::cudaLibraryGetManaged(cardless_runtime::untyped(dptr), bytes, library, name);
}

CARDLESS_TYPED cudaLibraryGetUnifiedFunction(T **fptr, cudaLibrary_t library, const char *symbol)
{
    return ::cudaLibraryGetUnifiedFunction(cardless_runtime::untyped(fptr), library, symbol);
}
#endif
#endif

#endif
