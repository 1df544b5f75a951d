// SPDX-License-Identifier: MIT
// Contexts: created and primary, the per-thread stack of current ones, and what belongs to a
// context.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context_base.h"
#include "context_work.h"
#include "profile.h"

struct em_device;
struct em_stream;

// What cuCtxGetApiVersion answers: the version of the interface whose contexts all creating
// functions make.
enum { EM_CONTEXT_API_VERSION = 3020 };

struct em_context {
    struct em_context_base base;
    struct em_device *device;
    unsigned flags; // CU_CTX_*
    unsigned api_version;
    uint64_t id;
    struct em_stream *default_stream;  // CU_STREAM_LEGACY
    struct em_stream *streams;         // all, the default ones included (stream.h)
    struct em_context_work work;       // commands that are not complete (context_work.h)
    struct em_allocation *allocations; // all memory that belongs to it (memory.h)

    unsigned usage; // created: 1 and one for each cuCtxAttach; primary: how often it is retained or
                    // attached
    unsigned attached; // how many of `usage` cuCtxAttach made
    uint64_t limit[DM_LIMIT_COUNT];
    CUfunc_cache cache_config;
    struct em_context *previous, *next;              // in the list of all contexts that are alive
    struct em_peer_access *peers_used, *peers_using; // context_peer.h
    bool ending;                                     // em_context_end is at work
};
_Static_assert(offsetof(struct em_context, base) == 0, "em_context_base() relies on it");

// The next living context after `context`, or the first one for NULL; NULL at the end.
// Precondition: em_lock held.
struct em_context *em_context_next(const struct em_context *context);

// The rooms above own things of a context: streams, memory, mapped graphics resources. Each
// registers an observer when the driver starts, and takes part in the end of every context. The
// observers are called in the order of this enum, whatever the order of registration.
enum em_context_observers {
    EM_OBSERVER_STREAM,   // work first: what it uses is still there
    EM_OBSERVER_GRAPHICS, // then bytes go back to the graphics APIs
    EM_OBSERVER_MEMORY,   // memory last: objects refer to it
    EM_OBSERVER_COUNT
};
struct em_context_observer {
    // The context still works, but no new call finds it. Completes and gives back what the program
    // would see missing. Precondition: em_lock NOT held. May be NULL, like the next two.
    void (*finish)(struct em_context *context);
    // The context is destroyed, its objects are not: ends what other threads have added since.
    // Precondition: em_lock held, which may be released meanwhile.
    void (*stop)(struct em_context *context);
    // The context's objects are retired: ends what belongs to the context without being an object.
    // Precondition: em_lock held.
    void (*release)(struct em_context *context);
};
// `observer` must stay valid. Precondition: em_lock NOT held.
void em_context_observe(enum em_context_observers who, const struct em_context_observer *observer);

// All functions below: precondition: em_lock NOT held, where they do not say otherwise.

// cuCtxCreate: a new context, which becomes current. The caller has checked the flags.
CUresult em_context_create(struct em_device *device, unsigned flags, CUcontext *out);
// cuCtxDestroy: all that belongs to it ends; it is taken from the top of this thread's stack,
// elsewhere it stays as a destroyed one.
CUresult em_context_destroy(CUcontext handle);
CUresult em_context_attach(CUcontext *out);
CUresult em_context_detach(CUcontext handle);

// The context of a handle, with a reference that em_context_put drops; NULL: the current one. A
// handle that is no living context fails with `code`; a destroyed primary context and a context
// with a sticky error are found.
CUresult em_context_get(CUcontext handle, CUresult code, struct em_context **out);
void em_context_put(struct em_context *context);

// The stack of the calling thread. The same context may lie in it several times.
CUresult em_context_push(CUcontext handle);
CUresult em_context_pop(CUcontext *out);           // out may be NULL
CUresult em_context_set_current(CUcontext handle); // NULL: pops

static inline CUcontext em_context_handle(const struct em_context *context)
{
    return context ? (CUcontext)(uintptr_t)context->base.object.handle : NULL;
}

// What stacks need before any thread has one.
CUresult em_context_threads_start(void);

// For primary.c. A context that is in no list yet; the object is started. Precondition: em_lock
// held.
CUresult em_context_new(struct em_device *device, bool primary, struct em_context **out);
// Makes a context alive: an id, default settings, its place in the list. Precondition: em_lock
// held.
void em_context_begin(struct em_context *context, unsigned flags);
// Ends all that belongs to a context that is alive; the context itself stays, as a destroyed one.
// Precondition: em_lock held, which is released meanwhile; not already ending.
void em_context_end(struct em_context *context);
// Waits until an end that another thread has begun is done. Precondition: em_lock held, which is
// released meanwhile.
void em_context_wait_end(const struct em_context *context);
