// SPDX-License-Identifier: MIT
// Small programs with a mistake in the order of their work, each with a correct twin. All of them
// are in one program, which runs the one that its arguments name: `corpus NAME wrong|right`. They
// pass under `eager`; `cardless explore` finds an order under which the wrong ones fail.
//
// A program returns whether its result was right.
#pragma once
#include <cardless.h>
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call)                                                                                 \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_) {                                                                             \
            const char *name_ = "an unknown code";                                                 \
            cuGetErrorName(result_, &name_);                                                       \
            printf("%s gives %s\n", #call, name_);                                                 \
            fflush(stdout);                                                                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { BYTES = 64 };

// A stream that is not ordered with the legacy default stream.
static inline CUstream new_stream(void)
{
    CUstream s;
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    return s;
}

static inline CUevent new_event(void)
{
    CUevent e;
    MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    return e;
}

// BYTES of device memory, all 0.
static inline CUdeviceptr new_memory(void)
{
    CUdeviceptr p;
    MUST(cuMemAlloc(&p, BYTES));
    MUST(cuMemsetD8(p, 0, BYTES));
    MUST(cuCtxSynchronize());
    return p;
}

// BYTES of page-locked memory, all 0.
static inline unsigned char *new_host_memory(void)
{
    unsigned char *p = NULL;
    MUST(cuMemHostAlloc((void **)&p, BYTES, CU_MEMHOSTALLOC_DEVICEMAP));
    memset(p, 0, BYTES);
    return p;
}

static inline void fill(CUdeviceptr p, unsigned char value, CUstream s)
{
    MUST(cuMemsetD8Async(p, value, BYTES, s));
}

static inline void copy(CUdeviceptr to, CUdeviceptr from, CUstream s)
{
    MUST(cuMemcpyDtoDAsync(to, from, BYTES, s));
}

static inline void read_back(unsigned char *to, CUdeviceptr from, CUstream s)
{
    MUST(cuMemcpyDtoHAsync(to, from, BYTES, s));
}

// Orders the later work of one stream after the work that another one holds now.
static inline void wait_for(CUstream waits, CUstream other)
{
    CUevent e = new_event();
    MUST(cuEventRecord(e, other));
    MUST(cuStreamWaitEvent(waits, e, 0));
}

static inline bool is(const char *name, unsigned got, unsigned want)
{
    if (got != want)
        printf("%s is %u, expected %u\n", name, got, want);
    return got == want;
}

// The programs, by file.
#define STREAM_PROGRAMS(X)                                                                         \
    X(missing_wait)                                                                                \
    X(wait_in_wrong_stream)                                                                        \
    X(event_recorded_before_work)                                                                  \
    X(event_of_earlier_round)                                                                      \
    X(event_reused)                                                                                \
    X(write_after_read)                                                                            \
    X(default_stream_with_non_blocking_stream)                                                     \
    X(default_stream_of_thread)                                                                    \
    X(priority_taken_for_order)                                                                    \
    X(overlapping_copies)                                                                          \
    X(double_buffer_index)
#define HOST_PROGRAMS(X)                                                                           \
    X(missing_sync_before_read)                                                                    \
    X(synchronised_wrong_stream)                                                                   \
    X(synchronised_wrong_event)                                                                    \
    X(staging_buffer_reused)                                                                       \
    X(query_taken_for_completion)                                                                  \
    X(event_never_recorded)                                                                        \
    X(flag_in_other_stream)                                                                        \
    X(order_of_callbacks)                                                                          \
    X(callback_changes_buffer)                                                                     \
    X(host_function_flag)
#define SHARED_PROGRAMS(X)                                                                         \
    X(semaphore_value_off_by_one)                                                                  \
    X(semaphore_signalled_before_work)                                                             \
    X(semaphore_waits_swapped)                                                                     \
    X(word_waits_for_equal)                                                                        \
    X(unmapped_on_other_stream)                                                                    \
    X(mapped_on_other_stream)                                                                      \
    X(graph_with_changed_buffer)                                                                   \
    X(graph_result_in_other_stream)                                                                \
    X(captured_branch_without_edge)                                                                \
    X(freed_on_other_stream)                                                                       \
    X(allocated_on_other_stream)
#define KERNEL_PROGRAMS(X)                                                                         \
    X(missing_syncthreads)                                                                         \
    X(missing_syncwarp)                                                                            \
    X(blocks_in_order)                                                                             \
    X(missing_cluster_barrier)

#define DECLARE(name) bool name(bool right);
STREAM_PROGRAMS(DECLARE)
HOST_PROGRAMS(DECLARE)
SHARED_PROGRAMS(DECLARE)
KERNEL_PROGRAMS(DECLARE)
#undef DECLARE
