// SPDX-License-Identifier: MIT
// Runs a kernel from its PTX text, for tests.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Loads a text and runs its first kernel, whose only argument is the address of `memory`, with one
// block of `threads`. The kernel may access the size_B bytes of `memory` only. Programs use the
// instruction sets that kn_set_cpu_mask allows at this moment. A test should call dm_guard_init()
// first, and should not call this from several threads. Returns 0, or a negative errno after it has
// printed the sentence to stderr.
int run_text(const char *text, uint32_t threads, void *memory, size_t size_B);
// The same with `memory` as the device's own memory, whose accesses are not checked one by one: an
// access that begins in it may end after it.
int run_text_in_device(const char *text, uint32_t threads, void *memory, size_t size_B);
