// SPDX-License-Identifier: MIT
// Memory pools: the manual's chapter "Stream Ordered Memory Allocator".
//
// As the card does it (recorded: x_memory pool): a pool has one range of addresses, backed in
// blocks of 32 MiB; allocations are multiples of 512 bytes and may lie across blocks. What is
// unused goes back when something synchronises, down to the release threshold.
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
    struct em_object object;        // type EM_POOL, in no context; each allocation has a reference
    const struct em_device *device; // of a HOST pool the first one
    CUmemLocation location;
    unsigned handle_types;
    bool standard;   // the default pool of its location: cannot be destroyed
    uint64_t access; // one bit a device that may use the memory, its own included

    int reuse[3]; // CU_MEMPOOL_ATTR_REUSE_*, from 1
    uint64_t threshold;
    uint64_t reserved_B, reserved_high_B, used_B, used_high_B;

    uint64_t base, capacity_B;   // its addresses; base is 0 until the first allocation
    struct dm_vram *vram;        // what its blocks are taken from
    struct dm_physical **blocks; // NULL: not backed
    struct dm_rangemap taken;    // by address

    // Sharing. A pool that can be shared has one sparse file, of which its blocks are parts.
    uint64_t identity;
    bool exported;
    bool imported;            // of another process: only pointers can be had from it
    struct dm_physical *file; // NULL: not to be shared
    struct em_import *imports;
    struct em_pool *next, *previous; // of all pools
};

// cuMemPoolCreate: checked properties. Takes the lock.
CUresult em_pool_create(const CUmemPoolProps *props, CUmemoryPool *out);
// cuMemPoolDestroy. What was allocated from it lives on. Takes the lock.
CUresult em_pool_destroy(CUmemoryPool handle);
// Precondition: em_lock held.
CUresult em_pool_get(CUmemoryPool handle, struct em_pool **out);
// A pool without memory, not yet an object. CUDA_ERROR_OUT_OF_MEMORY. em_pool_start gives it its
// handle. Precondition: em_lock held.
CUresult em_pool_new(const struct em_device *device, CUmemLocation location, struct em_pool **out);
CUresult em_pool_start(struct em_pool *pool);
// Frees one that has not been started.
void em_pool_drop(struct em_pool *pool);

// The default pool of a location, and the one that cuMemAllocAsync takes from there. Takes the
// lock.
enum em_pool_which { EM_POOL_STANDARD, EM_POOL_CURRENT };
CUresult em_pool_of_location(const CUmemLocation *location, enum em_pool_which which,
                             CUmemoryPool *out);
// Makes a pool the location's current one. Takes the lock.
CUresult em_pool_choose(const CUmemLocation *location, CUmemoryPool handle);
// Whether there are pools at such a location. CUDA_ERROR_INVALID_VALUE: no such place; `no_pools`:
// no pools at places of this type.
CUresult em_pool_location(const CUmemLocation *location, CUresult no_pools);

// cuMemPoolTrimTo, cuMemPoolSetAttribute …: of an imported pool only the access can be asked and
// set. All take the lock.
CUresult em_pool_trim_to(CUmemoryPool handle, uint64_t keep_B);
CUresult em_pool_set_attribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                               const void *value);
CUresult em_pool_get_attribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value);
CUresult em_pool_set_access(CUmemoryPool handle, const CUmemAccessDesc *map, size_t count);
CUresult em_pool_get_access(CUmemoryPool handle, const CUmemLocation *location,
                            CUmemAccess_flags *out);

// Allocates in stream order, from the current pool of the stream's device where `handle` is NULL;
// size 0 gives address 0. Takes the lock.
CUresult em_pool_alloc_async(const CUmemoryPool *handle, uint64_t size, struct em_stream *stream,
                             uint64_t *out);
// The same. Precondition: em_lock held.
CUresult em_pool_alloc(struct em_pool *pool, uint64_t size, uint64_t *out);
// cuMemFreeAsync; address is not 0. Takes the lock.
CUresult em_pool_free_async(uint64_t address, struct em_stream *stream);
// Gives unused blocks back while at least `keep_B` stay reserved. Precondition: em_lock held.
void em_pool_trim(struct em_pool *pool, uint64_t keep_B);

// Listens for synchronisation: then unused memory above each pool's threshold goes back. Called
// when the driver starts. Precondition: em_lock NOT held.
void em_pools_start(void);
