// SPDX-License-Identifier: MIT
// One semaphore of a call that signals several or waits for them, and its checks.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

struct em_context;
struct em_external_semaphore;

// One element of the two arrays of a call, signal or wait.
struct em_semaphore_request {
    CUexternalSemaphore handle;
    uint64_t value;
    unsigned flags;
    bool reserved;    // a reserved word is not 0
    bool keyed_mutex; // a parameter of keyed mutexes is not 0
};

// Reads element i of an array of parameters, apart from the handle.
typedef struct em_semaphore_request em_semaphore_request_fn(const void *params, unsigned i);
em_semaphore_request_fn em_signal_request, em_wait_request;

// Checks element i for a stream of the context, and finds its semaphore, without a reference.
// Precondition: em_lock held.
CUresult em_semaphore_check(const struct em_context *context, unsigned i,
                            const struct em_semaphore_request *request,
                            struct em_external_semaphore **out);
