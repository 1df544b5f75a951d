// SPDX-License-Identifier: MIT
// Kinds of objects for scaling.c, which measures how the cost of a call depends on the number of
// objects that are alive.
//
// To add a kind, write its functions in the file of its topic and add a row to the array there. An
// object is an index from 0 to SCALING_MOST: keep its handle in scaling_handle[index].
#pragma once
#include <cuda.h>
#include <stdint.h>

enum { SCALING_MOST = 1000000, SCALING_BATCH = 32 };

struct scaling_kind {
    const char *name;
    // Runs once in a process of its own, with a fresh context current, before the first object.
    // May be NULL.
    void (*start)(int count);
    // Creates object `index`. CUDA_ERROR_OUT_OF_MEMORY means that a process cannot hold so many:
    // the last column that the table shows is then of as many as it can hold.
    CUresult (*create)(int index);
    CUresult (*use)(int index);     // works with it; may be NULL
    CUresult (*look_up)(int index); // asks for one of its attributes; may be NULL
    CUresult (*destroy)(int index);
    // False: the objects outlive the context, so destroying the context is not measured.
    int ends_with_context;
};

extern uint64_t scaling_handle[SCALING_MOST + SCALING_BATCH];

// One array for each topic; a row without a name ends it.
#define SCALING_TOPICS(X)                                                                          \
    X(scaling_code)     /* modules, graphs and their nodes */                                      \
    X(scaling_egl)      /* frames of EGL streams */                                                \
    X(scaling_external) /* external memory, mappings, semaphores */                                \
    X(scaling_graphics) /* graphics resources */                                                   \
    X(scaling_memory)   /* allocations, pools, reservations, registrations */                      \
    X(scaling_objects)  /* streams, events, arrays, textures, surfaces, contexts */

#define X(topic) extern const struct scaling_kind topic[];
SCALING_TOPICS(X)
#undef X
