// SPDX-License-Identifier: MIT
// The part of a context that every room needs: its object, its error state, and the call that
// ended it.
//
// The rest of a context (limits, flags, streams, memory) is struct em_context in context.h, which
// begins with this struct. Rooms below `context` know only this part.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "object.h"

enum em_error_state {
    EM_FINE,
    EM_DESTROYED, // also the state of a primary context before it is retained for the first time
    EM_STICKY,    // after an asynchronous error; every call returns it until the context ends
};

struct em_context_base {
    struct em_object object; // type EM_CONTEXT
    int error_state; // enum em_error_state; if it is not EM_FINE, most calls fail. Written with a
                     // release store
    bool primary;
    struct em_object *objects; // the objects that were created in it; they end with it

    // Guarded by a mutex of context_base.c, because em_context_error reads them in any thread, and
    // meanwhile a primary context may be retained and end once more.
    CUresult sticky;    // the error of EM_STICKY
    uint64_t died_call; // the call that ended the context, and its entry point
    const char *died_by;
};

static inline struct em_context_base *em_context_base(struct em_context *context)
{
    return (struct em_context_base *)context;
}

static inline enum em_error_state em_context_error_state(const struct em_context *context)
{
    const struct em_context_base *base = (const struct em_context_base *)context;
    return (enum em_error_state)__atomic_load_n(&base->error_state, __ATOMIC_ACQUIRE);
}

// Reports why the context cannot be used and returns the code: its sticky error, or
// CUDA_ERROR_CONTEXT_IS_DESTROYED. May be called with em_lock held or not.
CUresult em_context_error(struct em_context *context) __attribute__((cold));

// Reports which call destroyed the context, and returns `code`.
CUresult em_context_gone(struct em_context *context, CUresult code) __attribute__((cold));

// Returns the code that em_context_error would return, without a report; CUDA_SUCCESS if the
// context works.
CUresult em_context_error_code(struct em_context *context);

// Makes `code` the context's sticky error, unless it already has one. May be called with em_lock
// held or not.
void em_context_set_sticky(struct em_context *context, CUresult code);

// Records the call in progress as the one that ends the context. Precondition: em_lock held.
void em_context_base_end(struct em_context *context);
// Puts a new or destroyed context into the state EM_FINE. Precondition: em_lock held.
void em_context_base_begin(struct em_context *context);
