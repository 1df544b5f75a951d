// SPDX-License-Identifier: MIT
// Commands and the one funnel they go through. Whatever happens in stream order is a command: a struct that begins with em_command, handed to
// em_submit() also when it runs at once, so that policies, capture and traces see everything.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct em_stream;
struct em_command;

struct em_command_ops {
    const char *name; // "memcpy", "memset", "event record" …
    // Whether it could run now; NULL: always. Precondition: em_lock held.
    bool (*ready)(struct em_command *);
    // Does the work; em_lock is not held. An error sticks to the context when `sticky` says so for it, else it is returned to the submitter
    // of a synchronous command, or kept for the next synchronising call.
    CUresult (*run)(struct em_command *);
    // Drops the references that the command holds, run or not; NULL: none. Precondition: em_lock held.
    void (*finish)(struct em_command *);
};

struct em_command {
    const struct em_command_ops *ops;
    uint32_t size_B;          // of the whole struct: it is copied when it must wait
    struct em_stream *stream; // set by em_submit
    uint64_t sequence;        // set by em_submit: position in the stream
};

enum { EM_SUBMIT_ASYNC, EM_SUBMIT_SYNC };

// Pushes a command into `stream`. On success the command's references belong to the funnel; on failure `finish` has been called too.
// EM_SUBMIT_SYNC returns when it has completed, with its result. Takes the lock: precondition: em_lock NOT held.
CUresult em_submit(struct em_stream *stream, struct em_command *command, int how);
