// SPDX-License-Identifier: MIT
// The first and last steps of every exported function: count the call, check that the driver has
// started and that a context is current, trace. The functions generated from api/table/driver.def
// use the inline functions here, which cost a few nanoseconds.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cardless_types.h"
#include "context_base.h"
#include "error.h"
#include "guard.h"
#include "hidden.h"
#include "lock.h"
#include "log.h"
#include "thread.h"

// The behaviour of an entry point while a stream is being captured; the column `capture` of the
// table. If no bit is set, capture does not affect the entry point, or its behaviour is unknown.
enum em_capture {
    EM_CAPTURE_NODE = 1,   // becomes a node if its stream is captured
    EM_CAPTURE_LEGACY = 2, // works in the default stream, which must not depend on a capture
    EM_CAPTURE_NEVER = 4,  // fails if its stream or context is captured
    EM_CAPTURE_UNSAFE = 8, // fails during a capture whose mode forbids unsafe calls
    EM_CAPTURE_QUERY = 16, // reads a property of its stream
};

// The row of the table for an entry point; the generator makes one for each exported symbol.
struct em_entry {
    const char *name;                   // the exported name
    const cardlessTypes *description;   // the types of its arguments, or NULL
    uint32_t first_argument, arguments; // in the description
    union {
        unsigned capture;         // enum em_capture
        const char *const *names; // of a function of a client library: those of its cardlessCaller
    };
    const char *list; // the arguments as in C, or NULL
};

enum em_driver_state { EM_DRIVER_OFF, EM_DRIVER_READY, EM_DRIVER_FORKED, EM_DRIVER_GONE };
// enum em_driver_state; written with a release store by em_init.
extern DM_HIDDEN int em_driver_state;
// CARDLESS_TRACE or CARDLESS_RECORD is set; fixed before the first call returns.
extern DM_HIDDEN bool em_tracing;
extern DM_HIDDEN bool em_tracing_text; // CARDLESS_TRACE is set; likewise
extern DM_HIDDEN bool em_recording;    // CARDLESS_RECORD is set; likewise (record.h)

#define em_likely(x) __builtin_expect(!!(x), 1)
#define em_unlikely(x) __builtin_expect(!!(x), 0)

// Starts the thread if this is its first call, and a recording if one is due. Called at the
// beginning of each call of a thread that is not `quick`, unless both have started.
void em_thread_start(void);

// A nested call is normal while the driver runs a callback of the program (em_program_begin). Any
// other nested call comes from a signal handler, or from a callback of a library that the driver
// uses. It is refused, because the outer call may hold a lock of the driver or be in malloc, and
// the nested one would wait for it. em_begin calls em_begin_inside, the call then asks em_permitted
// or em_refuse_or_record and does nothing more if that fails, and em_end calls em_end_inside.

// Whether a call that begins now has to be refused.
static inline bool em_must_refuse(const struct em_thread *self)
{
    return self->entry && !self->in_program;
}

void em_begin_inside(struct em_thread *self) __attribute__((cold));
void em_end_inside(struct em_thread *self) __attribute__((cold));
// Returns CUDA_ERROR_NOT_PERMITTED, and writes a sentence that names both calls.
CUresult em_refuse(void) __attribute__((cold));
// For a thread that is not `quick`: refuses the call if it has to be, else records it. `values`: as
// in em_trace.
CUresult em_refuse_or_record(struct em_thread *self, const uint64_t *values) __attribute__((cold));

CUresult em_not_ready(void) __attribute__((cold));
CUresult em_no_context(void) __attribute__((cold));
CUresult em_null(const char *argument) __attribute__((cold));        // CUDA_ERROR_INVALID_VALUE
CUresult em_null_handle(const char *argument) __attribute__((cold)); // CUDA_ERROR_INVALID_HANDLE
// CUDA_ERROR_NOT_SUPPORTED, with a message the first time: `reported` belongs to the entry point.
CUresult em_unsupported(const struct em_entry *entry, bool *reported) __attribute__((cold));

// Returns true if the reserved words of a descriptor are all 0.
static inline bool em_all_zero(const unsigned *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (words[i])
            return false;
    return true;
}

// Begins a call. If a callback or a signal handler makes it inside another one, returns that outer
// call, otherwise NULL. The result should be passed to em_end. Only exported functions may call it,
// because the return address of the function that it is inlined into becomes the call site.
static inline __attribute__((always_inline)) const struct em_entry *
em_begin(struct em_thread *self, const struct em_entry *entry)
{
    const struct em_entry *outer = self->entry;
    if (em_unlikely(outer)) {
        em_begin_inside(self);
    } else {
        self->entry_caller = self->caller;
    }
    self->entry = entry;
    if (em_unlikely(!self->quick) && !(self->number && em_recording))
        em_thread_start();
    self->returns_to = __builtin_return_address(0);
    self->calls++;
    return outer;
}

// Fails if the call that has begun has to be refused. Calls that are not recorded should ask this.
static inline CUresult em_permitted(const struct em_thread *self)
{
    return em_likely(!self->interrupts) ? CUDA_SUCCESS : em_refuse();
}

