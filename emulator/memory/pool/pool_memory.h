// SPDX-License-Identifier: MIT
// The memory of pools, for pool.c and pool_share.c. Everything here: precondition: em_lock held.
#pragma once
#include "pool.h"

// Where block 0 begins in the file of a pool that can be shared: behind its header.
enum { EM_POOL_FILE_HEAD = 2 << 20 };

// Enters a pool into the list of all, which synchronising looks through.
void em_pools_enter(struct em_pool *pool);
void em_pools_remove(struct em_pool *pool);
// Gives all blocks and addresses back. Precondition: no allocation is left.
void em_pool_release_memory(struct em_pool *pool);
// DM_MAP_* of the pool's memory.
unsigned em_pool_map_flags(const struct em_pool *pool);
