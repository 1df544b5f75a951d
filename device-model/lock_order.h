// SPDX-License-Identifier: MIT
// The order in which a thread may take the mutexes of the driver and of the Vulkan layer.
// docs/internals/locks.md says what each mutex guards.
#pragma once

// Outer to inner: a thread that holds a mutex takes only mutexes that come later in this list. So
// it never holds two of the same rank; in particular it takes nothing while it holds a leaf.
// Mutexes that are held while other people's code runs come first, because that code may call CUDA.
// The list is here, below all the rooms whose mutexes it ranks, because an order has one list.
#define DM_LOCK_RANKS(X)                                                                           \
    X(FOREIGN)     /* held while libraries of others run */                                        \
    X(START)       /* the start of the driver, and forks */                                        \
    X(EMULATOR)    /* em_lock */                                                                   \
    X(GL_GROUP)    /* share groups of OpenGL */                                                    \
    X(DIAGNOSTICS) /* the stream or file of messages */                                            \
    X(TRACE)       /* the file of the trace */                                                     \
    X(LEAF)        /* all others */

enum dm_lock_rank {
#define X(name) DM_LOCK_##name,
    DM_LOCK_RANKS(X)
#undef X
};
