// SPDX-License-Identifier: MIT
// What the funnel's own files share. Everything here: precondition: em_lock held.
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct em_stream;
struct em_policy;

struct em_funnel {
    struct em_stream *first, *last; // streams with commands that wait, the longest waiting first
    uint64_t
        tickets; // handed out so far: commands of all contexts, in the order of their submission
    bool handed_over; // the poller goes on with commands that can run: who made them ready has done
                      // its share
    uint64_t polled;  // waiting commands whose `ready` may turn true by itself
    uint64_t waiters; // threads in em_wait_progress
    pthread_cond_t progress; // something completed
    const struct em_policy *policy;
};
extern struct em_funnel em_funnel;
