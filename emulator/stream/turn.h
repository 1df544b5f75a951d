// SPDX-License-Identifier: MIT
// Tells a thread that takes its time from one that a busy machine does not run. The policies give
// up on a thread after a time, and count only those parts of it in which the thread had its turn:
// so the order of commands does not depend on how busy the machine is.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

struct em_turn {
    pid_t thread; // 0: all threads but the one that asks
    clockid_t clock;
    uint64_t used_ns;
};

// Of the calling thread.
struct em_turn em_turn_of_self(void);
// Of all threads but the calling one, which asks.
struct em_turn em_turn_of_others(void);
// The number of threads of this process, or 0 if the kernel does not say.
unsigned em_turn_threads(void);
// Whether the thread has run since the last call, or has nothing to run because it sleeps. If the
// kernel does not say, it had its turn.
bool em_had_turn(struct em_turn *turn);
