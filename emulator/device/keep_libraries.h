// SPDX-License-Identifier: MIT
// Keeps libraries loaded until the process ends.
#pragma once

// The libraries that are loaded now, or NULL if memory runs out.
struct em_libraries;
struct em_libraries *em_libraries_now(void);

// Keeps those that have been loaded since, and frees the list, which may be NULL. Takes the dynamic
// loader's lock: precondition: em_lock not held.
void em_libraries_keep_new(struct em_libraries *before);
