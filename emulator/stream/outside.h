// SPDX-License-Identifier: MIT
// Sources: things outside this process's streams that commands and threads wait for.
//
// A source notifies its condition when it may have changed. There are three kinds:
//
//   word     A 32-bit word in shared memory. Whoever changes the state that it stands for changes
//            the word and wakes its futex. Events shared between processes are of this kind.
//   file     A file descriptor that becomes readable, such as an eventfd or a process's pidfd.
//   memory   em_outside_memory: plain memory that the program, or another process, writes without
//            notifying anybody (cuStreamWaitValue32). This is the only thing that is ever polled,
//            except for words if the kernel has no futex_waitv or no pidfds (Linux before 5.16).
//            One thread does so, every 10 us at first and every millisecond at last, or every 50 us
//            while another thread synchronises.
//
// One thread watches all words and the plain memory, a second one all files. They are started when
// needed, and end if nobody has waited for a while. A thread of the program that waits may look at
// the words itself for some microseconds before it sleeps (spin.h): it notices a change without a
// system call, and meanwhile whoever changes a word need not wake anybody. Everything here:
// precondition: em_lock held.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "condition.h"
#include "futex.h"

struct em_source {
    struct em_condition condition; // condition.source is this source
    struct dm_word *word;          // in shared memory; any process may write to it. Whoever
                                   // changes the state calls dm_word_changed
    // The rest belongs to outside.c.
    uint32_t seen;    // word->changed when the condition was last asked
    unsigned threads; // in em_source_wait
    bool watched;     // in the list of words; may be there although nobody waits
    bool counted;     // this process counts in word->waiters …
    bool called;      // … or in word->callers
    bool slept_on;    // by a thread in em_outside_sleep
    struct em_source *previous, *next;
};

extern struct em_source em_outside_memory;

// Starts the threads that watch. To be called by whoever is about to wait. Returns false if there
// can be no thread for words and memory.
bool em_outside_start(void);
// Whether nobody waits, and no command is pending that may wait soon: the threads may end.
bool em_outside_is_idle(void);

// Begins and ends watching. em_source_watch does nothing if the source is watched already;
// em_source_unwatch does nothing while commands or threads wait for it.
void em_source_watch(struct em_source *source);
void em_source_unwatch(struct em_source *source);
// To be called before the memory of the word, or the source, goes away. Nobody waits for it.
void em_source_forget(struct em_source *source);
// em_wait_progress for a thread that waits for the source. `done(argument)` returns whether the
// wait is over; it is asked again once the source is watched, so that no change is missed.
void em_source_wait(struct em_source *source, bool (*done)(void *), void *argument);
// The same up to `deadline_ns` of the monotonic clock (0: without a limit). Returns false if the
// wait was not over then.
bool em_source_wait_until(struct em_source *source, bool (*done)(void *), void *argument,
                          uint64_t deadline_ns);
// Asks the conditions of the words that have changed, so that a thread of this process that has
// changed one need not leave that to the thread that watches them. em_progress then runs the
// commands that are ready.
void em_outside_ask_changed(void);
// Asks the conditions of all words that are watched, because something else than the words has
// changed.
void em_outside_ask_words(void);

// Whether a command or a thread waits for a word.
bool em_outside_waits_for_words(void);
// A thread that waits for progress looks at the words itself from now on: it calls
// em_outside_ask_changed again and again, and releases em_lock in between. Returns false if half of
// the machine's cores do so already, or if there is only one core.
bool em_outside_spin_begin(void);
void em_outside_spin_end(void);

// Sleeps until a word changes, em_outside_wake is called, or the clock of dm_now_ns reaches
// `deadline_ns` (0: never), so that a change wakes this thread without the help of the thread that
// watches the words. Returns 0 or ETIMEDOUT; or -1 at once if the caller has to wait for progress
// in another way, because another thread sleeps here, or because no words or many are awaited.
// em_lock is released meanwhile.
int em_outside_sleep(uint64_t deadline_ns);
void em_outside_wake(void);

// The kernel cannot say when something else happens that the words stand for: from now on they are
// polled as plain memory is.
void em_outside_poll_words(void);

// Asks some of the commands that wait for plain memory. Called after this process may have written
// to it: after a command has completed, and by calls that synchronise or query.
void em_outside_glance(void);
// A thread waits: plain memory is polled more often.
void em_outside_hurry(void);

// ---- files ----

struct em_file_source {
    int fd;
    // The descriptor is readable; called once, then the source is removed.
    void (*readable)(struct em_file_source *);
};
// Returns false if the descriptor cannot be watched.
bool em_file_watch(struct em_file_source *source);
void em_file_unwatch(struct em_file_source *source);
// Starts the thread again if there are files to watch. Returns false if it cannot be started.
bool em_files_resume(void);
