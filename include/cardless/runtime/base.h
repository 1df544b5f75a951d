/* SPDX-License-Identifier: MIT */
/* The handles of the runtime API. Most of them are the driver's own, so that a program may pass one
 * to either API. */
#ifndef CARDLESS_RUNTIME_BASE_H
#define CARDLESS_RUNTIME_BASE_H

#include <stddef.h>

#include "../abi/unnamed.h"
#include "../abi/uuid.h"

#ifdef _WIN32
#define CUDART_CB __stdcall
#else
#define CUDART_CB
#endif

typedef struct CUuuid_st cudaUUID_t;

/* Handles that are the driver's: CUstream, CUevent, CUgraph … */
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUexternalMemory_st *cudaExternalMemory_t;
typedef struct CUexternalSemaphore_st *cudaExternalSemaphore_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUgraphDeviceUpdatableNode_st *cudaGraphDeviceNode_t;
typedef struct CUuserObject_st *cudaUserObject_t;
typedef struct CUfunc_st *cudaFunction_t;
typedef struct CUkern_st *cudaKernel_t;
typedef struct CUlib_st *cudaLibrary_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef struct CUlogsCallbackEntry_st *cudaLogsCallbackHandle;

/* The driver's handles with a type of their own. */
typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
typedef const struct cudaMipmappedArray *cudaMipmappedArray_const_t;
typedef struct cudaGraphicsResource *cudaGraphicsResource_t;
typedef struct cudaAsyncCallbackEntry *cudaAsyncCallbackHandle_t;

/* The two default streams. A NULL stream means the first, or the second in code that is compiled
 * with CUDA_API_PER_THREAD_DEFAULT_STREAM. */
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)

/* A function of the host that runs in stream order. */
typedef void(CUDART_CB *cudaHostFn_t)(void *);

#endif
