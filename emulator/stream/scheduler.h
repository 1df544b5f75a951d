// SPDX-License-Identifier: MIT
// The scheduler: which commands must complete before another one may run, and which of those that
// may run goes first. Only the files of this folder, and those that wait for work, include this.
//
// Each command counts its unfinished predecessors and knows its successors. A command that
// completes visits its successors only, so the total cost is linear in commands plus edges, however
// many streams exist and however long they wait.
//
// The predecessors of a command c of stream s:
//
//   1. The previous command of s.                      s:       … ─▶ p ─▶ c
//
//   2. The legacy default stream waits for blocking    blocking:     x ──┐
//      streams, and they for it. All commands of       blocking:  y ──┐  │
//      these streams stand in one list, the ordered    legacy:        └──┴▶ L ──┬──▶ M
//      list, in the order of submission. A legacy      blocking:                ├─▶ x2
//      command waits until it is the first of that     blocking:                └─▶ y2 ─▶ y3
//      list, which needs no edges. A blocking stream's
//      command has an edge from the last legacy
//      command, unless the previous command of its stream has one already (y3).
//
//   3. After cuCtxWaitEvent all streams of the         barrier:      b ──┬──▶ c
//      context wait. The barrier is a hidden stream;   any stream:       └──▶ d ─▶ e
//      its last command has an edge to the next
//      command of each stream.
//
//   4. An event, a word in memory, a graphics resource: see condition.h.
//
// All edges lead from an older command to a newer one, so there are no cycles.
//
// Everything here: precondition: em_lock held.
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "command.h"
#include "hidden.h"
#include "ready_queue.h"
#include "turn.h"

struct em_context;
struct em_policy;

struct em_scheduler {
    const struct em_policy *policy;
    uint64_t last_sequence;      // of all contexts, in the order of submission
    uint64_t turns;              // counts the times that a stream began to wait
    struct em_ready_queue ready; // for any thread. If the policy decides: for all kinds of threads,
                                 // and a list instead of a heap (choice.h)
    struct em_ready_queue hosted; // for the thread that runs host functions
    bool handed_over;             // the runner continues with the ready commands
    uint64_t points;              // counts the times that a thread ran or considered ready commands
    uint32_t decisions;           // that a policy has taken so far
    uint64_t host_sent, host_done; // host functions that decisions chose, and those that returned
    struct em_turn host_turn;      // of the thread that runs them
    uint64_t waiters;              // threads that sleep in em_wait_progress …
    uint64_t endless;              // … and those of them that have no time limit
    unsigned refused_offers;       // of sharing, because commands were running
    uint64_t progressed;           // counts the calls of em_wake_waiters
    pthread_cond_t progress;       // something completed
    uint64_t steps;                // work done so far: edges, questions, comparisons; for tests
};
extern DM_HIDDEN struct em_scheduler em_scheduler;

// Puts a command last in its stream, which its caller has set in the command, counts its
// predecessors, and appends it to their successors.
void em_scheduler_enter(struct em_stream *stream, struct em_command *command);
// The command, which has no unfinished predecessors, becomes ready or is parked on its condition.
void em_scheduler_take_turn(struct em_command *command);
// Asks a parked command whether it is ready now.
void em_scheduler_ask(struct em_command *command);
// The command runs in this thread from now on.
void em_scheduler_start(struct em_command *command);
// Removes and returns the ready command that goes first among those that this kind of thread may
// run, or NULL.
struct em_command *em_scheduler_choose(enum em_place place);
// `run` has returned EM_RUN_AGAIN: the command runs again when it is ready.
void em_scheduler_again(struct em_command *command);
// The command is complete: its successors lose a predecessor.
void em_scheduler_leave(struct em_command *command);

// The context got a sticky error: the commands that are parked in it need not wait any longer.
void em_scheduler_context_failed(struct em_context *context);
// Ends all commands of a context without running them. All are blocked or parked.
void em_scheduler_abandon(struct em_context *context, CUresult result);

// Completes a command that was submitted as a waiting one (submit.c).
void em_command_end_waiting(struct em_command *command, CUresult result);

// Whether a command of the context with this sequence number or a lower one is not complete.
bool em_context_is_pending(const struct em_context *context, uint64_t up_to);
// The same for the ordered list: the legacy stream and the blocking streams.
bool em_context_ordered_is_pending(const struct em_context *context, uint64_t up_to);
// A living context with such a command, or NULL.
struct em_context *em_context_with_work(uint64_t up_to);
