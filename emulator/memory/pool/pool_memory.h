// SPDX-License-Identifier: MIT
// The memory of pools, for pool.c and pool_share.c. Precondition: em_lock held (for all functions).
#pragma once
#include "pool.h"

// Offset of block 0 in the file of a pool that can be shared. The header comes first.
enum { EM_POOL_FILE_HEAD = 2 << 20 };

// Enters a pool into the list of all pools, which a synchronisation trims, and removes it.
void em_pools_enter(struct em_pool *pool);
void em_pools_remove(struct em_pool *pool);
// Returns the pool of this file if it has been imported, or NULL.
struct em_pool *em_pool_imported(uint64_t identity);
// Frees all blocks and addresses. Precondition: the pool has no allocations.
void em_pool_release_memory(struct em_pool *pool);
// The addresses of one allocation. They stay taken while a reference exists, so that no other
// allocation gets them.
struct em_piece;
// Takes a reference to the piece of an allocation. Returns NULL if the allocation is not from a
// pool of this process.
struct em_piece *em_piece_ref(const struct em_allocation *a);
void em_piece_unref(struct em_piece *piece);
// If the memory is an imported pointer, importing the pointer again makes a new mapping.
void em_pool_forget_import(struct em_allocation *a);
// Whether the host may access the pool's memory.
static inline bool em_pool_on_host(const struct em_pool *pool)
{
    return pool->managed || pool->location.type != CU_MEM_LOCATION_TYPE_DEVICE;
}
// Returns the DM_MAP_* flags of the pool's memory.
unsigned em_pool_map_flags(const struct em_pool *pool);
