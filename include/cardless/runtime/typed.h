/* SPDX-License-Identifier: MIT */
/* C++: from typed pointers to the void pointers of the C functions. */
#ifndef CARDLESS_RUNTIME_TYPED_H
#define CARDLESS_RUNTIME_TYPED_H

#ifdef __cplusplus
#include "../../cuda_runtime_api.h"

#define CARDLESS_TYPED template <class T> static inline __host__ cudaError_t

namespace cardless_runtime
{
template <class T> static inline __host__ void **untyped(T **pointer)
{
    return (void **)(void *)pointer;
}

/* A kernel is known to the runtime by the address of its function on the host. */
template <class T> static inline __host__ const void *function(T *kernel)
{
    return (const void *)kernel;
}

/* A variable of the device is known by the address of its shadow on the host. */
template <class T> static inline __host__ const void *variable(const T &symbol)
{
    return (const void *)&symbol;
}
} // namespace cardless_runtime
#endif

#endif
