// SPDX-License-Identifier: MIT
// The scheduler's part of a context: the commands that are not complete yet. Only the folder
// stream/ uses it; the structs are here because contexts contain them. Everything here is guarded
// by em_lock.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct em_command;
struct em_source;
struct em_stream;

struct em_command_list {
    struct em_command *first, *last;
};

// A place where commands are parked until something notifies it (condition.h).
struct em_condition {
    struct em_command *first, *last; // the parked commands, the longest waiting first
    struct em_source *source;        // notifies from outside this process (outside.h), or NULL
};

struct em_context_work {
    // Commands that are not complete, in the order of submission: those of the legacy default
    // stream and of the blocking streams, which wait for each other, and all others. The heads of
    // the lists, and failed_streams, are written atomically.
    struct em_command_list ordered, unordered;
    uint64_t last_sequence;           // sequence number of the last command submitted
    unsigned active;                  // commands that are ready or running
    bool failed;                      // parked commands know that the context has failed
    bool abandoned;                   // the pending commands are being ended without running
    struct em_stream *barrier;        // its commands hold up all streams (cuCtxWaitEvent), or NULL
    struct em_stream *failed_streams; // streams that keep the error of an asynchronous command
    struct em_condition reached;      // parked: records of the whole context (cuCtxRecordEvent)
};
