// SPDX-License-Identifier: MIT
// Page-locked host memory: the driver's own and the program's. Host and device use the same address
// for it.
#pragma once
#include <cuda.h>
#include <stdint.h>

struct em_allocation;
struct dm_vram;

enum em_host_heap { EM_HEAP_CACHED, EM_HEAP_WRITE_COMBINED, EM_HEAP_MANAGED, EM_HOST_HEAPS };

// Host memory for `a`, which the caller has filled but for base, host, mapping and physical; enters
// it. On failure `a` is the caller's. CUDA_ERROR_OUT_OF_MEMORY. Precondition: em_lock held.
CUresult em_host_enter(enum em_host_heap heap, uint64_t size, struct em_allocation *a);

// The books of the host's memory. CUDA_ERROR_OUT_OF_MEMORY. Precondition: em_lock held.
CUresult em_host_books(struct dm_vram **out);

// cuMemHostAlloc in the current context; size 0 gives address 0. Takes the lock.
CUresult em_host_alloc(uint64_t size, unsigned flags, uint64_t *out);
// cuMemFreeHost. Takes the lock.
CUresult em_host_free(uint64_t address);
// cuMemHostRegister; `size` is not 0. Takes the lock.
CUresult em_host_register(uint64_t address, uint64_t size, unsigned flags);
// cuMemHostUnregister. Takes the lock.
CUresult em_host_unregister(uint64_t address);
// The page-locked memory at an address: its device address and the flags that it has. Takes the
// lock.
CUresult em_host_describe(uint64_t address, uint64_t *device_address, unsigned *flags);
