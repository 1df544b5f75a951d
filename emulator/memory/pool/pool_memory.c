// SPDX-License-Identifier: MIT
// Blocks of pools, and allocations in blocks.
#include "pool_memory.h"

#include <errno.h>

#include "advice.h"
#include "alloc.h"
#include "arithmetic.h"
#include "call.h"
#include "device.h"
#include "kept.h"
#include "lock.h"
#include "memory_device.h"
#include "order.h"
#include "startup.h"
#include "synchronised.h"

enum { GRAIN = 512 };

struct em_piece {
    struct em_pool *pool;
    uint64_t at;
    unsigned references; // of the allocation, and of cuMemFreeAsync until the stream reaches it
};

static struct em_pool *all;

// `wanted` counts the pieces that were freed since the last trim.
static void trim_pools(void);
static struct em_sync_listener listener = {.synchronised = trim_pools};

void em_pools_enter(struct em_pool *p)
{
    p->previous = NULL;
    p->next = all;
    if (all)
        all->previous = p;
    all = p;
}

void em_pools_remove(struct em_pool *p)
{
    if (p->previous)
        p->previous->next = p->next;
    else if (all == p)
        all = p->next;
    if (p->next)
        p->next->previous = p->previous;
}

struct em_pool *em_pool_imported(uint64_t identity)
{
    em_assert_locked();
    struct em_pool *p = all;
    while (p && (!p->import_count || p->identity != identity))
        p = p->next;
    return p;
}

unsigned em_pool_map_flags(const struct em_pool *p)
{
    return DM_MAP_READ | DM_MAP_WRITE | (em_pool_on_host(p) ? DM_MAP_HOST : 0);
}

static uint64_t block_count(const struct em_pool *p)
{
    return p->capacity_B / EM_POOL_BLOCK;
}

static uint64_t block_address(const struct em_pool *p, uint64_t i)
{
    return p->base + i * EM_POOL_BLOCK;
}

static uint64_t block_offset(const struct em_pool *p, uint64_t i)
{
    return p->file ? EM_POOL_FILE_HEAD + i * EM_POOL_BLOCK : 0;
}

// Returns memory for a block: a part of the pool's file, or an object of its own.
static int block_memory(struct em_pool *p, struct dm_physical **out)
{
    if (!p->file) {
        int status = dm_physical_create(p->vram, EM_POOL_BLOCK, 0, out);
        if (status != -ENOMEM || !em_space.kept.size_B)
            return status;
        dm_kept_drop(&em_space, 0, UINT64_MAX); // they hold parts of the arena
        return dm_physical_create(p->vram, EM_POOL_BLOCK, 0, out);
    }
    int r = dm_vram_commit(p->vram, EM_POOL_BLOCK);
    if (!r)
        *out = dm_physical_ref(p->file);
    return r;
}

static void block_memory_end(struct em_pool *p, uint64_t i, struct dm_physical *memory)
{
    if (p->file) {
        int fd = dm_physical_fd(p->file);
        if (fd >= 0)
            dm_sys_punch(fd, block_offset(p, i), EM_POOL_BLOCK);
        dm_vram_uncommit(p->vram, EM_POOL_BLOCK);
    }
    dm_physical_unref(memory);
}

static int back(struct em_pool *p, uint64_t i)
{
    struct dm_physical *memory;
    int r = p->file ? -ENOENT
                    : dm_space_take(&em_space, p->vram, block_address(p, i), EM_POOL_BLOCK,
                                    em_pool_map_flags(p), &memory);
    if (r == 0)
        goto backed;
    if (r != -ENOENT)
        return r;
    r = block_memory(p, &memory);
    if (r)
        return r;
    r = dm_space_map(&em_space, block_address(p, i), memory, block_offset(p, i), EM_POOL_BLOCK,
                     em_pool_map_flags(p));
    if (r) {
        block_memory_end(p, i, memory);
        return r;
    }
backed:
    p->blocks[i] = memory;
    if (p->backed_end <= i)
        p->backed_end = i + 1;
    p->reserved_B += EM_POOL_BLOCK;
    if (p->reserved_B > p->reserved_high_B)
        p->reserved_high_B = p->reserved_B;
    return 0;
}

