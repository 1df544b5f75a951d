// SPDX-License-Identifier: MIT
// Hands out texture units, and makes contexts when they run out.
#include "gl_unit_pool.h"

#include "alloc.h"

// ---- pools with free units

static void unit_pool_link(struct em_gl_unit_pools *pools, struct em_gl_unit_pool *pool,
                           unsigned slot)
{
    struct em_gl_unit_pool *next = pools->with_free[slot];
    pool->previous_free[slot] = NULL;
    pool->next_free[slot] = next;
    if (next)
        next->previous_free[slot] = pool;
    pools->with_free[slot] = pool;
}

static void unit_pool_unlink(struct em_gl_unit_pools *pools, struct em_gl_unit_pool *pool,
                             unsigned slot)
{
    struct em_gl_unit_pool *next = pool->next_free[slot], *previous = pool->previous_free[slot];
    if (previous)
        previous->next_free[slot] = next;
    else
        pools->with_free[slot] = next;
    if (next)
        next->previous_free[slot] = previous;
}

// Frees all units but unit 0.
static void unit_pool_fill(struct em_gl_unit_pools *pools, struct em_gl_unit_pool *pool)
{
    for (unsigned slot = 0; slot < GL_UNIT_SLOTS && pools->unit_count > 1; slot++)
        unit_pool_link(pools, pool, slot);
}

// ---- contexts

void em_gl_unit_pool_prepare(const struct gl_functions *gl)
{
    gl->PixelStorei(GL_PACK_ALIGNMENT, 1);
    gl->PixelStorei(GL_UNPACK_ALIGNMENT, 1);
    gl->ClampColor(GL_CLAMP_READ_COLOR, 0);
}

void em_gl_unit_pools_init(struct em_gl_unit_pools *pools, const struct em_gl_own *home,
                           const struct gl_functions *gl)
{
    gl_int units = 0;
    gl->GetIntegerv(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, &units);
    pools->home = home;
    pools->current = &pools->first;
    pools->unit_count = units < GL_UNITS_MAX ? (unsigned)units : GL_UNITS_MAX;
    unit_pool_fill(pools, &pools->first);
}

void em_gl_unit_pools_finish(struct em_gl_unit_pools *pools)
{
    const bool lives = em_gl_context_lives(pools->home);
    while (pools->first.next) {
        struct em_gl_unit_pool *pool = pools->first.next;
        pools->first.next = pool->next;
        if (lives)
            em_gl_context_close(&pool->own);
        dm_free(pool);
    }
    if (em_gl_context_use(pools->home))
        pools->current = &pools->first;
}

static struct em_gl_unit_pool *unit_pool_add(struct em_gl_unit_pools *pools,
                                             const struct gl_functions *gl)
{
    const struct em_gl_own *home = pools->home;
    const struct em_gl_current sharer = {
        .system = home->system, .display = home->display, .context = home->context};
    struct em_gl_unit_pool *pool = dm_calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    if (em_gl_context_open(&sharer, &pool->own)) {
        pools->current = NULL; // any context, or none, is current after a failure
        dm_free(pool);
        return NULL;
    }
    em_gl_unit_pool_prepare(gl);
    pools->current = pool;
    pool->next = pools->first.next;
    pools->first.next = pool;
    unit_pool_fill(pools, pool);
    return pool;
}

bool em_gl_unit_pool_use(struct em_gl_unit_pools *pools, const struct em_gl_unit_pool *pool)
{
    if (!pool)
        pool = &pools->first;
    if (pools->current == pool)
        return true;
    if (pool != &pools->first && !em_gl_context_lives(pools->home))
        return false; // its handle may be another context's
    if (!em_gl_context_use(pool == &pools->first ? pools->home : &pool->own))
        return false;
    pools->current = pool;
    return true;
}

void em_gl_unit_pools_leave(struct em_gl_unit_pools *pools)
{
    pools->current = NULL;
}

// ---- units

unsigned em_gl_unit_pool_take(struct em_gl_unit_pools *pools, const struct gl_functions *gl,
                              unsigned slot, struct em_gl_unit_pool **out)
{
    struct em_gl_unit_pool *pool = pools->with_free[slot];
    if (!pool && pools->unit_count > 1 && !pools->fixed)
        pool = unit_pool_add(pools, gl);
    if (!pool)
        return 0;
    unsigned unit = 1;
    while (pool->taken[slot][unit / 64] & UINT64_C(1) << unit % 64)
        unit++;
    pool->taken[slot][unit / 64] |= UINT64_C(1) << unit % 64;
    if (++pool->taken_count[slot] == pools->unit_count - 1)
        unit_pool_unlink(pools, pool, slot);
    *out = pool;
    return unit;
}

void em_gl_unit_pool_free(struct em_gl_unit_pools *pools, struct em_gl_unit_pool *pool,
                          unsigned slot, unsigned unit)
{
    pool->taken[slot][unit / 64] &= ~(UINT64_C(1) << unit % 64);
    if (pool->taken_count[slot]-- == pools->unit_count - 1)
        unit_pool_link(pools, pool, slot);
}
