// SPDX-License-Identifier: MIT
// Device memory: the memory of each device, cuMemAlloc and cuMemFree, and the address space that
// all devices share.
#pragma once
#include <cuda.h>
#include <stdint.h>

#include "heap.h"
#include "hidden.h"
#include "memory.h"
#include "physical.h"
#include "space.h"

struct em_device;
struct em_heap;

// The address space of all devices (unified addressing), from cuInit on. Precondition of every use:
// em_lock held.
extern DM_HIDDEN struct dm_space em_space;
// Creates it. Called once, when the driver starts.
CUresult em_space_start(void);
// Returns whether an address is in the address space. Precondition: em_lock held or shared, because
// other threads reserve addresses.
bool em_is_device_address(uint64_t address);

struct em_device_memory {
    struct dm_vram vram;
    struct dm_heap heap;  // of the graphics APIs; those of contexts are in context_heap.h
    struct em_heap *idle; // heaps of contexts that have ended
    unsigned idle_count;
};

// Returns the memory of a device, and creates it at the first call. Fails with
// CUDA_ERROR_OUT_OF_MEMORY if the process is out of addresses or memory.
// Precondition: em_lock held.
CUresult em_device_memory(const struct em_device *device, struct em_device_memory **out);

// How much of a device with `total_B` bytes the driver keeps for itself.
uint64_t em_driver_share(uint64_t total_B);

// Reports why a request for `size` bytes failed on a device whose memory exists. `noun` names the
// request ("an allocation"); `status` is the negative errno that device-model returned.
// Precondition: em_lock held.
CUresult em_out_of_device_memory(int device, const char *noun, uint64_t size, int status);

// Sets mapping_base and mapping_size of an allocation whose base and size come from a dm_heap:
// small allocations share a chunk, large ones have granules of their own.
void em_set_heap_mapping(struct em_allocation *a);

// cuMemAlloc in the current context. *out is 0 on failure. Takes the lock.
CUresult em_memory_alloc(uint64_t size, uint64_t *out);
// Memory for a variable of a module, which may have been used before. em_memory_remove gives it
// back. Precondition: em_lock held.
CUresult em_memory_alloc_variable(struct em_context *context, uint64_t size_B, uint64_t *out);
// Whether the memory of a variable, managed or not, has not been used before, and is zero
// therefore. Precondition: em_lock held.
bool em_memory_variable_is_fresh(uint64_t address);
// cuMemFree, for memory of cuMemAlloc, cuMemAllocManaged, cuMemAllocAsync and
// cuExternalMemoryGetMappedBuffer. Takes the lock.
CUresult em_memory_free(uint64_t address);
// Makes freed memory inaccessible (kept.h), before commands that were prepared earlier or compute
// their addresses: kernels and graphs. Precondition: em_lock held.
void em_memory_close_freed(void);
// The same if any command is pending, which may use what was just freed. Precondition: em_lock
// held.
void em_memory_freed(void);
// Does the work of the first allocation on the context's device, as far as possible. Precondition:
// em_lock held.
void em_memory_prepare(struct em_context *context);
// Gives the pages of freed memory back to the host (kept.h). Precondition: em_lock held.
void em_memory_drop_kept(void);
// Finds the allocation that such a call frees, or explains why it cannot be freed that way:
// `address` is its base, unless it has a free_at. Precondition: em_lock held.
CUresult em_memory_get_to_free(uint64_t address, struct em_allocation **out);
// Waits until the commands that have been submitted in a context so far have completed, because
// they may use the memory that is about to be freed. Does nothing if `context` is NULL. Ignores
// commands that other threads submit in the meantime. Fails inside a host function.
// Precondition: em_lock held, which is released meanwhile.
CUresult em_memory_wait_idle(struct em_context *context);
// The same for commands up to this sequence number.
// Precondition: em_lock held, which is released meanwhile.
CUresult em_memory_wait_until(struct em_context *context, uint64_t up_to);
// cuMemGetInfo of the current context's device. Takes the lock.
CUresult em_memory_info(uint64_t *free_B, uint64_t *total_B);
// cuMemGetAddressRange. Takes the lock.
CUresult em_memory_range(uint64_t address, uint64_t *base, uint64_t *size);
