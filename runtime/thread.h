// SPDX-License-Identifier: MIT
// What the runtime knows about each thread of the program.
#pragma once
#include <cuda.h>
#include <stdint.h>

#include "types.h"

// An exported function; generated. A driver that exports cardlessThisCaller knows it as a
// cardlessCaller.
struct rt_entry {
    const char *name;
    void *reserved[3];
    const char *list; // the arguments as in C
};

struct rt_thread {
    const struct rt_entry *entry; // the call that runs, NULL between calls
    // The place where the driver looks for that call, to name it in messages: `unnamed` if it does
    // not ask. NULL before the thread's first call.
    const struct rt_entry **caller, *unnamed;
    // The same for the address to which the call returns: `nowhere` if the driver does not ask.
    const void **call_site, *nowhere;
    cudaError_t last_error;
    cudaError_t driver_error; // whether the call that runs could start the driver
    int chosen;               // one more than the device that cudaSetDevice chose, 0 before that
    // The last context that context.c looked at, and the device whose primary context it is, or -1.
    CUcontext context;
    int primary_device;
    uint32_t resets;     // rt_context_resets at that time
    cudaError_t missing; // why the thread's last __cudaGetKernel failed, or cudaSuccess
};

extern __thread struct rt_thread rt_this_thread __attribute__((tls_model("initial-exec")));

// Finds the thread's `caller` and `call_site`.
void rt_thread_start(struct rt_thread *self) __attribute__((cold));

static inline struct rt_thread *rt_thread(void)
{
    return &rt_this_thread;
}
