// SPDX-License-Identifier: MIT
// Commands and the one funnel they go through. Whatever happens in stream order is a command: a
// struct that begins with em_command, handed to em_submit() also when it runs at once, so that
// policies, capture and traces see everything.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct em_access;
struct em_stream;
struct em_command;
struct em_context;
struct em_entry;

// Who may run a command.
enum em_place {
    EM_ANYWHERE,    // any thread: the submitting one, one that synchronises, the one that completed
                    // what it waited for
    EM_HOST_THREAD, // the thread for host functions: the program's own code, which may hold locks
                    // that the submitting thread waits for
};

struct em_command_ops {
    const char *name; // "memcpy", "memset", "event record" …
    // Whether it could run now; NULL: always. Asked only for the first command of a stream, any
    // number of times. Precondition: em_lock held.
    bool (*ready)(struct em_command *);
    // Does the work; em_lock is not held. It says itself why it fails (em_fail). What becomes of an
    // error:
    //   - one after which the manual calls the context unusable (em_error_sticks) sticks to the
    //   stream's context, whoever submitted the command;
    //   - any other is the result of em_submit for EM_SUBMIT_SYNC, and for EM_SUBMIT_ASYNC kept in
    //   the stream until something synchronises with it.
    // Not called for a command whose context is destroyed, or has a sticky error, before its turn.
    CUresult (*run)(struct em_command *);
    // Drops the references that the command holds, run or not; the command counts as complete right
    // afterwards. NULL: none. `result` is what has become of it. Precondition: em_lock held.
    void (*finish)(struct em_command *);
    // For commands that can be kept, as a graph's nodes are. `clone` completes a byte copy of a
    // prepared command: it duplicates what the original owns and takes references of its own; on
    // failure it leaves the copy with nothing to release. `release` drops what a prepared command
    // owns, once in its life: after `finish`, or if it was never submitted. The references of the
    // accesses are taken and dropped by em_command_clone and em_command_release. NULL: the command
    // owns nothing else. Precondition: em_lock held.
    CUresult (*clone)(struct em_command *copy);
    void (*release)(struct em_command *);
    enum em_place place;
    // `ready` may turn true without a command having completed (memory that the program writes,
    // another process): it is asked from time to time.
    bool polled;
    // `run` may answer EM_RUN_AGAIN: the command stays the first of its stream until `ready` says
    // that it can go on. It always waits its turn as a copy.
    bool resumes;
    // `run` is called also when the context has failed, with the error in em_command.result:
    // callbacks that are told of errors.
    bool always;
};

struct em_command {
    const struct em_command_ops *ops;
    uint32_t size_B; // of the whole struct: it is copied when it must wait
    // The memory that it reads and writes: an array inside the struct, this many bytes from its
    // start, so that a byte copy of the command is complete.
    uint16_t accesses_at, access_count;
    // The rest is the funnel's.
    bool copied, done;
    CUresult result;
    struct em_stream *stream;
    uint64_t sequence; // its number in the stream, from 1
    uint64_t ticket;   // its number among all commands, from 1
    uint64_t call;     // em_call_now() of its submission
    const struct em_entry *entry;
    struct em_command *next;
};

static inline struct em_access *em_command_accesses(const struct em_command *command)
{
    return (struct em_access *)((char *)command + command->accesses_at);
}

#define EM_RUN_AGAIN ((CUresult)-1)

enum { EM_SUBMIT_ASYNC, EM_SUBMIT_SYNC };

// Pushes a command into `stream`. Afterwards the command's references belong to the funnel, also on
// failure: `finish` is called exactly once. A command that can run does so in this thread before
// em_submit returns; one that must wait is copied (EM_SUBMIT_ASYNC) and run later. EM_SUBMIT_SYNC
// returns when it has completed, with its result. Takes the lock: precondition: em_lock NOT held.
CUresult em_submit(struct em_stream *stream, struct em_command *command, int how);
// The same for a caller that prepared the command under the lock. Precondition: em_lock held, which
// is released meanwhile.
CUresult em_issue(struct em_stream *stream, struct em_command *command, int how);

// Makes a copy of a prepared command that has not been submitted, with references of its own, so
// that either can be submitted or released without the other. `*out` is on the heap:
// em_command_free releases it if it is not submitted. Precondition: em_lock held.
CUresult em_command_clone(const struct em_command *command, struct em_command **out);
void em_command_free(struct em_command *command);
// Drops everything that a prepared command owns. em_submit and em_issue do so themselves.
// Precondition: em_lock held.
void em_command_release(struct em_command *command);

// What follows is for those who wait for progress of any kind: streams and events.

// Runs one waiting command that a thread of this kind may run, em_lock released meanwhile; false:
// there was none. Precondition: em_lock held.
bool em_run_one(enum em_place place);
// Runs one waiting command, or else sleeps until something completes. Precondition: em_lock held,
// which is released meanwhile.
void em_wait_progress(void);
// The same where what is waited for happens outside of this process's streams: sleeps for a moment
// only.
void em_wait_outside(void);
// Something that is not a command changed what `ready` says: runs what can run and wakes who waits.
// Precondition: em_lock held; as above.
void em_progress(void);
// Whether the first waiting command of a stream could run now. Precondition: em_lock held.
bool em_stream_can_run(struct em_stream *stream);
// Whether a command that is submitted now would not run at once. Precondition: em_lock held.
bool em_stream_must_wait(const struct em_stream *stream);
// Ends all waiting commands of a stream without running them. Precondition: em_lock held.
void em_stream_abandon(struct em_stream *stream, CUresult result);

// Counts the calls that order work: synchronising ones, waits for events, and copies that return
// when they are done. What came before such a call is visible to what comes after it, whatever the
// addresses (external_watch.h).
extern uint64_t em_order_epoch;
static inline void em_ordered(void)
{
    __atomic_fetch_add(&em_order_epoch, 1, __ATOMIC_RELAXED);
}
