// SPDX-License-Identifier: MIT
// Declarations that the files of the ordering checker share. Everything here: precondition: em_lock
// held.
#pragma once
#include "order.h"
#include "order_clock.h"
#include "order_history.h"
#include "stream.h"

struct em_order {
    struct em_clock *host;          // work for which the host has waited
    uint64_t host_version;          // its epoch in the component EM_ORDER_HOST of `host`
    bool host_changed;              // since the last command was submitted
    struct em_order_call host_wait; // the call that waited last
    bool stopped;                   // the host ran out of memory
    bool incomplete;                // accesses were left out, because there were too many
    uint64_t limit;                 // of records, before those that no longer matter are dropped
    uint64_t found, repeated;       // mistakes, and how often they were made again
};
extern struct em_order em_order;

// Components: the number of the context in the high 32 bits; then these, or a stream's number.
enum { EM_ORDER_ALL = 0, EM_ORDER_ORDERED = 1, EM_ORDER_STREAMS = 2 };
#define EM_ORDER_HOST UINT64_MAX // the key of the host
static inline uint64_t em_order_key(uint64_t context, uint32_t component)
{
    return context << 32 | component;
}
static inline uint64_t em_order_sibling(uint64_t key, uint32_t component)
{
    return em_order_key(key >> 32, component);
}

// Whether someone accessed memory before `point` in the program's order; `known` alone if `point`
// is NULL, which is the host.
bool em_order_is_before(const struct em_order_who *who, const struct em_order_point *point);
bool em_order_knows(struct em_clock *known, const struct em_order_who *who);

// Adds a mark to a clock that nothing is known about.
void em_order_join_mark(struct em_clock **known, const struct em_order_mark *mark);
// Adds a mark to the work that a point knows. Returns whether it now knows the mark alone.
bool em_order_add_mark(struct em_order_point *point, const struct em_order_mark *mark);
// The stream has waited for other work. Whoever waits for all streams of a context learns of it
// then, and not before, because that costs more than the wait.
void em_order_list_waiter(struct em_stream *stream);
// Adds to order_all and order_ordered of the context all that its streams have waited for.
void em_order_join_waiters(struct em_context *context);

// The point of a stream, with a component.
struct em_order_point *em_order_point_of(struct em_stream *stream);

// Searches for a component that can be used again, for each that is needed.
enum { EM_ORDER_SEARCHES = 8 };
// A component in the context of another one.
uint64_t em_order_new_key(uint64_t sibling);
// The parts for steps of graphs (order_step.c). `context` is that of the launch.
void em_order_release_step(struct em_context *context, const struct em_order_point *point,
                           struct em_clock **to);
void em_order_chains_free(struct em_order_chain **chains);
bool em_order_knows_step(struct em_clock *known, const struct em_order_who *who);

// Checks the accesses of a command that starts.
void em_order_check_all(const struct em_command *command);
// Checks an access and adds it to the history.
void em_order_check(const struct em_order_point *point, const struct em_order_who *who,
                    const struct em_access *access);
void em_order_check_span(const struct em_order_point *point, const struct em_order_who *who,
                         uint64_t first, uint64_t size_B);
// Drops records that no longer matter, if there are many.
void em_order_collect(void);

// Reports an access that is not ordered with an older one.
void em_order_report(const struct em_order_record *older, const struct em_footprint *bytes,
                     const struct em_order_who *who, const struct em_order_point *point);
