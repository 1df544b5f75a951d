// SPDX-License-Identifier: MIT
// Page-locked host memory, which the driver allocates or the program registers. Host and device use
// the same address for it.
#pragma once
#include <cuda.h>
#include <stdint.h>

struct em_allocation;
struct dm_vram;

enum em_host_heap { EM_HEAP_CACHED, EM_HEAP_WRITE_COMBINED, EM_HEAP_MANAGED, EM_HOST_HEAPS };

// Allocates host memory for `a` and enters it into the memory map. The caller has filled `a` except
// for base, host, mapping and physical, and keeps it on failure (CUDA_ERROR_OUT_OF_MEMORY).
// Precondition: em_lock held.
CUresult em_host_enter(enum em_host_heap heap, uint64_t size, struct em_allocation *a);

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
