// SPDX-License-Identifier: MIT
// Memory pools: the manual's chapter "Stream Ordered Memory Allocator".
//
// Like a card's (recorded: x_memory pool), a pool has one range of addresses, backed in blocks of
// 32 MiB. Allocations are multiples of 512 bytes and may extend over several blocks. If the program
// synchronises, the pool frees unused blocks down to its release threshold.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "memory.h"
#include "object.h"
#include "physical.h"
#include "rangemap.h"

struct em_stream;
struct em_device;
struct em_import;

enum { EM_POOL_BLOCK = 32 << 20 };

struct em_pool {
    struct em_object object; // type EM_POOL, in no context; each allocation holds a reference
    const struct em_device *device; // the first device if the pool is on the host
    CUmemLocation location;
    bool managed; // of managed memory
    unsigned handle_types;
    bool standard;   // the default pool of its location: cannot be destroyed
    uint64_t access; // one bit per device that may use the memory, its own included
    bool
        host_access; // managed: cuMemPoolSetAccess has granted it; the host can access all the same

    int reuse[3]; // CU_MEMPOOL_ATTR_REUSE_*; index 0 is the first of them
    uint64_t threshold;
    uint64_t reserved_B, reserved_high_B, used_B, used_high_B;

    uint64_t base, capacity_B;   // its addresses; base is 0 until the first allocation
    struct dm_vram *vram;        // memory that its blocks come from
    struct dm_physical **blocks; // an element is NULL if the block is not backed
    uint64_t backed_end;         // no block from here on is backed
    struct dm_rangemap taken;    // pieces by address

    // Sharing. A pool that can be shared has one sparse file, which contains its blocks.
    uint64_t identity;
    bool exported;
    bool imported;            // mostly from another process; it can only import pointers
    unsigned import_count;    // imports that have not been destroyed
    struct dm_physical *file; // NULL if it cannot be shared
    struct em_import *imports;
    struct em_pool *next, *previous; // in the list of all pools
};

// cuMemPoolCreate. The caller has checked the properties. Takes the lock.
CUresult em_pool_create(const CUmemPoolProps *props, CUmemoryPool *out);
// cuMemPoolDestroy. Allocations from the pool stay valid. Takes the lock.
CUresult em_pool_destroy(CUmemoryPool handle);
// Returns the pool of a handle. Precondition: em_lock held.
CUresult em_pool_get(CUmemoryPool handle, struct em_pool **out);
// Creates a pool without memory and without a handle, or returns CUDA_ERROR_OUT_OF_MEMORY.
// em_pool_start gives it a handle. Precondition: em_lock held.
CUresult em_pool_new(const struct em_device *device, CUmemLocation location, bool managed,
                     struct em_pool **out);
CUresult em_pool_start(struct em_pool *pool);
// Frees a pool that has not been started. Precondition: em_lock held.
void em_pool_drop(struct em_pool *pool);

// Returns the default pool of a location, or the pool that cuMemAllocAsync uses there. A location
// has pools of managed memory apart from the others. Takes the lock.
enum em_pool_which { EM_POOL_STANDARD, EM_POOL_CURRENT };
CUresult em_pool_of_location(const CUmemLocation *location, bool managed, enum em_pool_which which,
                             CUmemoryPool *out);
// Makes a pool the location's current one. Takes the lock.
CUresult em_pool_choose(const CUmemLocation *location, bool managed, CUmemoryPool handle);
// The same for the kind of memory that the pool holds.
CUresult em_pool_choose_any(const CUmemLocation *location, CUmemoryPool handle);
// Checks that a location can have pools. Returns CUDA_ERROR_INVALID_VALUE if the location does not
// exist, `no_pools` if locations of this type have no pools.
CUresult em_pool_location(const CUmemLocation *location, bool managed, CUresult no_pools);

// cuMemPoolTrimTo, cuMemPoolSetAttribute and so on. If the pool was imported, only its access can
// be read and set. All take the lock.
CUresult em_pool_trim_to(CUmemoryPool handle, uint64_t keep_B);
CUresult em_pool_set_attribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                               const void *value);
CUresult em_pool_get_attribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value);
CUresult em_pool_set_access(CUmemoryPool handle, const CUmemAccessDesc *map, size_t count);
CUresult em_pool_get_access(CUmemoryPool handle, const CUmemLocation *location,
                            CUmemAccess_flags *out);

// Allocates in stream order. If `handle` is NULL, the pool is the current one of the stream's
// device. If size is 0, so is the address. Takes the lock.
CUresult em_pool_alloc_async(const CUmemoryPool *handle, uint64_t size, struct em_stream *stream,
                             uint64_t *out);
// Allocates from a pool. Precondition: em_lock held.
CUresult em_pool_alloc(struct em_pool *pool, uint64_t size, uint64_t *out);
// cuMemFreeAsync; `address` is not 0. Takes the lock.
CUresult em_pool_free_async(uint64_t address, struct em_stream *stream);
// Frees unused blocks, but keeps at least `keep_B` bytes reserved. Precondition: em_lock held.
void em_pool_trim(struct em_pool *pool, uint64_t keep_B);

// Registers a listener that frees each pool's unused memory above its threshold if the program
// synchronises. Called when the driver starts. Precondition: em_lock NOT held.
void em_pools_start(void);
