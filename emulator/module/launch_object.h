// SPDX-License-Identifier: MIT
// Textures and surfaces of launches, and the accesses to their memory.
// Precondition of all: em_lock held; and the code has `objects`.
#pragma once
#include "access.h"
#include "module.h"

// Finds the objects that arguments and references name, and keeps them: code->objects->count of
// them. Fills in all, or nothing if it fails.
CUresult em_launch_objects(const struct em_function *f, const unsigned char *arguments,
                           struct em_launch_object *out);
void em_launch_objects_drop(struct em_launch_object *list, unsigned count);

// Fills in the accesses to these objects. Returns their number. If `to` is NULL, only counts them.
unsigned em_launch_object_accesses(const struct em_function *f,
                                   const struct em_launch_object *objects, struct em_access *to);
