// SPDX-License-Identifier: MIT
// The context in which a call of the runtime works.
#pragma once
#include <cuda.h>
#include <stdbool.h>

#include "thread.h"
#include "types.h"

// The thread's device: that of the current context, else the one that cudaSetDevice chose, else the
// first one. `current` is that context, or NULL.
int rt_current_device(void);
int rt_device_of(CUcontext current);

// Returns cudaErrorInvalidDevice if there is no device of this number, with a message that calls it
// `argument`.
cudaError_t rt_device_check(const char *argument, int device);

// The primary context of a device. Creates it if the runtime has not done that yet, or if it was
// destroyed since.
cudaError_t rt_context_primary(int device, CUcontext *context);

// Makes the primary context of a device current, and creates it if necessary.
cudaError_t rt_context_enter(int device);

// Whether the current context is one that the program created with the driver API.
bool rt_context_is_own(void);

// A context is current: the program's own or a primary one. Otherwise, enters the primary context
// of the thread's device.
cudaError_t rt_need_context(struct rt_thread *self);

// Counts the calls of cudaDeviceReset. Atomic.
extern uint32_t rt_context_resets;

// Whether the thread has had a context, and no context has been reset since.
static inline bool rt_context_is_known(void)
{
    const struct rt_thread *self = rt_thread();
    return self->context && self->resets == __atomic_load_n(&rt_context_resets, __ATOMIC_RELAXED);
}

// Makes a call of the driver that checks the context itself, instead of the check `ctx` before it,
// which would cost as much as the rest of this library's part. If the context is gone, enters the
// primary one and tries again. Returns from the body if that fails.
#define RT_IN_CONTEXT(result, call)                                                                \
    do {                                                                                           \
        (result) = rt_context_is_known() ? (call) : CUDA_ERROR_INVALID_CONTEXT;                    \
        if (__builtin_expect((result) == CUDA_ERROR_INVALID_CONTEXT ||                             \
                                 (result) == CUDA_ERROR_CONTEXT_IS_DESTROYED,                      \
                             0)) {                                                                 \
            cudaError_t rt_context_error_ = rt_need_context(rt_thread());                          \
            if (rt_context_error_ != cudaSuccess)                                                  \
                return rt_context_error_;                                                          \
            (result) = (call);                                                                     \
        }                                                                                          \
    } while (0)