static bool unback(struct em_pool *p, uint64_t i)
{
    if (!p->file) {
        if (dm_space_give(&em_space, block_address(p, i), p->blocks[i], em_pool_map_flags(p)))
            return false;
        em_memory_freed();
    } else {
        if (dm_space_unmap(&em_space, block_address(p, i), EM_POOL_BLOCK))
            return false;
        block_memory_end(p, i, p->blocks[i]);
    }
    p->blocks[i] = NULL;
    while (p->backed_end && !p->blocks[p->backed_end - 1])
        p->backed_end--;
    p->reserved_B -= EM_POOL_BLOCK;
    return true;
}

// Frees unused blocks while more than `most_B` bytes are reserved, but keeps at least `least_B`.
static void trim(struct em_pool *p, uint64_t least_B, uint64_t most_B)
{
    for (uint64_t i = p->backed_end; i-- && p->reserved_B > most_B &&
                                     p->reserved_B >= EM_POOL_BLOCK &&
                                     p->reserved_B - EM_POOL_BLOCK >= least_B;)
        if (p->blocks[i] && !dm_rangemap_overlaps(&p->taken, block_address(p, i), EM_POOL_BLOCK) &&
            !unback(p, i))
            return;
}

// "minBytesToKeep: if the pool has less than minBytesToKeep reserved, the TrimTo operation is a
// no-op. Otherwise the pool will be guaranteed to have at least minBytesToKeep bytes reserved after
// the operation."
void em_pool_trim(struct em_pool *p, uint64_t keep_B)
{
    em_assert_locked();
    trim(p, keep_B, 0);
}

// "Amount of reserved memory in bytes to hold onto before trying to release memory back to the OS.
// When more than the release threshold bytes of memory are held by the memory pool, the allocator
// will try to release memory back to the OS".
static void trim_to_threshold(struct em_pool *p)
{
    trim(p, 0, p->threshold);
}

void em_pool_release_memory(struct em_pool *p)
{
    if (!p->base)
        return;
    em_pool_trim(p, 0);
    dm_va_free(&em_space, p->base);
    dm_free(p->blocks);
    dm_rangemap_finish(&p->taken);
    p->base = 0;
}

static void trim_pools(void)
{
    em_assert_unlocked();
    em_lock();
    for (struct em_pool *p = all; p; p = p->next)
        if (!p->imported)
            trim_to_threshold(p);
    __atomic_store_n(&listener.wanted, 0, __ATOMIC_RELAXED);
    em_unlock();
}

DM_STARTUP void em_pools_start(void)
{
    em_assert_unlocked();
    em_sync_listen(&listener);
}

// Reserves the pool's addresses.
static int start(struct em_pool *p)
{
    if (p->base)
        return 0;
    p->blocks = dm_calloc(block_count(p), sizeof *p->blocks);
    if (!p->blocks)
        return -1;
    if (dm_va_reserve(&em_space, p->capacity_B, EM_POOL_BLOCK, 0, &p->base)) {
        dm_free(p->blocks);
        p->base = 0;
        return -1;
    }
    return 0;
}

// Backs all of [at, at + size). If that fails, it undoes its own changes.
static int back_range(struct em_pool *p, uint64_t at, uint64_t size)
{
    uint64_t first = (at - p->base) / EM_POOL_BLOCK,
             last = (at + size - 1 - p->base) / EM_POOL_BLOCK;
    for (uint64_t i = first; i <= last; i++) {
        if (p->blocks[i] || !back(p, i))
            continue;
        while (i-- > first)
            if (!dm_rangemap_overlaps(&p->taken, block_address(p, i), EM_POOL_BLOCK))
                unback(p, i);
        return -1;
    }
    return 0;
}

