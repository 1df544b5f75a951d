// SPDX-License-Identifier: MIT
// Deadlocks: blocks whose threads wait or repeat a test for ever.
//
// A warp that goes round a loop changes nothing if the loop contains only arithmetic, loads of the
// block's own memory and tests of barriers in memory: decode.c marks the branch of every other
// loop, and taking such a branch is progress (px_block.moved). A block is deadlocked if two rounds
// without progress end in the same state: every lane at the same operation, with equal values in
// the registers that decide where it goes. Nobody outside the blocks can change what the loops
// read.
//
//     round     1        2        3        4        5
//     state     A ─────▶ B ─────▶ C ─────▶ B ─────▶ C …
//     kept      A        B        B        B        deadlock at round 4
//
// The branch of a new kind of operation should count as progress until somebody has thought about
// it: an overlooked deadlock is reported by watch.h, but a false one ends a good kernel.
//
// The state of the last round whose number is a power of two is kept, so a cycle of any length is
// found (Brent's algorithm). If a counter eventually ends the loop, no state repeats.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct px_block;
struct px_program;

struct px_stall {
    uint32_t rounds; // without progress
    char *kept;      // the state after one of them
    char *now;       // the same, scratch
    uint64_t size_B;
    bool *deciding; // by register: it decides where lanes go, or which memory they access
};

// Called when each of these blocks, of which no other block can read or change shared memory, has
// run for a turn. Returns whether they will never end. Without host memory, no deadlock is found.
bool px_stall_round(struct px_stall *stall, struct px_block *const *blocks, uint32_t count);
void px_stall_finish(struct px_stall *stall);
// Describes the deadlock as the grid's failure: each group of threads and its barrier.
void px_stall_fail(struct px_block *const *blocks, uint32_t count);
// Counts the operations before each one, and before the end, that may be progress: those that have
// an effect on others, or read something that others can change except the shared memory of the
// blocks. `counts` has op_count + 1 elements, of which the first is 0.
void px_stall_count(const struct px_program *program, uint32_t *counts);
