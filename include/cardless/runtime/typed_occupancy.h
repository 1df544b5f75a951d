/* SPDX-License-Identifier: MIT */
/* C++: the block size at which most threads of a kernel are resident on a multiprocessor. */
#ifndef CARDLESS_RUNTIME_TYPED_OCCUPANCY_H
#define CARDLESS_RUNTIME_TYPED_OCCUPANCY_H

#ifdef __cplusplus
#include "typed.h"

namespace cardless_runtime
{
/* The same dynamic shared memory for every block size. */
struct fixed_size {
    size_t bytes;
    __host__ size_t operator()(int) const
    {
        return bytes;
    }
};

/* The facts about device and kernel that limit a block. */
struct block_limits {
    int threads, warp, resident_threads, multiprocessors;
};

static inline __host__ cudaError_t find_limits(const void *kernel, struct block_limits *limits)
{
    int device, device_threads;
    struct cudaFuncAttributes attributes;
    struct {
        enum cudaDeviceAttr attribute;
        int *value;
    } const facts[] = {
        {cudaDevAttrMaxThreadsPerBlock, &device_threads},
        {cudaDevAttrWarpSize, &limits->warp},
        {cudaDevAttrMaxThreadsPerMultiProcessor, &limits->resident_threads},
        {cudaDevAttrMultiProcessorCount, &limits->multiprocessors},
    };
    cudaError_t status = ::cudaGetDevice(&device);
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]) && status == cudaSuccess; i++)
        status = ::cudaDeviceGetAttribute(facts[i].value, facts[i].attribute, device);
    if (status == cudaSuccess)
        status = ::cudaFuncGetAttributes(&attributes, kernel);
    if (status == cudaSuccess)
        limits->threads = attributes.maxThreadsPerBlock < device_threads
                              ? attributes.maxThreadsPerBlock
                              : device_threads;
    return status;
}
} // namespace cardless_runtime

/* Tries all multiples of the warp size, and blockSizeLimit (0: no limit). Among block sizes that
 * keep equally many threads resident, the largest wins. */
template <class UnaryFunction, class T>
static inline __host__ cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int *minGridSize, int *blockSize, T func, UnaryFunction blockSizeToDynamicSMemSize,
    int blockSizeLimit = 0, unsigned int flags = 0)
{
    if (!minGridSize || !blockSize || !func)
        return cudaErrorInvalidValue;
    const void *kernel = cardless_runtime::function(func);
    cardless_runtime::block_limits limits;
    cudaError_t status = cardless_runtime::find_limits(kernel, &limits);
    if (status != cudaSuccess)
        return status;
    if (blockSizeLimit > 0 && blockSizeLimit < limits.threads)
        limits.threads = blockSizeLimit;

    int best_size = 0, best_blocks = 0;
    const int warps = (limits.threads + limits.warp - 1) / limits.warp;
    for (int w = warps; w > 0 && best_size * best_blocks < limits.resident_threads; w--) {
        int size = w < warps ? w * limits.warp : limits.threads;
        int blocks = 0;
        status = ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            &blocks, kernel, size, blockSizeToDynamicSMemSize(size), flags);
        if (status != cudaSuccess)
            return status;
        if (size * blocks > best_size * best_blocks) {
            best_size = size;
            best_blocks = blocks;
        }
    }
    *minGridSize = best_blocks * limits.multiprocessors;
    *blockSize = best_size;
    return cudaSuccess;
}

template <class UnaryFunction, class T>
static inline __host__ cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(
    int *minGridSize, int *blockSize, T func, UnaryFunction blockSizeToDynamicSMemSize,
    int blockSizeLimit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
        minGridSize, blockSize, func, blockSizeToDynamicSMemSize, blockSizeLimit,
        cudaOccupancyDefault);
}

CARDLESS_TYPED cudaOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, T func,
                                                           size_t dynamicSMemSize = 0,
                                                           int blockSizeLimit = 0,
                                                           unsigned int flags = 0)
{
    cardless_runtime::fixed_size size = {dynamicSMemSize};
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGridSize, blockSize, func,
                                                                   size, blockSizeLimit, flags);
}

CARDLESS_TYPED cudaOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, T func,
                                                  size_t dynamicSMemSize = 0,
                                                  int blockSizeLimit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeWithFlags(
        minGridSize, blockSize, func, dynamicSMemSize, blockSizeLimit, cudaOccupancyDefault);
}
#endif

#endif
