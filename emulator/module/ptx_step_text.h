// SPDX-License-Identifier: MIT
// The text of stepping: masks of lanes as drawings, instructions, and values of registers.
#pragma once
#include "import.h"
#include "step.h"

// Text that is collected, and written when there is enough of it.
struct em_step_text {
    const struct dm_fd_identity *file;
    bool failed; // nobody reads it any more
    size_t used;
    char bytes[4096];
};

void em_step_print(struct em_step_text *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void em_step_flush(struct em_step_text *to);

// 32 characters: # takes part, o is there but its guard is false, . is elsewhere, blank has ended.
void em_step_mask(const struct px_step *step, uint32_t active, uint32_t taking, char out[33]);
// The title of the columns that em_step_instruction prints.
void em_step_title(struct em_step_text *to);
// A line for the instruction of the stop: number, lanes, text.
void em_step_instruction(struct em_step_text *to, const struct px_step *step);
// A line for the lanes of each other place. Returns a hash of the fragments, and prints nothing if
// it is `unless`.
uint64_t em_step_fragments(struct em_step_text *to, const struct px_step *step, uint64_t unless);
// "%r1 = 0, 1, 2 … 31", for some lanes, which are named unless they are `all`. The register should
// have a name.
void em_step_register(struct em_step_text *to, const struct px_step *step, px_register reg,
                      uint32_t lanes, uint32_t all);
