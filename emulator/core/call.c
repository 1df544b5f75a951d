// SPDX-License-Identifier: MIT
// The driver's state, the start of a thread, and the slow paths of the checks in call.h.
#include "call.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "config.h"
#include "record.h"
#include "sink.h"
#include "trace.h"

int em_driver_state;
bool em_tracing, em_tracing_text;

static _Atomic uint64_t threads;

const struct em_entry em_thread_end = {.name = "the end"};

void em_thread_start(void)
{
    struct em_thread *self = em_thread();
    if (self->interrupts) // the call is refused, and starts nothing
        return;
    if (!self->number) {
        self->number = atomic_fetch_add(&threads, 1) + 1;
        em_trace_start();
    }
    if (!em_recording)
        em_record_start();
    self->quick = !em_recording;
}

// ---- calls inside other calls ----

void em_begin_inside(struct em_thread *self)
{
    em_cancel_off(); // so that em_end calls em_leave
    if (!em_must_refuse(self)) {
        self->in_program = false; // until em_end_inside
        return;
    }
    if (!self->interrupts)
        self->interrupted = self->entry_caller ? self->entry_caller : self->entry;
    self->interrupts++;
    self->quick = false; // generated functions look at this alone
}

void em_end_inside(struct em_thread *self)
{
    if (!self->interrupts) {
        self->in_program = true;
        return;
    }
    self->interrupts--;
    if (!self->interrupts)
        self->quick = !em_recording;
}

// The name of a call that is refused. If `caller` has not changed since the interrupted call began,
// the handler has called the driver directly, because libcudart refuses its own calls before they
// reach the driver (cardlessMayCall).
static const char *refused_name(const struct em_thread *self)
{
    return self->caller == self->entry_caller ? self->entry->name : em_entry_name();
}

// The manual does not say that calls are async-signal-safe (signal-safety(7)). The text is written
// without a lock, because the call that was interrupted may hold any of them.
CUresult em_refuse(void)
{
    static unsigned shown;
    char text[512];
    const struct em_config *config = em_config_if_read();
    if ((!config || config->sink != EM_SINK_OFF) &&
        __atomic_fetch_add(&shown, 1, __ATOMIC_RELAXED) < 8) {
        int n = snprintf(text, sizeof text,
                         "cardless: %s: CUDA_ERROR_NOT_PERMITTED: a signal handler, or a callback "
                         "of another library, makes this call, and it has interrupted %s of the "
                         "same thread; let it set a flag, and make the call later\n",
                         refused_name(em_thread()), em_self.interrupted->name);
        em_sink_write_all(STDERR_FILENO, text, (size_t)n);
    }
    return CUDA_ERROR_NOT_PERMITTED;
}

CUresult em_refuse_or_record(struct em_thread *self, const uint64_t *values)
{
    if (self->interrupts)
        return em_refuse();
    em_record_call(self, self->entry, values, self->returns_to);
    return CUDA_SUCCESS;
}

// ---- names of calls ----

void em_call_text(uint64_t call, char *out, size_t size)
{
    uint64_t thread = call >> 40, n = call & ((UINT64_C(1) << 40) - 1);
    if (thread <= 1)
        snprintf(out, size, "call %llu", (unsigned long long)n);
    else
        snprintf(out, size, "call %llu of thread %llu", (unsigned long long)n,
                 (unsigned long long)thread);
}

// ---- failed checks ----

// cuLaunchHostFunc: "The host function must not make any CUDA API calls"; "attempting to use a CUDA
// API may result in CUDA_ERROR_NOT_PERMITTED".
static CUresult fail_inside_host_function(void)
{
    return em_fail(
        CUDA_ERROR_NOT_PERMITTED, "a %s must not make CUDA calls; make this call after it has %s",
        em_self.in_kernel ? "kernel" : "host function", em_self.in_kernel ? "ended" : "returned");
}

CUresult em_not_ready(void)
{
    if (em_self.in_host_function)
        return fail_inside_host_function();
    switch (__atomic_load_n(&em_driver_state, __ATOMIC_ACQUIRE)) {
    case EM_DRIVER_GONE:
        return em_fail(CUDA_ERROR_DEINITIALIZED,
                       "the process is exiting, and the driver has shut down");
    case EM_DRIVER_FORKED:
        return em_fail(CUDA_ERROR_NOT_INITIALIZED,
                       "this process was forked after the driver had started, and a card does not "
                       "work in the child; fork before the first CUDA call, or exec after fork");
    default:
        return em_fail(CUDA_ERROR_NOT_INITIALIZED,
                       "cuInit was not called, or it failed; call cuInit(0) first");
    }
}

CUresult em_no_context(void)
{
    struct em_context *c = em_self.current;
    if (em_self.in_host_function)
        return fail_inside_host_function();
    if (!c)
        return em_fail(CUDA_ERROR_INVALID_CONTEXT,
                       em_self.caller
                           ? "no context is current in this thread; call cudaSetDevice first"
                           : "no context is current in this thread; call cuCtxCreate, or "
                             "cuDevicePrimaryCtxRetain and cuCtxSetCurrent");
    return em_context_error(c);
}

CUresult em_null(const char *argument)
{
    return em_fail_of(argument, CUDA_ERROR_INVALID_VALUE, "argument %s is NULL", argument);
}

CUresult em_null_handle(const char *argument)
{
    return em_fail_of(argument, CUDA_ERROR_INVALID_HANDLE, "argument %s is NULL", argument);
}

CUresult em_unsupported(const struct em_entry *entry, bool *reported)
{
    if (!__atomic_exchange_n(reported, true, __ATOMIC_RELAXED))
        em_fail(CUDA_ERROR_NOT_SUPPORTED, "Cardless does not implement %s", entry->name);
    return CUDA_ERROR_NOT_SUPPORTED;
}
