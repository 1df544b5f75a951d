// SPDX-License-Identifier: MIT
// Staging: an asynchronous copy from pageable memory that has to wait takes its bytes along, so
// that the call can return.
#pragma once
#include <stdbool.h>

struct em_copy_command;

// Copies the source of a prepared copy to staging memory, which the command owns from then on.
// Returns false if the copy does not qualify, if too much is staged already, or if the source
// cannot be read; then nothing has changed. Precondition: em_lock held.
bool em_copy_stage(struct em_copy_command *copy);
