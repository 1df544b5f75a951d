// SPDX-License-Identifier: MIT
// Starts the driver, and notices forks and the end of the process.
#include "driver.h"

#include <pthread.h>
#include <stdbool.h>

#include "call.h"
#include "config.h"
#include "device.h"
#include "journal.h"
#include "lock.h"
#include "trace.h"

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

static void set_state(enum em_driver_state state)
{
    __atomic_store_n(&em_driver_state, state, __ATOMIC_RELEASE);
}

static bool is_state(enum em_driver_state state)
{
    return __atomic_load_n(&em_driver_state, __ATOMIC_ACQUIRE) == (int)state;
}

// A fork copies this thread alone; what other threads hold at that moment would stay held in the child for ever.
static void before_fork(void)
{
    pthread_mutex_lock(&starting);
    em_lock();
    em_error_lock();
}

static void after_fork(void)
{
    em_error_unlock();
    em_unlock();
    pthread_mutex_unlock(&starting);
}

static void in_child(void)
{
    after_fork();
    if (is_state(EM_DRIVER_READY))
        set_state(EM_DRIVER_FORKED);
}

static CUresult start(void)
{
    em_config();
    em_trace_start();
    CUresult r = em_context_threads_start();
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
    pthread_mutex_lock(&starting);
    if (is_state(EM_DRIVER_OFF) && !(r = start()))
        set_state(EM_DRIVER_READY);
    pthread_mutex_unlock(&starting);
    return r;
}

// Destructors of the program, and of libraries that use this one, run before this; those that come after it find the driver gone.
__attribute__((destructor)) static void leave(void)
{
    if (!is_state(EM_DRIVER_READY))
        return;
    em_journal_finish();
    set_state(EM_DRIVER_GONE);
}
