/* SPDX-License-Identifier: MIT */
/* C++: allocations and copies with typed pointers. */
#ifndef CARDLESS_RUNTIME_TYPED_MEMORY_H
#define CARDLESS_RUNTIME_TYPED_MEMORY_H

#ifdef __cplusplus
#include "typed.h"

/* ---- device memory: sizes are bytes, also for typed pointers */

CARDLESS_TYPED cudaMalloc(T **devPtr, size_t size)
{
    return ::cudaMalloc(cardless_runtime::untyped(devPtr), size);
}

CARDLESS_TYPED cudaMallocPitch(T **devPtr, size_t *pitch, size_t width, size_t height)
{
    return ::cudaMallocPitch(cardless_runtime::untyped(devPtr), pitch, width, height);
}

CARDLESS_TYPED cudaMallocManaged(T **devPtr, size_t size, unsigned int flags = cudaMemAttachGlobal)
{
    return ::cudaMallocManaged(cardless_runtime::untyped(devPtr), size, flags);
}

/* ---- host memory */

CARDLESS_TYPED cudaHostAlloc(T **ptr, size_t size, unsigned int flags)
{
    return ::cudaHostAlloc(cardless_runtime::untyped(ptr), size, flags);
}

/* The form with flags is cudaHostAlloc under another name. */
static inline __host__ cudaError_t cudaMallocHost(void **ptr, size_t size, unsigned int flags)
{
    return ::cudaHostAlloc(ptr, size, flags);
}

CARDLESS_TYPED cudaMallocHost(T **ptr, size_t size, unsigned int flags = cudaHostAllocDefault)
{
    return ::cudaHostAlloc(cardless_runtime::untyped(ptr), size, flags);
}

CARDLESS_TYPED cudaHostGetDevicePointer(T **pDevice, void *pHost, unsigned int flags)
{
    return ::cudaHostGetDevicePointer(cardless_runtime::untyped(pDevice), pHost, flags);
}

/* ---- memory in stream order. The forms with a pool allocate from it. */

CARDLESS_TYPED cudaMallocAsync(T **ptr, size_t size, cudaStream_t stream)
{
    return ::cudaMallocAsync(cardless_runtime::untyped(ptr), size, stream);
}

static inline __host__ cudaError_t cudaMallocAsync(void **ptr, size_t size, cudaMemPool_t memPool,
                                                   cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync(ptr, size, memPool, stream);
}

CARDLESS_TYPED cudaMallocAsync(T **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync(cardless_runtime::untyped(ptr), size, memPool, stream);
}

CARDLESS_TYPED cudaMallocFromPoolAsync(T **ptr, size_t size, cudaMemPool_t memPool,
                                       cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync(cardless_runtime::untyped(ptr), size, memPool, stream);
}

CARDLESS_TYPED cudaStreamAttachMemAsync(cudaStream_t stream, T *devPtr, size_t length = 0,
                                        unsigned int flags = cudaMemAttachSingle)
{
    return ::cudaStreamAttachMemAsync(stream, (void *)devPtr, length, flags);
}

/* ---- batches. The forms with one location or one set of attributes use it for all ranges. */

CARDLESS_TYPED cudaMemPrefetchBatchAsync(T **dptrs, size_t *sizes, size_t count,
                                         struct cudaMemLocation *prefetchLocs,
                                         size_t *prefetchLocIdxs, size_t numPrefetchLocs,
                                         unsigned long long flags, cudaStream_t stream)
{
    return ::cudaMemPrefetchBatchAsync(cardless_runtime::untyped(dptrs), sizes, count, prefetchLocs,
                                       prefetchLocIdxs, numPrefetchLocs, flags, stream);
}

CARDLESS_TYPED cudaMemPrefetchBatchAsync(T **dptrs, size_t *sizes, size_t count,
                                         struct cudaMemLocation location, unsigned long long flags,
                                         cudaStream_t stream)
{
    size_t first = 0;
    return ::cudaMemPrefetchBatchAsync(cardless_runtime::untyped(dptrs), sizes, count, &location,
                                       &first, 1, flags, stream);
}

CARDLESS_TYPED cudaMemDiscardAndPrefetchBatchAsync(T **dptrs, size_t *sizes, size_t count,
                                                   struct cudaMemLocation *prefetchLocs,
                                                   size_t *prefetchLocIdxs, size_t numPrefetchLocs,
                                                   unsigned long long flags, cudaStream_t stream)
{
    return ::cudaMemDiscardAndPrefetchBatchAsync(cardless_runtime::untyped(dptrs), sizes, count,
                                                 prefetchLocs, prefetchLocIdxs, numPrefetchLocs,
                                                 flags, stream);
}

CARDLESS_TYPED cudaMemDiscardAndPrefetchBatchAsync(T **dptrs, size_t *sizes, size_t count,
                                                   struct cudaMemLocation location,
                                                   unsigned long long flags, cudaStream_t stream)
{
    size_t first = 0;
    return ::cudaMemDiscardAndPrefetchBatchAsync(cardless_runtime::untyped(dptrs), sizes, count,
                                                 &location, &first, 1, flags, stream);
}

template <class T, class U>
static inline __host__ cudaError_t cudaMemcpyBatchAsync(T *const *dsts, U *const *srcs,
                                                        const size_t *sizes, size_t count,
                                                        struct cudaMemcpyAttributes *attrs,
                                                        size_t *attrsIdxs, size_t numAttrs,
                                                        cudaStream_t stream)
{
    return ::cudaMemcpyBatchAsync((void *const *)dsts, (const void *const *)srcs, sizes, count,
                                  attrs, attrsIdxs, numAttrs, stream);
}

template <class T, class U>
static inline __host__ cudaError_t cudaMemcpyBatchAsync(T *const *dsts, U *const *srcs,
                                                        const size_t *sizes, size_t count,
                                                        struct cudaMemcpyAttributes attr,
                                                        cudaStream_t stream)
{
    size_t first = 0;
    return ::cudaMemcpyBatchAsync((void *const *)dsts, (const void *const *)srcs, sizes, count,
                                  &attr, &first, 1, stream);
}
#endif

#endif