void em_piece_unref(struct em_piece *piece)
{
    em_assert_locked();
    struct em_pool *p = piece->pool;
    struct dm_range range;
    if (--piece->references)
        return;
    if (!dm_rangemap_remove(&p->taken, piece->at, &range) && em_unlikely(em_order_on))
        em_order_forget(range.start, range.size);
    __atomic_fetch_add(&listener.wanted, 1, __ATOMIC_RELAXED);
    em_object_unref(&p->object);
    dm_free(piece);
}

static void release(struct em_allocation *a)
{
    struct em_piece *piece = a->owner;
    piece->pool->used_B -= a->size;
    em_piece_unref(piece);
    em_advice_free(a->advice);
    dm_free(a);
}

struct em_piece *em_piece_ref(const struct em_allocation *a)
{
    em_assert_locked();
    if (a->release != release)
        return NULL;
    struct em_piece *piece = a->owner;
    piece->references++;
    return piece;
}

// Finds free addresses in the pool, and memory for them. `padded_B` is the size that they take.
static CUresult pool_find_range(struct em_pool *p, uint64_t size, uint64_t *at, uint64_t *padded_B)
{
    if (dm_round_up(size, GRAIN, padded_B) &&
        !dm_rangemap_gap(&p->taken, p->base, p->base + p->capacity_B - 1, *padded_B, GRAIN, at) &&
        !back_range(p, *at, *padded_B))
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                   "bytesize is %llu, but CUmemoryPool #%u cannot grow by that: its maximum is "
                   "%llu bytes, and %llu bytes of the %s are free",
                   (unsigned long long)size, p->object.number, (unsigned long long)p->capacity_B,
                   (unsigned long long)(p->vram->total - p->vram->used),
                   em_pool_on_host(p) ? "host's memory" : "device's memory");
}

static struct em_allocation piece_allocation(struct em_pool *p, struct em_piece *piece,
                                             uint64_t size)
{
    uint64_t at = piece->at, block = (at - p->base) / EM_POOL_BLOCK;
    return (struct em_allocation){
        .base = at,
        .size = size,
        .host = em_pool_on_host(p) ? at : 0,
        .of_managed_pool = p->managed,
        .kind = EM_MEMORY_POOLED,
        .device = p->device->ordinal,
        .handle_types = p->handle_types,
        .mapping_base = block_address(p, block),
        .mapping_size = EM_POOL_BLOCK,
        .block_id = block_address(p, block),
        .pool = &p->object,
        .owner = piece,
        .release = release,
        .physical = p->blocks[block],
        .physical_offset = block_offset(p, block) + (at - block_address(p, block)),
    };
}

CUresult em_pool_alloc(struct em_pool *p, uint64_t size, uint64_t *out)
{
    em_assert_locked();
    uint64_t padded_B, at;
    CUresult r = CUDA_ERROR_OUT_OF_MEMORY;
    *out = 0;
    if (p->imported)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "CUmemoryPool #%u was imported, so it cannot be allocated from; allocate in the "
            "process that created it",
            p->object.number);
    if (!size)
        return CUDA_SUCCESS;
    struct em_allocation *a = dm_calloc(1, sizeof *a);
    struct em_piece *piece = dm_calloc(1, sizeof *piece);
    if (!a || !piece || start(p)) {
        em_fail(r, "out of host memory while allocating from a pool");
        goto fail_alloc;
    }
    r = pool_find_range(p, size, &at, &padded_B);
    if (r)
        goto fail_alloc;
    if (dm_rangemap_insert(&p->taken, at, padded_B, piece)) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while allocating from a pool");
        goto fail_back;
    }
    *piece = (struct em_piece){.pool = p, .at = at, .references = 1};
    *a = piece_allocation(p, piece, size);
    r = em_memory_enter(a);
    if (r)
        goto fail_taken;
    em_object_ref(&p->object);
    p->used_B += size;
    if (p->used_B > p->used_high_B)
        p->used_high_B = p->used_B;
    *out = at;
    return CUDA_SUCCESS;
fail_taken:
    dm_rangemap_remove(&p->taken, at, NULL);
fail_back:
    trim_to_threshold(p);
fail_alloc:
    dm_free(a);
    dm_free(piece);
    return r;
}
