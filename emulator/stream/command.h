// SPDX-License-Identifier: MIT
// Commands and the one way to submit them. Everything that happens in stream order is a command: a
// struct that begins with em_command and is handed to em_submit, also if it runs at once, so that
// policies, capture and traces see all of them.
//
// The life of a command:
//
//   em_submit ──▶ BLOCKED ─────────────▶ its turn ─────────────▶ READY ──────────┐
//      │            predecessors            │  ready() is true     ▲   chosen by  │
//      │            have completed          │  or not needed       │   the policy │
//      │                                    ▼                      │              ▼
//      │                 ready() is false PARKED ─── notified ─────┘           RUNNING ──▶ complete
//      │                                    ▲                                     │            ▲
//      │                                    └──────────── EM_RUN_AGAIN ───────────┘            │
//      └── nothing to wait for: RUNNING in this thread ────────────────────────────────────────┘
//
// scheduler.h explains which commands are the predecessors of another one.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counter.h"
#include "hidden.h"
#include "lock.h"

struct em_access;
struct em_clock;
struct em_condition;
struct em_stream;
struct em_command;
struct em_context;
struct em_entry;
struct em_need;
struct em_order_point;
struct em_parts_ops;

// Which threads may run a command.
enum em_place {
    EM_ANYWHERE,    // any thread: the submitting one, one that synchronises, or the one that
                    // completed a predecessor
    EM_HOST_THREAD, // the thread for host functions. They are the program's own code, which may
                    // take locks that the submitting thread holds
};

struct em_command_ops {
    const char *name; // "memcpy", "memset", "event record" …
    // Whether the command can run now; NULL: always. Asked when all predecessors have completed,
    // and again each time that em_command.condition is notified. Not asked once the context has
    // failed. Precondition: em_lock held.
    bool (*ready)(struct em_command *);
    // For effects that begin with the submission, such as an address that becomes invalid. Called
    // once, immediately before the command enters its stream, when nothing else can refuse it any
    // more. An error refuses it after all. NULL: no such effects. Precondition: em_lock held, and
    // not released meanwhile.
    CUresult (*enter)(struct em_command *);
    // Does the work. Reports its own errors (em_fail), which then have these effects:
    //   - If the manual says that it makes the context unusable (em_error_is_sticky), it becomes
    //     the sticky error of the stream's context, whoever submitted the command.
    //   - Any other error is the result of em_submit for EM_SUBMIT_SYNC. For EM_SUBMIT_ASYNC the
    //     stream keeps it until something synchronises with the stream.
    // Not called if the context was destroyed, or got a sticky error, before the command's turn.
    // Precondition: em_lock not held.
    CUresult (*run)(struct em_command *);
    // Drops the references that the command holds, whether it ran or not. The command counts as
    // complete immediately afterwards. NULL: there are no references. em_command.result says how it
    // ended. Precondition: em_lock held.
    void (*finish)(struct em_command *);
    // For commands that can be kept, as a graph's nodes are. `clone` completes a byte copy of a
    // prepared command: it duplicates everything that the original owns and takes references of its
    // own; on failure it leaves the copy with nothing to release. `release` drops everything that a
    // prepared command owns, once in its life: after `finish`, or if it was never submitted. The
    // references of the accesses are taken and dropped by em_command_clone and em_command_release.
    // NULL: the command owns nothing else. Precondition: em_lock held.
    CUresult (*clone)(struct em_command *copy);
    void (*release)(struct em_command *);
    // The command ends something that exists once, such as a mapping or an allocation, so that it
    // cannot run again: em_command_clone refuses it.
    bool once;
    enum em_place place;
    // For the report of a deadlock: says what the command, which is parked, needs, and which
    // pending command brings it. NULL: unknown. Precondition: em_lock held.
    void (*explain)(const struct em_command *, struct em_need *);
    const struct em_parts_ops *parts; // of commands with parts, and of parts; or NULL (deadlock.h)
    // `run` may return EM_RUN_AGAIN: the command stays the first of its stream, and runs again when
    // `ready` returns true. Such a command is always copied, even if it can run at once.
    bool resumes;
    // `run` copies the bytes of an access that is still absent directly, or calls em_access_fetch
    // (access.h).
    bool fetches;
    // `run` is called even if the context has failed, with the error in em_command.result. For
    // callbacks, which are passed that error.
    bool always;
};

