// SPDX-License-Identifier: MIT
// The first and last steps of every exported function: count the call, check that the driver and a
// context exist, trace. The functions generated from api/table/driver.def use the inline functions
// here, which cost a few nanoseconds.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context_base.h"
#include "error.h"
#include "lock.h"
#include "thread.h"

// How an entry point behaves while a stream is being captured; the column `capture` of the table.
// No bit: capture does not affect it, or its behaviour is not known.
enum em_capture {
    EM_CAPTURE_NODE = 1,   // becomes a node if its stream is captured
    EM_CAPTURE_LEGACY = 2, // works in the default stream, which must not depend on a capture
    EM_CAPTURE_NEVER = 4,  // not allowed for a stream (or context) that is captured
    EM_CAPTURE_UNSAFE = 8, // not allowed while a capture is in a mode that forbids unsafe calls
};

// Facts of the table about an entry point; the generator makes one for each exported symbol.
struct em_description;
struct em_entry {
    const char *name;                         // the exported name
    const struct em_description *description; // the types of its arguments, or NULL
    uint32_t first_argument, arguments;       // in the description
    unsigned capture;                         // enum em_capture
};

enum em_driver_state { EM_DRIVER_OFF, EM_DRIVER_READY, EM_DRIVER_FORKED, EM_DRIVER_GONE };
extern int em_driver_state; // enum em_driver_state; written with a release store by em_init
extern bool em_tracing;     // CARDLESS_TRACE is set; fixed before the first call returns

#define em_likely(x) __builtin_expect(!!(x), 1)
#define em_unlikely(x) __builtin_expect(!!(x), 0)

void em_thread_start(void);
CUresult em_not_ready(void) __attribute__((cold));
CUresult em_no_context(void) __attribute__((cold));
CUresult em_null(const char *argument) __attribute__((cold));        // CUDA_ERROR_INVALID_VALUE
CUresult em_null_handle(const char *argument) __attribute__((cold)); // CUDA_ERROR_INVALID_HANDLE
CUresult em_unsupported(const struct em_entry *entry, bool *said) __attribute__((cold));

// Whether the reserved words of a descriptor are all 0.
static inline bool em_all_zero(const unsigned *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (words[i])
            return false;
    return true;
}

// Begins a call. Returns the call that this one is inside of (a host callback's), or NULL; pass it
// to em_end.
static inline const struct em_entry *em_begin(struct em_thread *self, const struct em_entry *entry)
{
    const struct em_entry *outer = self->entry;
    if (em_unlikely(!self->number))
        em_thread_start();
    self->entry = entry;
    self->calls++;
    return outer;
}

// The checks of the table. The forms with `self` are for callers that have it at hand.

// "CUDA_ERROR_NOT_INITIALIZED: cuInit has not been called".
static inline CUresult em_thread_need_init(const struct em_thread *self)
{
    return em_likely(__atomic_load_n(&em_driver_state, __ATOMIC_ACQUIRE) == EM_DRIVER_READY &&
                     !self->inside)
               ? CUDA_SUCCESS
               : em_not_ready();
}

static inline CUresult em_need_init(void)
{
    return em_thread_need_init(em_thread());
}

// A context is current and alive, and has no sticky error.
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

// If a context is current, it is alive and has no sticky error.
static inline CUresult em_thread_need_context_if_any(const struct em_thread *self)
{
    return self->current ? em_thread_need_context(self) : CUDA_SUCCESS;
}

// A context is current, possibly a destroyed one.
static inline CUresult em_thread_need_current(const struct em_thread *self)
{
    return em_likely(self->current) ? CUDA_SUCCESS : em_no_context();
}

static inline CUresult em_need_current(void)
{
    return em_thread_need_current(em_thread());
}

// Ends a call.
static inline CUresult em_end(struct em_thread *self, const struct em_entry *outer, CUresult result)
{
    self->entry = outer;
    if (!outer) // else the call that this one is inside of goes on
        em_cancel_restore(self);
    return result;
}

// The number of the call in progress, for object histories and sentences.
static inline uint64_t em_call_now(void)
{
    return em_self.number << 40 | em_self.calls;
}

// "call 345", or "call 12 of thread 3" for a thread other than the first.
void em_call_text(uint64_t call, char *out, size_t room);

// Name of the entry point in progress, or "cardless" outside of one.
static inline const char *em_entry_name(void)
{
    return em_self.entry ? em_self.entry->name : "cardless";
}
