// SPDX-License-Identifier: MIT
// The state of a stream for the ordering checker: structs that streams and events contain.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct em_clock;
struct em_entry;
struct em_order_launch;
struct em_order_record;
struct em_stream;

enum em_order_act { EM_ORDER_READ, EM_ORDER_WRITE, EM_ORDER_ALLOCATE, EM_ORDER_FREE };

// A call, for messages.
struct em_order_call {
    uint64_t call; // 0: no call yet
    const struct em_entry *entry;
};

// Work that others can wait for: all of `known`, and a component up to an epoch. If `base` is not
// 0, everything in `known` is also known to whoever knows that component up to base_sequence. So a
// wait for work that is known but for a few commands costs a few steps, however many streams there
// are.
struct em_order_mark {
    struct em_clock *known; // a reference
    uint64_t base, base_sequence;
    uint64_t key, sequence; // 0: `known` alone
    // A reference: `known` and the component together, or NULL. The first command that knows no
    // more than this makes it, and all others share it.
    struct em_clock *whole;
};

// The records of the last accesses of a stream, or NULL: a command that repeats them finds them
// without a search.
struct em_order_near {
    struct em_order_record *read, *write;
};

// The last command of a stream, or a step of a graph, and the work that is ordered before it.
struct em_order_point {
    struct em_clock *known; // a reference: the work before its last command, apart from its own
    struct em_clock *host;  // a reference: the last clock of the host that it contains
    uint64_t base, base_sequence;   // of `known`, as in a mark
    uint64_t key;                   // its component; 0 before its first command
    uint64_t sequence;              // of its last command
    uint64_t allocated;             // of its last allocation
    struct em_stream *next_waiter;  // in work.order_waiters
    bool waits;                     // it is there
    bool ordered;                   // the legacy stream or a blocking one
    bool acquired_late;             // `known` has grown since the host knows the last command
    struct em_order_launch *launch; // of a step, else NULL
    uint32_t step;                  // 1 + its number
    struct em_order_call waited;    // the last wait for other work
    struct em_order_call recorded;  // the last record of an event …
    uint64_t recorded_sequence;     // … and its sequence number
    struct em_order_near *near;     // of its stream
};
