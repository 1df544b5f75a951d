// SPDX-License-Identifier: MIT
// Staging: an asynchronous copy from pageable memory that has to wait takes its bytes along, so
// that the call can return.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct em_copy_command;

// The bytes of a copy, without gaps.
struct em_staged {
    void *bytes;
    uint64_t size_B;
};

// Allocates staging memory for a prepared copy. Returns false if the copy does not qualify, or if
// too much is staged already; then nothing has changed. Precondition: em_lock held.
bool em_stage_reserve(const struct em_copy_command *copy, struct em_staged *out);
// Copies the source to staging memory. Returns false if it cannot be read.
// Precondition: em_lock NOT held, because the program may have to serve page faults.
bool em_stage_fill(const struct em_copy_command *copy, const struct em_staged *staged);
// Makes staging memory the source of the copy, whose command owns it from then on. Returns false if
// the copy does not qualify any more. Precondition: em_lock held.
bool em_stage_use(struct em_copy_command *copy, const struct em_staged *staged);
// Frees staging memory that no command owns. Precondition: em_lock held.
void em_stage_drop(const struct em_staged *staged);