enum em_command_state { EM_PREPARED, EM_BLOCKED, EM_PARKED, EM_READY, EM_RUNNING };

// "`to` waits for the command that holds this edge." The storage belongs to `to`.
struct em_edge {
    struct em_command *to;
    struct em_edge *next;
};

struct em_command {
    const struct em_command_ops *ops;
    uint32_t size_B; // of the whole struct: it is copied if it must wait
    // The memory that it reads and writes: an array inside the struct, this many bytes from its
    // start, so that a byte copy of the command is complete.
    uint16_t accesses_at;
    uint32_t access_count;
    struct em_condition *condition; // with ops->ready: must outlive the command
    struct em_order_point *order;   // for the ordering checker; NULL before it starts

    // Everything below belongs to the scheduler and need not be initialised.
    CUresult result;
    bool copied;                 // on the heap; else on the stack of the thread that submitted it
    bool done;                   // complete; for that thread
    bool waits_for_head;         // counts in `unfinished` until it is the oldest ordered command
    bool held;                   // READY: postponed by a decision (choice.h)
    uint16_t passed;             // READY: how often it stood first and another one was chosen
    enum em_command_state state; // under em_lock
    uint32_t unfinished;         // predecessors that have not completed
    struct em_stream *stream;
    uint64_t sequence; // its number among the commands of all contexts, from 1
    uint64_t call;     // em_call_now() of its submission
    const struct em_entry *entry;
    struct em_clock *order_host;       // for the ordering checker: the work that the host knew
    bool order_barrier;                // likewise: it waits for the context's barrier
    struct em_command *next_in_stream; // waits for this command
    struct em_edge *successors;        // so do these, the newest first
    struct em_edge after_legacy, after_barrier;
    struct em_command *previous, *next; // in the context's list of pending commands
    union {
        struct {
            struct em_command *child, *sibling; // READY: in the ready queue
            uint64_t rank;
        };
        struct {
            struct em_command *previous_parked, *next_parked; // PARKED: on the condition
        };
    };
};

// Prepares a command without accesses or a condition. Faster than an initialiser, because it leaves
// out the scheduler's part.
static inline void em_command_init(struct em_command *command, const struct em_command_ops *ops,
                                   size_t size_B)
{
    command->ops = ops;
    command->size_B = (uint32_t)size_B;
    command->accesses_at = command->access_count = 0;
    command->condition = NULL;
    command->order = NULL;
}

static inline struct em_access *em_command_accesses(const struct em_command *command)
{
    return (struct em_access *)((char *)command + command->accesses_at);
}

#define EM_RUN_AGAIN ((CUresult)-1)

enum { EM_SUBMIT_ASYNC, EM_SUBMIT_SYNC };

// Submits a command to `stream`. From then on the scheduler owns the command's references, also on
// failure: `finish` is called exactly once. A command that can run does so in this thread before
// em_submit returns. One that must wait is copied (EM_SUBMIT_ASYNC) and runs later. EM_SUBMIT_SYNC
// returns the command's result when it has completed. Precondition: em_lock not held.
CUresult em_submit(struct em_stream *stream, struct em_command *command, int how);
// The same for a caller that prepared the command under the lock.
// Precondition: em_lock held, which is released meanwhile.
CUresult em_issue(struct em_stream *stream, struct em_command *command, int how);

// ---- for calls that run at the same time as others without em_lock (share.h) ----

// Whether a command that is submitted to the stream now runs at once, and no other one is running.
// Precondition: em_lock held or shared.
bool em_stream_is_free(const struct em_stream *stream);
// The same as em_issue for a call that has entered `share`, which has ended when this returns. The
// command has no condition and runs anywhere. Its accesses are of linear memory that nobody
// watches. Returns false if the call has to take em_lock and begin again: nothing has happened.
bool em_issue_shared(struct em_share *share, struct em_stream *stream, struct em_command *command,
                     int how, CUresult *result);
// Whether a command that the stream gets now would run at once, and nobody would notice its
// beginning and its end: no command waits, no thread does, and nothing steps, orders, delays or
// fails commands, or keeps their bytes. Precondition: em_lock held.
bool em_stream_runs_in_place(const struct em_stream *stream);

