// SPDX-License-Identifier: MIT
// Pointer checks: whether the program's memory that a call is about to use can be read or written.
// A wild pointer then fails with a message instead of a fault in the middle of the call.
#pragma once
#include <cuda.h>
#include <stdint.h>

// Fails with CUDA_ERROR_INVALID_VALUE, and a message that begins with `name`, unless `count`
// elements of `element_B` bytes can be read at `p`. NULL passes: the caller checks it. Another
// thread may still unmap the memory before it is used, so this finds mistakes, not attacks.
CUresult em_readable(const char *name, const void *p, uint64_t count, uint64_t element_B);
// The same for writing. Does not change the memory.
CUresult em_writable(const char *name, void *p, uint64_t size_B);
