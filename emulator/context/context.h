// SPDX-License-Identifier: MIT
// Contexts: created and primary ones, the stack of current contexts in each thread, and the
// observers of a context's end.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context_base.h"
#include "context_work.h"
#include "profile.h"

struct em_context_heaps;
struct em_device;
struct em_kernel_heap;
struct em_stream;

// The result of cuCtxGetApiVersion. It is the same for all contexts, because all functions that
// create one do so by the same version of the interface.
enum { EM_CONTEXT_API_VERSION = 3020 };

struct em_context {
    struct em_context_base base;
    struct em_device *device;
    unsigned flags; // CU_CTX_*
    unsigned api_version;
    uint64_t id;
    struct em_stream *default_stream;  // CU_STREAM_LEGACY
    struct em_stream *streams;         // all streams, also the default ones (stream.h)
    struct em_context_work work;       // commands that are not complete (context_work.h)
    struct em_allocation *allocations; // all memory that belongs to it (memory.h)
    struct em_context_heaps *heaps;    // of its memory and arrays (context_heap.h); or NULL
    struct em_graphics *mapped; // the last of its resources that was mapped (graphics_write_back.c)

    unsigned usage;    // a created context starts with 1; each retain or cuCtxAttach adds 1
    unsigned attached; // the part of `usage` that cuCtxAttach added
    uint64_t limit[DM_LIMIT_COUNT]; // written atomically, because launches read it without em_lock
    unsigned limits_fixed;          // bits: limits that cannot be set any more
    struct em_kernel_heap *kernel_heap; // of malloc in kernels (kernel_heap.h); or NULL
    CUfunc_cache cache_config;
    struct em_context *previous, *next;              // in the list of all contexts that are alive
    struct em_peer_access *peers_used, *peers_using; // context_peer.h
    bool ending; // em_context_end has begun, but not returned; written atomically
};
_Static_assert(offsetof(struct em_context, base) == 0, "em_context_base() relies on it");

static inline CUcontext em_context_handle(const struct em_context *context)
{
    return context ? (CUcontext)(uintptr_t)context->base.object.handle : NULL;
}

// Returns the context after `context` in the list of those that are alive, or NULL at the end. If
// `context` is NULL, returns the first one. Precondition: em_lock held.
struct em_context *em_context_next(const struct em_context *context);

// Observers take part in the beginning and the end of every context, because the rooms above own a
// context's streams, memory and mapped graphics resources. Each room registers its observer when
// the driver starts. An end calls them in the order of this enum, for any order of registration.
enum em_context_observers {
    EM_OBSERVER_STREAM,   // first, because work needs resources and memory until it completes
    EM_OBSERVER_GRAPHICS, // then resources are written back to the graphics APIs
    EM_OBSERVER_MEMORY,   // last, because objects refer to memory
    EM_OBSERVER_FILES,    // only for `idle`
    EM_OBSERVER_COUNT
};
// The start of a context, and the steps of its end. Each may be NULL.
struct em_context_observer {
    // The context begins: does work that would take most of the time of its first calls. May do
    // less than that, because those calls do the rest. Precondition: em_lock held.
    void (*begin)(struct em_context *context);
    // Completes work and writes bytes back if the program would miss them later. The context still
    // works, but new calls cannot find it. Precondition: em_lock NOT held.
    void (*finish)(struct em_context *context);
    // Ends work that other threads have added since. The context is destroyed, but its objects are
    // still alive. Precondition: em_lock held, which may be released meanwhile.
    void (*stop)(struct em_context *context);
    // Ends everything that belongs to the context and is not an object. Its objects are retired.
    // Precondition: em_lock held.
    void (*release)(struct em_context *context);
    // The last context has ended: gives back memory that is only kept to be used again.
    // Precondition: em_lock held.
    void (*idle)(void);
};
// Registers an observer, which must stay valid. Precondition: em_lock NOT held.
void em_context_observe(enum em_context_observers who, const struct em_context_observer *observer);
// While it is set, `idle` is not called. For fuzzers, whose next input uses the memory again.
// Precondition: em_lock NOT held.
void em_contexts_keep(bool keep);

// A kernel has failed with a sticky error: from now on no context can be created or retained.
// (recorded: fault_created_context, fault/store-unmapped-then-destroy-calls. The manual at such
// errors: "To continue using CUDA, the process must be terminated and relaunched.")
void em_devices_fail(CUresult error);
// The error of em_devices_fail, or CUDA_SUCCESS. Reports it.
CUresult em_devices_failed(void);
// The error of a device that cardlessFuzzFail has lost, or CUDA_SUCCESS. Reports it. For calls that
// use the device and need no context. After a failed kernel they work: nobody has recorded what a
// card does.
CUresult em_device_lost(void);
// Contexts can be created again. For fuzzers, which run many kernels that fail in one process.
void em_devices_recover(void);

// Precondition of all functions below: em_lock NOT held, unless their comments state otherwise.

// cuCtxCreate: creates a context and makes it current. The caller has checked the flags.
CUresult em_context_create(struct em_device *device, unsigned flags, CUcontext *out);
// cuCtxDestroy: ends everything that belongs to the context. If the context is on top of this
// thread's stack, pops it; anywhere else it stays on its stack as a destroyed context.
CUresult em_context_destroy(CUcontext handle);
CUresult em_context_attach(CUcontext *out);
CUresult em_context_detach(CUcontext handle);

// Finds the context of a handle, or the current one if the handle is NULL, and takes a reference
// that em_context_put should drop. Fails with `code` if the handle does not name a living context.
// But a context with a sticky error is found, and so is a primary context that was destroyed.
CUresult em_context_get(CUcontext handle, CUresult code, struct em_context **out);
void em_context_put(struct em_context *context);

// The stack of the calling thread. It may contain the same context several times.
CUresult em_context_push(CUcontext handle);
CUresult em_context_pop(CUcontext *out);           // out may be NULL
CUresult em_context_set_current(CUcontext handle); // pops if the handle is NULL

// Creates the thread-specific key that frees the stack of a thread when the thread ends.
CUresult em_context_threads_start(void);

// For primary.c. Creates a context with a handle, in the state EM_DESTROYED. Precondition: em_lock
// held.
CUresult em_context_new(struct em_device *device, bool primary, struct em_context **out);
// Makes a context alive: gives it an id and default settings, and adds it to the list.
// Precondition: em_lock held.
void em_context_begin(struct em_context *context, unsigned flags);
// Ends a context and everything that belongs to it. The struct stays, in the state EM_DESTROYED.
// Precondition: em_lock held, which is released meanwhile; the context is alive and not `ending`.
void em_context_end(struct em_context *context);
// If another thread is ending the context, waits until it has ended. Precondition: em_lock held,
// which is released meanwhile.
void em_context_wait_end(const struct em_context *context);
