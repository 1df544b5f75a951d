// SPDX-License-Identifier: MIT
// Whether memory that the program describes by a pointer inside a structure, or by a pointer and a
// count, is there: a wild one gets a sentence instead of a fault in the middle of a call.
#pragma once
#include <cuda.h>
#include <stdint.h>

// `count` elements of `element_B` bytes at `p` can be read; NULL is left to the caller.
// CUDA_ERROR_INVALID_VALUE otherwise, with `name` in the sentence. What is there may still change
// or go before it is used: this is for mistakes, not for enemies in other threads.
CUresult em_readable(const char *name, const void *p, uint64_t count, uint64_t element_B);
// The same for writing; changes nothing.
CUresult em_writable(const char *name, void *p, uint64_t size_B);
