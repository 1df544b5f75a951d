// SPDX-License-Identifier: MIT
// What the runtime knows about each thread of the program.
#pragma once
#include "types.h"

// An exported function; generated.
struct rt_entry {
    const char *name;
};

struct rt_thread {
    const struct rt_entry *entry; // the call that runs, NULL between calls
    cudaError_t last_error;
    int chosen; // one more than the device that cudaSetDevice chose, 0 before that
};

extern __thread struct rt_thread rt_this_thread __attribute__((tls_model("initial-exec")));

static inline struct rt_thread *rt_thread(void)
{
    return &rt_this_thread;
}
