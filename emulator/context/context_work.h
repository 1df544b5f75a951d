// SPDX-License-Identifier: MIT
// The scheduler's part of a context: the commands that are not complete yet. Only the room `stream`
// uses it; the structs are here because contexts contain them. em_lock guards them.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct em_clock;
struct em_command;
struct em_order_chain;
struct em_order_spare;
struct em_source;
struct em_stream;

struct em_command_list {
    struct em_command *first, *last;
};

// A list of parked commands. They become ready after something notifies the condition
// (condition.h).
struct em_condition {
    struct em_command *first, *last; // the parked commands; `first` has waited longest
    struct em_source *source;        // notifies from outside this process (outside.h), or NULL
};

struct em_context_work {
    // Commands that are not complete, in the order of submission. `ordered` holds those of the
    // legacy default stream and of the blocking streams, because these wait for each other;
    // `unordered` holds all others. The heads of the lists, and failed_streams, are written
    // atomically.
    struct em_command_list ordered, unordered;
    uint64_t last_sequence;           // sequence number of the last command submitted
    unsigned active;                  // commands that are ready or running
    bool failed;                      // parked commands were notified that the context has failed
    bool abandoned;                   // the pending commands are being ended without running
    uint64_t abandonments;            // how often that has happened to at least one command
    struct em_stream *barrier;        // all streams wait for its commands (cuCtxWaitEvent), or NULL
    struct em_stream *failed_streams; // streams that keep the error of an asynchronous command
    struct em_condition reached;      // parks records of the whole context (cuCtxRecordEvent)
    // For the ordering checker (order.h): what the context's streams have waited for, what the
    // ordered ones among them have, and components that new streams and steps can take over.
    struct em_clock *order_all, *order_ordered;
    struct em_stream *order_waiters; // streams whose last waits are not there yet
    struct em_order_spare *order_spare;
    struct em_order_chain *order_chain;
    uint64_t order_spare_searches, order_chain_searches; // that are allowed
};
