// SPDX-License-Identifier: MIT
// The parts that the generated exported functions (entry_N.c) use.
#pragma once
#include <stdbool.h>

#include "interrupt.h"
#include "readable.h"
#include "rt.h"
#include "rt_exports.h"

// The types of the arguments; generated (description.c).
extern const cardlessTypes rt_description, rt12_description;

#define RT_EXPORT __attribute__((visibility("default")))

// A call begins. The return address of the exported function, into which this is inlined, is the
// call site.
static inline __attribute__((always_inline)) const struct rt_entry *
rt_begin(struct rt_thread *self, const struct rt_entry *entry)
{
    const struct rt_entry *outer = self->entry;
    self->entry = entry;
    if (__builtin_expect(!self->caller, 0))
        rt_thread_start(self);
    *self->caller = entry;
    *self->call_site = __builtin_return_address(0);
    return outer;
}

// Every call tries to start the driver (recorded: lazy/error-name). If that fails, the thread's
// last error says so, even if the call itself succeeds (recorded: start/no-device). Only calls that
// need the driver print a message then: they try again. A nested call does not try unless it needs
// the driver, because a signal handler may make it, and the driver would print a sentence for each
// attempt.
static inline void rt_start(struct rt_thread *self, const struct rt_entry *outer)
{
    if (__builtin_expect(outer != NULL, 0) && !rt_driver_is_ready()) {
        self->driver_error = cudaErrorInitializationError;
        return;
    }
    self->driver_error = rt_driver_error_quietly();
    if (__builtin_expect(self->driver_error != cudaSuccess, 0))
        self->last_error = self->driver_error;
}

// A call ends. Its error becomes the thread's last error, except cudaErrorNotReady, which is an
// answer (recorded: lasterror/not-ready-then-error).
static inline cudaError_t rt_end(struct rt_thread *self, const struct rt_entry *outer,
                                 cudaError_t r)
{
    self->entry = *self->caller = outer;
    *self->call_site = NULL; // that of an outer call is not kept
    if (__builtin_expect(r != cudaSuccess, 0) && r != cudaErrorNotReady)
        self->last_error = r;
    return r;
}

static inline cudaError_t rt_end_quietly(struct rt_thread *self, const struct rt_entry *outer,
                                         cudaError_t r)
{
    self->entry = *self->caller = outer;
    *self->call_site = NULL; // that of an outer call is not kept
    return r;
}

static inline cudaError_t rt_need_driver(struct rt_thread *self)
{
    if (__builtin_expect(self->driver_error != cudaSuccess, 0))
        self->driver_error = rt_driver_start();
    return self->driver_error;
}

// An argument that must not be NULL is NULL.
static inline __attribute__((cold)) cudaError_t rt_null(const char *argument)
{
    return rt_fail(cudaErrorInvalidValue, "argument %s is NULL", argument);
}

// The stream that a `_ptsz` function uses for the handle that it is given.
static inline cudaStream_t rt_per_thread(cudaStream_t stream)
{
    return stream ? stream : cudaStreamPerThread;
}

static inline uint64_t rt_trace_float(float f)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &f, sizeof bits);
    return bits;
}

// The answer of a row without a body. Prints a message the first time, because a program should not
// have to guess why the call fails.
cudaError_t rt_unsupported(const struct rt_entry *entry, bool *said);
