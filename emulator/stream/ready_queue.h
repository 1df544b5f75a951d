// SPDX-License-Identifier: MIT
// Ready queues: commands that could run now, ordered by the rank that the policy gave them.
//
// A pairing heap inside the commands themselves, so that a command can always become ready without
// allocating memory. Pushing takes one step. Popping takes the logarithm of the length, amortized,
// and mostly less.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct em_command;

struct em_ready_queue {
    struct em_command *first; // the one with the lowest rank, or NULL
};

// Precondition of both: em_lock held.
void em_ready_push(struct em_ready_queue *queue, struct em_command *command, uint64_t rank);
// Removes and returns the command with the lowest rank. The queue must not be empty.
struct em_command *em_ready_pop(struct em_ready_queue *queue);
