// SPDX-License-Identifier: MIT
// The context in which a call of the runtime works.
#pragma once
#include "types.h"

struct rt_thread;

// The thread's device: that of the current context, else the one that cudaSetDevice chose.
cudaError_t rt_current_device(int *device);

// Creates the primary context of a device, if the runtime has not done that or it was destroyed
// since, and makes it current.
cudaError_t rt_context_enter(int device);

// A context is current: the program's own or a primary context. If not, enters the
// primary context of the thread's device. Returns the context's sticky error.
cudaError_t rt_need_context(struct rt_thread *self);
