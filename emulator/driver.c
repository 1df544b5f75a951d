// SPDX-License-Identifier: MIT
// Starts the driver, and notices forks and the end of the process.
#include "driver.h"

#include <pthread.h> // pthread_atfork
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "call.h"
#include "config.h"
#include "context.h"
#include "device.h"
#include "graphics.h"
#include "guard.h"
#include "journal.h"
#include "lock.h"
#include "memory.h"
#include "memory_device.h"
#include "mutex.h"
#include "pkey.h"
#include "policy.h"
#include "pool.h"
#include "scheduler.h"
#include "stream.h"
#include "trace.h"

static struct dm_mutex starting = DM_MUTEX_INITIALIZER(START);

static void set_state(enum em_driver_state state)
{
    __atomic_store_n(&em_driver_state, state, __ATOMIC_RELEASE);
}

static bool is_state(enum em_driver_state state)
{
    return __atomic_load_n(&em_driver_state, __ATOMIC_ACQUIRE) == (int)state;
}

// A fork copies this thread alone; what other threads hold at that moment would stay held in the
// child for ever.
static bool cancel_was_off; // in the thread that forks; under em_lock

static void before_fork(void)
{
    bool off = em_self.cancel_off;
    em_cancel_off();
    dm_mutex_lock(&starting);
    em_lock();
    cancel_was_off = off;
    em_error_lock();
    em_trace_lock();
}

static void after_fork(void)
{
    bool off = cancel_was_off;
    em_trace_unlock();
    em_error_unlock();
    em_unlock();
    dm_mutex_unlock(&starting);
    if (!off) // the fork was not inside of a call, whose end restores it
        em_cancel_restore(em_thread());
}

static void in_child(void)
{
    after_fork();
    if (is_state(EM_DRIVER_READY))
        set_state(EM_DRIVER_FORKED);
}

// Host code that touches device memory faults as it does with a card; it is told why. Runs inside
// the signal handler.
static void describe_fault(const struct dm_fault *fault)
{
    static const char before[] = "cardless: host code must not touch device memory: ",
                      after[] = "; copy it with cuMemcpyDtoH or cuMemcpyHtoD\n";
    char line[256];
    if (fault->kind != DM_FAULT_PKEY)
        return;
    memcpy(line, before, sizeof before);
    dm_fault_text(fault, line + sizeof before - 1, sizeof line - sizeof before - sizeof after);
    size_t size = strlen(line);
    memcpy(line + size, after, sizeof after);
    if (write(STDERR_FILENO, line, size + sizeof after - 1) < 0)
        return;
}

// Other people's memory may be gone or change; and device memory is for the driver alone. Before
// any device page exists.
static CUresult start_guard(void)
{
    dm_pkey_init();
    int r = dm_guard_init();
    if (r)
        return em_fail(CUDA_ERROR_OPERATING_SYSTEM, "no handler for faults can be installed: %s",
                       strerror(-r));
    if (em_config()->sink == EM_SINK_TEXT)
        dm_fault_describe(describe_fault);
    return CUDA_SUCCESS;
}

static CUresult start(void)
{
    em_config();
    em_trace_start();
    em_diagnostics_start();
    em_lock();
    em_scheduler.policy =
        em_config()->policy == EM_PARALLEL ? &em_policy_parallel : &em_policy_eager;
    em_unlock();
    em_streams_start();
    em_graphics_start();
    em_memory_start();
    em_pools_start();
    CUresult r = em_context_threads_start();
    if (!r)
        r = start_guard();
    if (!r)
        r = em_space_start();
    if (!r)
        r = em_devices_start();
    if (r)
        return r;
    static bool watching; // a failed start may be tried again; handlers cannot be taken back
    if (!watching && pthread_atfork(before_fork, after_fork, in_child))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory to watch for forks");
    watching = true;
    return CUDA_SUCCESS;
}

CUresult em_init(unsigned flags)
{
    // "Flags: Initialization flag for CUDA. Currently, the Flags parameter must be 0."
    if (flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "Flags is %#x, it must be 0", flags);
    if (is_state(EM_DRIVER_FORKED) || is_state(EM_DRIVER_GONE))
        return em_not_ready();
    CUresult r = CUDA_SUCCESS;
    em_cancel_off();
    dm_mutex_lock(&starting);
    if (is_state(EM_DRIVER_OFF) && !(r = start())) {
        set_state(EM_DRIVER_READY);
        if (em_config()->fail_alloc)
            dm_alloc_fail_after(em_config()->fail_alloc);
    }
    dm_mutex_unlock(&starting);
    return r;
}

// Destructors of the program, and of libraries that use this one, run before this; those that come
// after it find the driver gone.
__attribute__((destructor)) static void leave(void)
{
    if (!is_state(EM_DRIVER_READY))
        return;
    em_journal_finish();
    if (em_config()->fail_alloc)
        fprintf(stderr, "cardless: CARDLESS_FAIL_ALLOC=%llu: %s\n",
                (unsigned long long)em_config()->fail_alloc,
                dm_alloc_failed() ? "that allocation has failed"
                                  : "the process ended before that allocation");
    set_state(EM_DRIVER_GONE);
    dm_guard_finish();
}
