// SPDX-License-Identifier: MIT
// PTX texts that make one image: those of a fat binary, or those that a linker joins.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "code.h"

struct em_text {
    char name[64]; // for messages; "" if there is only one text
    char *bytes;   // owned, and a 0 follows them; or NULL: an image has taken them over
    uint64_t size_B;
};

// A zeroed struct is an empty list.
struct em_texts {
    struct em_text *list;
    unsigned count, capacity;
    bool lenient; // symbols may be undefined, because some parts have no PTX
    struct em_register_limit registers;
};

// Adds a copy of a text, up to its first 0. `name` may be NULL.
CUresult em_texts_add(struct em_texts *texts, const char *name, const char *bytes, uint64_t size_B);
// Adds bytes that dm_alloc has returned, and takes them over, also on failure. A 0 follows them.
CUresult em_texts_take(struct em_texts *texts, const char *name, char *bytes);
void em_texts_finish(struct em_texts *texts);
