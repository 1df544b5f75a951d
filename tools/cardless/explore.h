// SPDX-License-Identifier: MIT
// The parts of `cardless explore`: runs of a program, the search for one that fails, and the
// picture of its order.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "temporary.h"

// ---- schedules ----

// Decision `number` takes `option`; decisions that are not listed take option 0.
struct departure {
    unsigned number, option;
};
struct schedule {
    struct departure *list; // in the order of the numbers
    size_t count;
};

// Writes "schedule:3=1,7=2". The caller frees the text; NULL: out of memory.
char *schedule_text(const struct schedule *schedule);
// Writes the policy of a text that is too long for the environment to a file, and replaces the text
// by "schedule:@FILE". Returns false if that fails, and has printed why.
enum { POLICY_MOST_B = 64 << 10 };
bool schedule_to_file(char **text, const char *path);

// ---- runs (explore_run.c) ----

struct explore {
    char **program; // and its arguments, ending with NULL
    unsigned schedules, jobs;
    uint64_t seed;
    double timeout_s;
    bool check_order;
    struct temporary folder; // for logs
};

enum outcome_kind {
    PASSED,
    FAILED_EXIT,       // `value` is the exit status
    FAILED_SIGNAL,     // `value` is the signal
    FAILED_TIMEOUT,    // it ran longer than the time limit
    FAILED_DIAGNOSTIC, // `text` is the diagnostic
    CANNOT_RUN,        // `value` is errno of exec
};

struct decision {
    unsigned options, option;
};

struct outcome {
    enum outcome_kind kind;
    int value;
    char text[1024];
    struct decision *decisions;
    size_t count;
    bool logged; // it has written a log of its schedule, so it has initialised CUDA
};

struct run {
    pid_t pid; // 0: no run
    double deadline_s;
    unsigned slot;
    int exec_errors; // pipe
};

double explore_now(void);
// Starts the program under a policy. Its logs get names with the number of the slot. With
// `picture`, the trace and the output are kept for run_picture. Returns false if it cannot be
// started, and has printed why.
bool run_start(const struct explore *x, struct run *run, unsigned slot, const char *policy,
               bool picture);
// Returns whether the run has ended. If so, fills in *out, whose decisions the caller frees.
bool run_ended(const struct explore *x, struct run *run, struct outcome *out);
// Ends the run, and all processes that it has started.
void run_kill(struct run *run);
// From now on children can be awaited, and the signals that end this process are noticed.
void run_prepare(void);
// Sleeps until a child of this process ends, until a signal that ends this process, or until the
// time.
void run_sleep(double until_s);
// The signal that has come to end this process, or 0. The caller stops what it does.
int run_interrupted(void);
// Starts a run, and waits for its end. Returns false if it cannot, or is interrupted.
bool run_once(const struct explore *x, const char *policy, bool picture, struct outcome *out);
// Whether two runs have failed in the same way: with the same exit status or signal, or with the
// same diagnostic of the same calls and objects. The numbers of calls do not count, because a loop
// that asks takes more or fewer of them in another order.
bool outcome_is_same(const struct outcome *a, const struct outcome *b);
// "exit status 3", "signal 11 (Segmentation fault)" …
void outcome_text(const struct explore *x, const struct outcome *outcome, char *out, size_t size);

// ---- the files of a run (explore_log.c) ----

enum { EXPLORE_PROCESSES = 64 }; // more are ignored

// "FOLDER/NAME.SLOT", which all processes of a run share, and the file of one of them.
void explore_log_path(const struct explore *x, unsigned slot, const char *name, char *out,
                      size_t size);
void explore_process_path(const struct explore *x, unsigned slot, const char *name, pid_t process,
                          char *out, size_t size);
// Lists the processes of the last run of a slot that have logged their schedule, in the order of
// their numbers. Returns how many there are.
size_t explore_processes(const struct explore *x, unsigned slot, pid_t list[EXPLORE_PROCESSES]);
void explore_remove_logs(const struct explore *x, unsigned slot);

// ---- search (explore_search.c) ----

struct found {
    bool failed;
    unsigned tried;          // runs until the failing one, or all
    unsigned orders;         // of those tried; lazy may be one of the others
    bool complete;           // there are no other schedules
    bool logged;             // one of the runs has initialised CUDA
    unsigned seeds;          // of those tried, so many were drawn
    struct outcome outcome;  // of the failing run
    struct schedule minimal; // the failing schedule with the fewest departures that was found
    size_t departures;       // of the schedule that failed first
    bool repeats;            // it failed again
};

// Returns 0, or an exit status if the program cannot be run.
int explore_search(const struct explore *x, struct found *out);

// ---- picture (explore_picture.c) ----

// Prints the order of the last run of slot 0 that was started with `picture`. `waits` is the call
// that a deadlock was reported in, or "".
void explore_picture(const struct explore *x, const char *waits, FILE *to);
// Prints the last lines that this run has written to standard output and standard error.
void explore_output(const struct explore *x, FILE *to);