// The checks of the table. A caller that already has its thread's state should pass it as `self`.

// "CUDA_ERROR_NOT_INITIALIZED: cuInit has not been called".
static inline CUresult em_thread_need_init(const struct em_thread *self)
{
    return em_likely(__atomic_load_n(&em_driver_state, __ATOMIC_ACQUIRE) == EM_DRIVER_READY &&
                     !self->in_host_function)
               ? CUDA_SUCCESS
               : em_not_ready();
}

static inline CUresult em_need_init(void)
{
    return em_thread_need_init(em_thread());
}

// Fails unless a context is current and alive, and has no sticky error.
static inline CUresult em_thread_need_context(const struct em_thread *self)
{
    return em_likely(self->current && em_context_error_state(self->current) == EM_FINE)
               ? CUDA_SUCCESS
               : em_no_context();
}

static inline CUresult em_need_context(void)
{
    return em_thread_need_context(em_thread());
}

// Fails if a context is current but was destroyed or has a sticky error.
static inline CUresult em_thread_need_context_if_any(const struct em_thread *self)
{
    return self->current ? em_thread_need_context(self) : CUDA_SUCCESS;
}

// Fails unless a context is current. The context may have been destroyed.
static inline CUresult em_thread_need_current(const struct em_thread *self)
{
    return em_likely(self->current) ? CUDA_SUCCESS : em_no_context();
}

static inline CUresult em_need_current(void)
{
    return em_thread_need_current(em_thread());
}

// Identifies the call in progress, for object histories and messages.
static inline uint64_t em_call_now(void)
{
    return em_self.number << 40 | em_self.calls;
}

// "call 345", or "call 12 of thread 3" if the thread is not the first one.
void em_call_text(uint64_t call, char *out, size_t size);

// The call in progress as messages and histories name it: if a library made it for one of its own
// functions, that function (cardlessThisCaller). The rules that a call keeps belong to
// em_self.entry.
static inline const struct em_entry *em_named_entry(void)
{
    const struct em_thread *self = em_thread();
    return self->entry && self->caller ? self->caller : self->entry;
}

// Whether the entry is of a library (cardlessCaller) and not of the driver, which alone names
// handles.
static inline bool em_is_of_library(const struct em_entry *entry)
{
    return entry && entry->description && !entry->description->handle_text;
}

// The return address of the call that em_named_entry names, or NULL if it is unknown.
static inline const void *em_call_site(void)
{
    const struct em_thread *self = em_thread();
    if (!self->entry)
        return NULL;
    return self->caller ? self->caller_returns_to : self->returns_to;
}

// Whether the call, which has the word `asks` in the table, is not recorded: a library makes it for
// one of its own functions, and that is. `outer`: as em_begin has returned it; a call inside of
// another one comes from a callback of the program.
bool em_record_asks(const struct em_thread *self);
static inline bool em_is_question(const struct em_thread *self, const struct em_entry *outer)
{
    return !outer && self->caller && em_record_asks(self);
}

// The name of the call in progress, or "cardless" outside a call.
static inline const char *em_entry_name(void)
{
    const struct em_entry *entry = em_named_entry();
    return entry ? entry->name : "cardless";
}

// The end of a call that has taken a lock, or has begun inside another one.
static inline void em_leave(struct em_thread *self, const struct em_entry *outer, CUresult result)
{
    if (em_unlikely(self->interrupts)) {
        em_end_inside(self);
        return;
    }
    if (self->in_guard) {
        self->in_guard = false;
        dm_guard_ends();
    }
    if (em_unlikely(self->logged))
        em_log_leave(self, em_entry_name(), outer, result);
    if (!outer)
        em_cancel_restore(self);
    else // which goes on, and must not be cancelled until it returns
        em_end_inside(self);
}

// The driver is about to call a function of the program, which may make calls or is told that it
// must not. Returns what em_program_end should be passed afterwards.
static inline bool em_program_begin(void)
{
    struct em_thread *self = em_thread();
    const bool outer = self->in_program;
    self->in_program = true;
    return outer;
}

static inline void em_program_end(bool outer)
{
    struct em_thread *self = em_thread();
    self->in_program = outer;
    self->has_waited = true;
    self->gl_call = 0; // the function may have made another OpenGL context current
}

// The driver also works outside of calls: when a thread forks or ends, for example. A handler's
// calls are refused then as well. The name of `work` goes before "of the same thread".
extern const struct em_entry em_thread_end;

static inline void em_work_begin(const struct em_entry *work)
{
    struct em_thread *self = em_thread();
    if (self->entry)
        return;
    self->gl_call = 0;
    self->entry_caller = self->caller;
    self->entry = work;
}

static inline void em_work_end(const struct em_entry *work)
{
    struct em_thread *self = em_thread();
    if (self->entry == work)
        self->entry = NULL;
}

// Ends a call.
static inline CUresult em_end(struct em_thread *self, const struct em_entry *outer, CUresult result)
{
    self->returns_to = NULL;
    if (self->cancel_off)
        em_leave(self, outer, result);
    self->entry = outer;
    return result;
}
