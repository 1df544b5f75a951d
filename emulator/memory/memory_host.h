// SPDX-License-Identifier: MIT
// Page-locked host memory, which the driver allocates or the program registers. Host and device use
// the same address for it.
#pragma once
#include <cuda.h>
#include <stdint.h>

#include "memory.h"

struct dm_vram;

// Allocates host memory of this kind (EM_MEMORY_HOST or EM_MEMORY_MANAGED) in the current context.
// *out is 0 on failure (CUDA_ERROR_OUT_OF_MEMORY). Takes the lock.
CUresult em_host_new(enum em_memory_kind kind, uint64_t size, unsigned flags, uint64_t *out);

// Allocates managed memory for a variable of a module, which is not zero. em_memory_remove gives it
// back. `context` is NULL if the variable outlives contexts. Precondition: em_lock held.
CUresult em_host_new_variable(struct em_context *context, int device, uint64_t size, uint64_t *out);

// Returns the accounting of the host's memory, or CUDA_ERROR_OUT_OF_MEMORY.
// Precondition: em_lock held.
CUresult em_host_books(struct dm_vram **out);

// cuMemHostAlloc in the current context; if the size is 0, so is the address. Takes the lock.
CUresult em_host_alloc(uint64_t size, unsigned flags, uint64_t *out);
// cuMemFreeHost. Takes the lock.
CUresult em_host_free(uint64_t address);
// cuMemHostRegister; `size` is not 0. Takes the lock.
CUresult em_host_register(uint64_t address, uint64_t size, unsigned flags);
// cuMemHostUnregister. Takes the lock.
CUresult em_host_unregister(uint64_t address);
// Returns the device address and the flags of the page-locked memory at an address. Takes the lock.
CUresult em_host_describe(uint64_t address, uint64_t *device_address, unsigned *flags);
