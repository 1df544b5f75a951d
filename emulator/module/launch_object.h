// SPDX-License-Identifier: MIT
// Textures and surfaces of launches: what references are bound to, and the accesses to memory.
// Precondition of all: em_lock held; and the code has `objects`.
#pragma once
#include "access.h"
#include "module.h"

// The number of references that a kernel uses.
unsigned em_launch_references_count(const struct em_code *code);
// Keeps what they are bound to now. Fills in all of them, or none if it fails.
CUresult em_launch_references(const struct em_function *f, struct em_launch_reference *out);
void em_launch_references_drop(struct em_launch_reference *list, unsigned count);

// Fills in the accesses to the objects that arguments and references name, and returns their
// number. If `to` is NULL, only counts them.
unsigned em_launch_objects(const struct em_function *f, const unsigned char *arguments,
                           const struct em_launch_reference *references, struct em_access *to);
