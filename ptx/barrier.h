// SPDX-License-Identifier: MIT
// The 16 barriers of a block.
//
// Threads arrive one by one (since Volta), and a warp whose threads have all arrived counts as 32,
// also if it has fewer.
#pragma once
#include <stddef.h>
#include "warp.h"

enum { PX_BARRIERS = 16, PX_WARPS_MOST = 32 };

struct px_barrier_state {
    uint32_t arrived;              // threads that have passed by (arrive)
    uint32_t waiting;              // threads that wait
    uint32_t expected;             // threads; 0: all of the block
    uint32_t count, all, any;      // of the predicates of red
    uint32_t line;                 // of the last arrival
    uint32_t lanes[PX_WARPS_MOST]; // that have arrived, by warp (the last member: see release)
};

struct px_barriers {
    uint32_t used; // barriers that have threads, as bits
    struct px_barrier_state of[PX_BARRIERS];
};

// Lanes of a warp have ended: barriers that wait for all threads of the block need fewer.
void px_barriers_ended(struct px_block *block);
// Describes the threads that wait, for a deadlock.
void px_barriers_text(const struct px_block *block, char *out, size_t size_B);
