// SPDX-License-Identifier: MIT
// The memory of pools, for pool.c and pool_share.c. Precondition: em_lock held (for all functions).
#pragma once
#include "pool.h"

// Offset of block 0 in the file of a pool that can be shared. The header comes first.
enum { EM_POOL_FILE_HEAD = 2 << 20 };

// Enters a pool into the list of all pools, which a synchronisation trims, and removes it.
void em_pools_enter(struct em_pool *pool);
void em_pools_remove(struct em_pool *pool);
// Frees all blocks and addresses. Precondition: the pool has no allocations.
void em_pool_release_memory(struct em_pool *pool);
// Returns the DM_MAP_* flags of the pool's memory.
unsigned em_pool_map_flags(const struct em_pool *pool);
