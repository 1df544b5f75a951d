// SPDX-License-Identifier: MIT
// Finds the memory and objects that a recorded call created.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace_model.h"

struct replay_birth {
    uint32_t call, index; // in the model's list of memories or objects
};

// Sorted by call, and then by index.
struct replay_births {
    struct replay_birth *list;
    size_t count;
};

// Return false if out of host memory.
bool replay_births_of_memory(const struct trace_model *model, struct replay_births *out);
bool replay_births_of_objects(const struct trace_model *model, struct replay_births *out);

// Returns how many the call created. `*first` is the first of them.
size_t replay_births_in(const struct replay_births *births, uint32_t call,
                        const struct replay_birth **first);
