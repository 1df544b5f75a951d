// SPDX-License-Identifier: MIT
// The threads of a grid of host functions: their positions, their shared memory, how they wait for
// each other, and how they fail.
#pragma once
#include <cardless.h>
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "code.h"
#include "fiber.h"

struct dm_fault;
struct em_host_part;

// The state of a lane.
enum em_host_wait { EM_HOST_RUNS, EM_HOST_AT_BARRIER, EM_HOST_AT_GRID_BARRIER, EM_HOST_ENDED };

// A thread of the grid, or a block if the function is called once for each.
struct em_host_lane {
    cardlessThread self;
    struct em_host_part *part;
    enum em_host_wait wait;
    struct dm_fiber fiber; // if lanes wait for each other
};

// Why a grid has failed.
struct em_host_failure {
    bool placed; // in this thread and block
    cardlessIndex block, thread;
    uint64_t address; // that was accessed, or 0
    char text[300];
};

// Consecutive blocks, which one thread runs.
struct em_host_part {
    const struct em_grid *grid;
    void **arguments; // for libffi
    uint64_t block, end;
    uint64_t threads; // calls a block
    bool per_block, barriers;
    struct em_host_lane lane;      // if no lane waits for another one
    struct dm_fiber main;          // else
    struct em_host_shared *shared; // of the blocks that run at the same time
    CUresult result;
    struct em_host_failure failure;
    CUresult leaving; // a lane leaves by dm_guard_leave with this error
};

// The state that em_host_leave restores.
struct em_host_scope {
    struct em_host_lane *lane;
    bool in_host_function, in_kernel, in_program;
};

// Marks a lane as the one that the calling thread runs. Scopes may nest, and
// should end in the reverse order.
void em_host_enter(struct em_host_lane *lane, struct em_host_scope *outer);
void em_host_leave(const struct em_host_scope *outer);

// Fill in part->result and part->failure: for a fault, and for a lane that called pthread_exit.
void em_host_fail(struct em_host_lane *lane, const struct dm_fault *fault);
void em_host_fail_exit(struct em_host_lane *lane);

// Runs all blocks of a part, the lanes of a block in turns, and calls `call` for each lane. All
// blocks of a cooperative grid run at the same time. Returns part->result.
CUresult em_host_run_lanes(struct em_host_part *part, void (*call)(struct em_host_lane *));

// Gets shared memory for `blocks` blocks, assigns its part to a lane, and gives it back.
CUresult em_host_shared_get(struct em_host_part *part, uint64_t blocks);
void em_host_shared_place(struct em_host_part *part, struct em_host_lane *lane, uint64_t block);
void em_host_shared_put(struct em_host_part *part);
// Whether an address lies in the guard after a lane's shared memory; if so, *past_B is its distance
// from the end of the dynamic part.
bool em_host_past_shared(const struct em_host_lane *lane, uint64_t address, uint64_t *past_B);

// Free the stacks and the shared memory that are kept for later grids. Thread-safe.
void em_host_lanes_give_back(void);
void em_host_shared_give_back(void);
