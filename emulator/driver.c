// SPDX-License-Identifier: MIT
// Starts the driver, and reacts to forks and to the end of the process.
#include "driver.h"

#include <pthread.h> // pthread_atfork
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "call.h"
#include "capture.h"
#include "check_result.h"
#include "config.h"
#include "context.h"
#include "counter.h"
#include "device.h"
#include "external_memory.h"
#include "graphics.h"
#include "guard.h"
#include "journal.h"
#include "lock.h"
#include "log_callback.h"
#include "memory.h"
#include "memory_device.h"
#include "mutex.h"
#include "order.h"
#include "pkey.h"
#include "policy.h"
#include "pool.h"
#include "schedule_log.h"
#include "record.h"
#include "record_array.h"
#include "record_content.h"
#include "scheduler.h"
#include "startup.h"
#include "stream.h"
#include "trace.h"
#include "visible.h"

static struct dm_mutex starting = DM_MUTEX_INITIALIZER(START);

static void set_state(enum em_driver_state state)
{
    __atomic_store_n(&em_driver_state, state, __ATOMIC_RELEASE);
}

static bool is_state(enum em_driver_state state)
{
    return __atomic_load_n(&em_driver_state, __ATOMIC_ACQUIRE) == (int)state;
}

// A fork copies only the calling thread. If another thread held a lock, it would stay locked in the
// child for ever. So the locks are taken before a fork, and released in the parent and the child.
//
// A fork inside a call comes from a signal handler, or from a library that the call loads. Its
// thread may hold these locks itself, so it does not take them. The child can exec or end.
static __thread bool forks_inside;
static bool cancel_was_off; // of the thread that forks; guarded by em_lock
static const struct em_entry forks = {.name = "a fork"};

static void before_fork(void)
{
    forks_inside = em_must_refuse(em_thread());
    if (forks_inside)
        return;
    bool off = em_self.cancel_off;
    em_work_begin(&forks);
    em_cancel_off();
    dm_mutex_lock(&starting);
    em_lock();
    cancel_was_off = off;
    em_error_lock();
    em_trace_lock();
    em_log_lock();
}

static void after_fork(void)
{
    if (forks_inside)
        return;
    bool off = cancel_was_off;
    em_log_unlock();
    em_trace_unlock();
    em_error_unlock();
    em_unlock();
    dm_mutex_unlock(&starting);
    if (!off) // otherwise the fork was inside a call, and the end of the call restores it
        em_cancel_restore(em_thread());
    em_work_end(&forks);
}

static void in_child(void)
{
    if (!forks_inside)
        em_log_in_child();
    em_record_in_child();
    after_fork();
    if (is_state(EM_DRIVER_READY))
        set_state(EM_DRIVER_FORKED);
}

// Runs when the library is loaded, because another thread may fork while the driver starts. If
// there is no memory for the handlers, cuInit tries again.
static bool watches_forks;
__attribute__((constructor)) static void watch_forks(void)
{
    if (!watches_forks)
        watches_forks = !pthread_atfork(before_fork, after_fork, in_child);
}

// Prints the reason if host code accesses device memory, which causes a fault as on a card. Runs in
// the signal handler.
static void describe_fault(const struct dm_fault *fault)
{
    static const char before[] = "cardless: host code must not access device memory: ",
                      after[] = "; copy it with cudaMemcpy, cuMemcpyDtoH or cuMemcpyHtoD\n";
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

// Installs the fault handlers and the protection key. They are needed because memory of others may
// disappear or change at any time, and because only the driver may access device memory. Called
// before the first device page exists.
static CUresult start_guard(void)
{
    dm_pkey_init();
    int r = dm_guard_init();
    if (r)
        return em_fail(CUDA_ERROR_OPERATING_SYSTEM,
                       "cannot install handlers for SIGSEGV and SIGBUS: %s", strerror(-r));
    if (em_config()->sink == EM_SINK_TEXT)
        dm_fault_describe(describe_fault);
    return CUDA_SUCCESS;
}

static const struct em_policy *const policies[] = {
    [EM_EAGER] = &em_policy_eager,         [EM_PARALLEL] = &em_policy_parallel,
    [EM_LAZY] = &em_policy_lazy,           [EM_SEEDED] = &em_policy_seeded,
    [EM_SCHEDULED] = &em_policy_scheduled,
};

static CUresult start(void)
{
    em_config();
    em_trace_start();
    em_diagnostics_start();
    em_lock();
    em_scheduler.policy = policies[em_config()->policy];
    em_policy_seed(em_config()->policy_seed);
    em_policy_schedule(em_config()->departures, em_config()->departure_count);
    em_schedule_log_start();
    em_unlock();
    em_have_cores(); // asks the dynamic loader, as no thread of the driver should do later
    if (em_is_single_threaded()) // later, the kernel takes some milliseconds for it
        em_sharing_prepare();
    em_order_start();
    em_streams_start();
    em_graph_start();
    em_graphics_start();
    em_memory_start();
    em_pools_start();
    em_external_start();
    CUresult r = em_context_threads_start();
    if (!r)
        r = start_guard();
    if (!r)
        r = em_space_start();
    if (!r)
        r = em_devices_start();
    if (r)
        return r;
    watch_forks();
    return watches_forks
               ? CUDA_SUCCESS
               : em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for the handlers of fork");
}

DM_STARTUP CUresult em_init(unsigned flags)
{
    // "Flags: Initialization flag for CUDA. Currently, the Flags parameter must be 0."
    if (flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "Flags is %#x; it must be 0", flags);
    if (is_state(EM_DRIVER_FORKED) || is_state(EM_DRIVER_GONE))
        return em_not_ready();
    CUresult r = CUDA_SUCCESS;
    em_cancel_off();
    em_devices_choose_prepare();
    dm_mutex_lock(&starting);
    if (is_state(EM_DRIVER_OFF)) {
        r = start();
        if (!r)
            set_state(EM_DRIVER_READY);
        if (!r && em_config()->fail_alloc)
            dm_alloc_fail_after(em_config()->fail_alloc);
    }
    dm_mutex_unlock(&starting);
    return r;
}

CUresult em_list_devices(void)
{
    em_assert_unlocked();
    em_cancel_off();
    em_devices_choose_prepare();
    dm_mutex_lock(&starting);
    CUresult r = em_devices_start();
    dm_mutex_unlock(&starting);
    return r;
}

// Shuts the driver down. Destructors of the program, and of libraries that use this one, run
// earlier. Calls from destructors that run later return CUDA_ERROR_DEINITIALIZED.
__attribute__((destructor)) static void leave(void)
{
    static const struct em_entry exits = {.name = "the exit"};
    if (!is_state(EM_DRIVER_READY))
        return;
    em_work_begin(&exits);
    em_journal_finish();
    if (em_config()->fail_alloc)
        fprintf(stderr, "cardless: CARDLESS_FAIL_ALLOC=%llu: %s\n",
                (unsigned long long)em_config()->fail_alloc,
                dm_alloc_failed() ? "this allocation failed as requested"
                                  : "the process ended before this allocation");
    em_order_finish();
    em_check_finish();
    if (em_recording_contents)
        em_record_texels_left();
    em_record_finish();
    set_state(EM_DRIVER_GONE);
    dm_guard_finish();
    em_work_end(&exits);
}
