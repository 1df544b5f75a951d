// SPDX-License-Identifier: MIT
// The ordering checker (CARDLESS_CHECK=order): reports two accesses to the same bytes, one of them
// a write, if the program has not ordered them.
//
// The order that counts is the one that the program has asked for, not the one in which commands
// happen to run:
//
//     the host ──submits──▶ command ──next in its stream──▶ command
//     record of an event ──▶ wait for it, or a call that synchronises with it ──▶ the host
//     signal, or write of a value ──▶ the wait that it ends
//     legacy default stream ◀──▶ blocking streams
//     unmap ──▶ graphics ──▶ map
//     start of a host function ──▶ the host
//
// Each stream is a component of a vector clock (order_clock.h), and sequence numbers are its
// epochs. A command gets its clock when it starts, because all that it waits for has completed by
// then; but it knows of the host's past only what the host knew when it submitted the command. Then
// its accesses are compared with the last ones to the same bytes (order_history.h).
//
// How threads of the program order their calls cannot be seen, so the host is one component: a call
// is ordered after all calls that have returned in any thread. In the same way, code that host
// functions and plain stores to memory release is taken as ordered after them. So the checker may
// miss a mistake that another schedule shows, but it reports no order that the program has.
//
// Everything here: precondition: em_lock held, unless its comment says otherwise.
#pragma once
#include "command.h"
#include "hidden.h"
#include "order_point.h"

struct em_context;
struct em_order_parts;
struct em_stream;

extern DM_HIDDEN bool em_order_on; // fixed when the driver starts

// CARDLESS_CHECK=order is set. Precondition: em_lock NOT held.
void em_order_start(void);
// Prints the number of mistakes. Called once, when the driver shuts down.
// Precondition: em_lock NOT held.
void em_order_finish(void);
// Ends the checks if the host has run out of memory for them, and says so.
// Precondition: em_lock held.
void em_order_stop_if_failed(void);

// A graph launch, for its steps.
struct em_order_launch {
    uint32_t references;
    struct em_order_parts *parts; // order_step.c
    // Whether the graph orders a step before another one. Precondition: em_lock held.
    bool (*reaches)(struct em_order_launch *launch, uint32_t from, uint32_t to);
    void (*free)(struct em_order_launch *launch);
};
void em_order_launch_unref(struct em_order_launch *launch);
// A step of a launch begins: its command, which stands at `point` until it has ended, and the
// command of the launch.
void em_order_step_started(struct em_command *command, struct em_order_point *point,
                           const struct em_command *launch);

// ---- commands, called by the scheduler ----

void em_order_submitted(struct em_command *command);
void em_order_started(struct em_command *command);
void em_order_left(struct em_command *command);
// The last reference to a stream is gone; a context has ended.
void em_order_stream_ends(struct em_stream *stream);
void em_order_context_ends(struct em_context *context);

// ---- order between commands ----

// *to is ordered after the command and everything before it. Does nothing before its start.
void em_order_release(struct em_command *command, struct em_clock **to);
// The same for a mark, which is replaced.
void em_order_mark(struct em_command *command, struct em_order_mark *mark);
void em_order_mark_drop(struct em_order_mark *mark);
void em_order_acquire_mark(struct em_command *command, struct em_order_mark *mark);
void em_order_host_acquire_mark(const struct em_order_mark *mark);
// The rest of the command, and everything after it, is ordered after `from`.
void em_order_acquire(struct em_command *command, struct em_clock *from);
// The command records an event, for messages.
void em_order_recorded(struct em_command *command);

// ---- order between commands and the host ----

void em_order_host_acquire(struct em_clock *from);
void em_order_host_release(struct em_clock **to);
// The host has waited for a command, or for everything in a stream or a context up to this sequence
// number of the scheduler.
void em_order_host_waited(struct em_command *command);
void em_order_host_waited_stream(struct em_stream *stream, uint64_t up_to);
void em_order_host_waited_context(struct em_context *context, uint64_t up_to);
// All work of the context up to this sequence number.
void em_order_release_context(struct em_context *context, uint64_t up_to, struct em_clock **to);

// ---- memory ----

// The host frees memory, or ends a mapping; reports work that may still use it.
void em_order_free(uint64_t first, uint64_t size_B);
// Memory is allocated in stream order: only work after this point of the stream may use it.
void em_order_allocate(struct em_stream *stream, uint64_t first, uint64_t size_B);
// The bytes are gone, or belong to nobody.
void em_order_forget(uint64_t first, uint64_t size_B);
// A command accesses memory that its accesses do not contain.
void em_order_access(struct em_command *command, uint64_t first, uint64_t size_B,
                     enum em_order_act act);
// "0x7f… is byte 12 of device memory …"; set by the room `memory`.
extern const char *(*em_order_memory_text)(uint64_t address, char *out, size_t size);