// ---- for small commands that run without em_lock and are not entered (detached.h) ----

// To be called if em_stream_runs_in_place, for a command that must not run while em_lock is held.
// Returns true if em_lock was released and the command should run now. Returns false if it has to
// be submitted; em_lock is still held then. `adopt` sets c->stream, prepares the command and calls
// em_command_adopt. Precondition: em_lock held.
bool em_stream_detach(struct em_stream *stream, void (*adopt)(void *), void *command);
// Whether em_stream_detach would return true. Precondition: em_lock held.
bool em_stream_may_detach(const struct em_stream *stream);
// Releases em_lock, and runs and ends a command, which is entered into the scheduler only if
// another thread takes em_lock meanwhile, or if it fails. `adopt` calls em_command_adopt. If it is
// not called, the operations of the command to release it are not called either. Returns the
// result, as em_issue does for EM_SUBMIT_ASYNC. Preconditions: em_lock held, and
// em_stream_may_detach.
CUresult em_issue_detached(struct em_stream *stream, struct em_command *command,
                           void (*adopt)(void *));
// The command has run or has failed. Returns whether it was adopted: then the caller should call
// em_command_end_adopted.
bool em_stream_end_detached(struct em_stream *stream);
// Runs the command again if it has failed, so that it explains the fault. Returns the result, as
// em_issue does. Precondition: em_lock NOT held.
CUresult em_command_end_adopted(struct em_command *command, bool failed, int how);
// em_lock was taken while the command runs: from now on it is one that em_issue has started.
// Precondition: em_lock held.
void em_command_adopt(void *command);

// For the end of a call that could have been shared: turns sharing on if threads have competed for
// em_lock and nothing waits. `stream` is that of the call, or NULL. em_lock should be released
// immediately afterwards. Precondition: em_lock held.
void em_sharing_is_wanted(const struct em_stream *stream) __attribute__((cold));
static inline void em_offer_sharing(const struct em_stream *stream)
{
    em_assert_locked();
    if (__builtin_expect(em_sharing_wanted, 0))
        em_sharing_is_wanted(stream);
}

// Makes a copy of a prepared command that has not been submitted, with references of its own, so
// that either can be submitted or released without the other. `*out` is on the heap:
// em_command_free releases it if it is not submitted. Precondition: em_lock held.
CUresult em_command_clone(const struct em_command *command, struct em_command **out);
void em_command_free(struct em_command *command);
// Drops everything that a prepared command owns. em_submit and em_issue do so themselves.
// Precondition: em_lock held.
void em_command_release(struct em_command *command);

// ---- for code that waits ----

// Runs one ready command that this kind of thread may run. Returns false if no such command is
// ready. Precondition: em_lock held, which is released while the command runs.
bool em_run_one(enum em_place place);
// Runs a ready command if there is one, else sleeps until something makes progress: a command
// completes, or em_progress is called. The caller checks its own condition and calls again if it is
// not met. Precondition: em_lock held, which is released meanwhile.
void em_wait_progress(void);
// To be called at the end of such a wait, if the call goes back to the program then. Commands that
// this thread has found ready may run now, and others under a policy that decides. Precondition:
// em_lock held, which is released meanwhile.
void em_wait_over(void);
// The same as em_wait_progress, but sleeps until `deadline_ns` of the monotonic clock at the latest
// (0: no limit).
void em_wait_progress_until(uint64_t deadline_ns);
// To be called after something other than a command has made progress (usually after
// em_condition_notify): runs the commands that are ready, and wakes the threads in
// em_wait_progress. Precondition: em_lock held, which is released meanwhile.
void em_progress(void);
// Whether a command that is submitted now would have to wait.
// Precondition: em_lock held or shared.
bool em_stream_must_wait(const struct em_stream *stream);

// Counts the calls that order work: synchronising ones, waits for events, and copies that return
// when they are done. Work before such a call is visible to work after it, because the
// program has ordered them (external_watch.h).
extern DM_HIDDEN uint64_t em_order_epoch;
extern DM_HIDDEN bool em_order_counts; // somebody has asked for the number of calls. Atomic
static inline void em_ordered(void)
{
    if (__builtin_expect(__atomic_load_n(&em_order_counts, __ATOMIC_RELAXED), 0))
        em_count(&em_order_epoch, 1);
}
