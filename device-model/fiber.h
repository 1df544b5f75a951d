// SPDX-License-Identifier: MIT
// Fibers: functions with stacks of their own, between which one thread switches. The threads of a
// block that wait for each other are fibers.
//
//     main ──switch──▶ fiber a ──switch──▶ fiber b ──its function returns──▶ main
//
// Fibers may share one stack. Then each has its part of the stack copied away while it does not
// run, so that a hundred thousand fibers need no more mappings than one. A pointer to a variable on
// such a stack is valid in its own fiber only, and should not be given to others.
//
// A fiber belongs to the thread that switches to it first, until its function returns. Guarded
// calls (guard.h) belong to the fiber that makes them. AddressSanitizer and ThreadSanitizer know
// about the switches.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct dm_fiber {
    void *saved; // the stack pointer while another one runs
    void (*run)(void *argument);
    void *argument;
    struct dm_fiber *back; // runs when `run` returns
    void *guarded;         // its guarded calls
    char *stack;           // with a page below that faults; NULL: the thread's own
    size_t stack_B;
    bool shares, fresh, ended; // shares: has no stack of its own; fresh: has not run yet
    char *kept;                // of one that shares: its part of the stack, while it waits
    size_t kept_B, capacity_B;
    void *thread_state, *fake_stack; // of sanitizers
    const void *bottom;
    size_t bottom_B;
};

// Makes the calling thread's own stack a fiber, from which it can switch.
void dm_fiber_of_thread(struct dm_fiber *main);
// Maps a stack of `stack_B` bytes, a multiple of the page size. Returns 0 or a negative errno.
int dm_fiber_init(struct dm_fiber *fiber, size_t stack_B);
// Makes a fiber that runs on the stack of `owner`, which runs nothing itself and must outlive it.
// Fibers that share a stack must not switch to each other, but only to `back` or another stack.
void dm_fiber_init_shared(struct dm_fiber *fiber, const struct dm_fiber *owner);
// Prepares the fiber to run run(argument) from its beginning. A function that it ran before, and
// that has not returned, is forgotten.
void dm_fiber_start(struct dm_fiber *fiber, void (*run)(void *argument), void *argument);
// Runs `to` until something switches back to `from`. When the function of `to` returns, `back`
// runs. Returns 0, or -ENOMEM if `to` shares a stack and there is no memory to copy its part away:
// then it cannot go on.
int dm_fiber_switch(struct dm_fiber *from, struct dm_fiber *to, struct dm_fiber *back);
// The thread has left `from`, which cannot go on, without a switch: it is on the stack of `to`
// again, which had switched to `from`.
void dm_fiber_left(struct dm_fiber *to, struct dm_fiber *from);
// Ends a fiber that does not run, and unmaps its own stack.
void dm_fiber_finish(struct dm_fiber *fiber);
