// SPDX-License-Identifier: MIT
// The heap of malloc() in kernels. Each context has one, as large as CU_LIMIT_MALLOC_HEAP_SIZE when
// a kernel that uses it first runs. Memory stays allocated until a kernel frees it, "for the
// lifetime of the CUDA context".
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct em_context;
struct em_kernel_heap;

// The heap of a context, which is made at the first call. It lives as long as the context.
// Precondition: em_lock not held.
CUresult em_kernel_heap_get(struct em_context *context, struct em_kernel_heap **out);

// The rest is thread-safe, and takes a lock of its own.

#define EM_KERNEL_HEAP_FAILED UINT64_MAX // host memory is short

// Returns the device address of size_B bytes, a multiple of 16, or 0 if the heap is full, or
// EM_KERNEL_HEAP_FAILED.
uint64_t em_kernel_heap_allocate(struct em_kernel_heap *heap, uint64_t size_B);
// Returns false, and a clause that gives the reason, if the address is not allocated.
bool em_kernel_heap_free(struct em_kernel_heap *heap, uint64_t address, char *why, size_t why_B);
