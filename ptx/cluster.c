// SPDX-License-Identifier: MIT
// The blocks of a cluster: their memory, their turns, and barrier.cluster.
#include "cluster.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "alloc.h"
#include "block_fill.h"
#include "checker.h"
#include "draw.h"
#include "lanes/lanes.inc.h"
#include "race.h"
#include "stepping.h"

// Of a page, so that the speed of a kernel does not depend on where the registers of a warp lie.
enum { ALIGN_B = 4096 };

// ---- life ----

// Reserves the shared memory of all blocks, and makes the parts that exist accessible.
static bool map_shared(struct px_cluster *cluster, uint32_t size_B)
{
    const uint64_t part_B = px_up(size_B, (uint64_t)sysconf(_SC_PAGESIZE));
    uint64_t at;
    if (dm_sys_mmap(0, cluster->count * PX_RANK_B, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0, &at))
        return false;
    cluster->shared = (char *)(uintptr_t)at;
    for (uint32_t i = 0; part_B && i < cluster->count; i++)
        if (dm_sys_protect(at + i * PX_RANK_B, part_B, PROT_READ | PROT_WRITE, -1))
            return false;
    return true;
}

// The clocks of races, which the checkers of all blocks use.
static bool add_clocks(struct px_cluster *cluster)
{
    const struct px_grid *grid = cluster->blocks[0]->grid;
    if (!grid->host->checks || !grid->host->checks->race || !px_shared_size(grid))
        return true;
    cluster->clocks = px_clocks_new(cluster->count, cluster->blocks[0]->warp_count);
    return cluster->clocks != NULL;
}

static bool add_tools(struct px_block *block)
{
    const struct px_host *host = block->grid->host;
    if (host->checks)
        block->checker = px_checker_new(block);
    if (host->stepper)
        block->stepping = px_stepping_new(block);
    return (!host->checks || block->checker) && (!host->stepper || block->stepping);
}

struct px_cluster *px_cluster_new(struct px_grid *grid, const struct px_decoded *decoded,
                                  bool single)
{
    const uint32_t count = px_cluster_count(grid);
    const uint64_t block_B = px_up(px_block_size(grid, decoded, single), 64);
    const uint64_t size_B = sizeof(struct px_cluster) + ALIGN_B + count * block_B;
    struct px_cluster *cluster = dm_alloc(size_B);
    bool complete = true;
    if (!cluster)
        return NULL;
    *cluster = (struct px_cluster){
        .named = grid->cluster[0] != 0, .size_B = size_B, .program = decoded->number};
    char *at = (char *)px_up((uintptr_t)(cluster + 1), ALIGN_B);
    for (uint32_t i = 0; i < count; i++, at += block_B) {
        cluster->blocks[i] = (struct px_block *)(void *)at;
        px_block_init(cluster->blocks[i], grid, decoded, single);
        cluster->blocks[i]->cluster = cluster;
        cluster->blocks[i]->rank = i;
        cluster->blocks[i]->memory.phases = &cluster->phases;
    }
    cluster->count = count;
    if (count > 1)
        complete = map_shared(cluster, px_shared_size(grid));
    for (uint32_t i = 0; count > 1 && complete && i < count; i++) {
        struct px_block *block = cluster->blocks[i];
        block->own_shared = cluster->shared + i * PX_RANK_B;
        block->memory.shared = cluster->shared;
        block->memory.shared_B = (uint32_t)(count * PX_RANK_B);
    }
    complete = complete && add_clocks(cluster);
    for (uint32_t i = 0; i < count && complete; i++)
        complete = add_tools(cluster->blocks[i]);
    if (complete)
        return cluster;
    px_cluster_free(cluster);
    return NULL;
}

bool px_cluster_is_plain(const struct px_cluster *cluster)
{
    const struct px_block *block = cluster->blocks[0];
    return cluster->count == 1 && !block->checker && !block->stepping;
}

bool px_cluster_renew(struct px_cluster *cluster, struct px_grid *grid,
                      const struct px_decoded *decoded, bool single)
{
    if (cluster->program != decoded->number || grid->host->checks || grid->host->stepper ||
        px_cluster_count(grid) != 1 || !px_block_renew(cluster->blocks[0], grid, single))
        return false;
    cluster->named = grid->cluster[0] != 0;
    cluster->phases = 0;
    return true;
}

void px_cluster_free(struct px_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->count; i++) {
        px_checker_free(cluster->blocks[i]->checker);
        px_stepping_free(cluster->blocks[i]->stepping);
    }
    dm_free(cluster->clocks);
    if (cluster->shared)
        dm_sys_munmap((uintptr_t)cluster->shared, cluster->count * PX_RANK_B);
    dm_free(cluster);
}

void px_cluster_start(struct px_cluster *cluster, uint64_t index)
{
    const struct px_grid *grid = cluster->blocks[0]->grid;
    const uint32_t *size = grid->cluster, *blocks = grid->blocks;
    cluster->running = cluster->count;
    cluster->arrived = 0;
    cluster->used = false;
    if (cluster->clocks)
        px_clocks_start(cluster->clocks);
    if (cluster->count == 1) {
        px_block_start(cluster->blocks[0], index);
        return;
    }
    const uint64_t across = blocks[0] / size[0], down = blocks[1] / size[1];
    const uint64_t x = index % across * size[0], y = index / across % down * size[1];
    const uint64_t z = index / across / down * size[2];
    for (uint32_t i = 0; i < cluster->count; i++) {
        const uint32_t dx = i % size[0], dy = i / size[0] % size[1], dz = i / size[0] / size[1];
        px_block_start(cluster->blocks[i], x + dx + blocks[0] * (y + dy + blocks[1] * (z + dz)));
    }
}

// ---- turns ----

static struct px_warp *warp_of(const struct px_cluster *cluster, uint32_t n)
{
    const uint32_t warps = cluster->blocks[0]->warp_count;
    return &cluster->blocks[n / warps]->warps[n % warps];
}

static uint32_t warp_total(const struct px_cluster *cluster)
{
    return cluster->count * cluster->blocks[0]->warp_count;
}

// Runs each block once. Returns PX_BLOCK_ENDED if all have ended, and PX_BLOCK_WAITS if some have
// run or ended, which others may have waited for.
static enum px_progress run_once(struct px_cluster *cluster, uint64_t round,
                                 struct px_block *volatile *current)
{
    const uint64_t seed = cluster->blocks[0]->grid->seed;
    bool turn = false, some = false;
    for (uint32_t i = 0; i < cluster->count; i++) {
        const uint64_t drawn = seed ? px_drawn(seed, round) | 1 : 0;
        struct px_block *block = cluster->blocks[px_drawn_order(drawn, i, cluster->count)];
        if (!block->running)
            continue;
        *current = block;
        const enum px_progress progress = px_block_run(block);
        if (progress == PX_BLOCK_FAILED)
            return progress;
        if (progress == PX_BLOCK_ENDED) {
            block->running = 0;
            cluster->running--;
        }
        turn |= progress == PX_BLOCK_TURN;
        some |= progress != PX_BLOCK_STUCK;
    }
    if (!cluster->running)
        return PX_BLOCK_ENDED;
    return turn ? PX_BLOCK_TURN : some ? PX_BLOCK_WAITS : PX_BLOCK_STUCK;
}

enum px_progress px_cluster_run(struct px_cluster *cluster, int64_t budget,
                                struct px_block *volatile *current)
{
    enum px_progress progress;
    uint64_t round = 0;
    for (uint32_t i = 0; i < cluster->count; i++)
        px_block_allow(cluster->blocks[i], budget);
    do
        progress = run_once(cluster, ++round, current);
    while (progress == PX_BLOCK_WAITS && cluster->count > 1);
    return progress;
}

bool px_cluster_time_out(struct px_cluster *cluster)
{
    bool some = false;
    for (uint32_t i = 0; i < cluster->count; i++)
        some |= cluster->blocks[i]->running && px_block_time_out(cluster->blocks[i]);
    return some;
}

struct px_block *px_cluster_running(const struct px_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->count; i++)
        if (cluster->blocks[i]->running)
            return cluster->blocks[i];
    return NULL;
}

struct px_warp *px_cluster_ready(const struct px_cluster *cluster, struct px_fragment **fragment)
{
    for (uint32_t i = 0; i < warp_total(cluster); i++) {
        struct px_warp *warp = warp_of(cluster, i);
        for (uint32_t k = 0; k < warp->count; k++) {
            *fragment = &warp->fragments[k];
            if ((*fragment)->state == PX_READY)
                return warp;
        }
    }
    return NULL;
}

uint32_t px_cluster_stuck(struct px_cluster *cluster, struct px_block *const **blocks)
{
    bool all = true;
    for (uint32_t i = 0; i < cluster->count; i++) {
        if (!cluster->blocks[i]->running)
            continue;
        *blocks = &cluster->blocks[i];
        if (px_block_is_stuck(cluster->blocks[i], false))
            return 1;
        all &= px_block_is_stuck(cluster->blocks[i], true);
    }
    *blocks = cluster->blocks;
    return all ? cluster->count : 0;
}

// ---- the barrier ----

// For the checker of races: a warp passes the wait.
static void passed(struct px_warp *warp)
{
    if (warp->block->cluster->clocks)
        px_race_cluster_pass(warp->block->checker->race, warp->index);
}

// Lets all threads go if all have arrived or ended. An arrived warp stays arrived until the
// release, so the search resumes at the first missing warp.
static void check(struct px_cluster *cluster)
{
    const uint32_t total = warp_total(cluster);
    for (; cluster->arrived < total; cluster->arrived++) {
        const struct px_warp *warp = warp_of(cluster, cluster->arrived);
        if (warp->w.lanes & ~warp->cluster_lanes)
            return;
    }
    if (cluster->clocks)
        px_race_cluster_complete(cluster->clocks);
    for (uint32_t i = 0; i < total; i++) {
        struct px_warp *warp = warp_of(cluster, i);
        warp->cluster_lanes = 0;
        for (uint32_t k = 0; k < warp->count; k++) {
            struct px_fragment *f = &warp->fragments[k];
            if (f->state != PX_AT_CLUSTER)
                continue;
            f->state = PX_READY;
            f->at++;
            passed(warp);
        }
    }
    cluster->arrived = 0;
    cluster->used = false;
}

void px_cluster_ended(struct px_cluster *cluster)
{
    if (cluster->used)
        check(cluster);
}

// "barrier.cluster.arrive marks the arrival, and does not wait; barrier.cluster.wait waits until
// all threads of the cluster have arrived." A thread that has ended counts as arrived, and a thread
// may end without the wait (recorded: cluster barrier early exit, without wait).
static const struct kn_op *arrive(const struct kn_op *op, struct kn_warp *w)
{
    struct px_warp *warp = px_warp_of(w);
    warp->cluster_lanes |= w->active;
    warp->block->cluster->used = true;
    if (warp->block->cluster->clocks)
        px_race_cluster_arrive(warp->block->checker->race, warp->index,
                               op->i == PX_CLUSTER_ARRIVE_RELAXED);
    check(warp->block->cluster);
    return op + 1;
}

static const struct kn_op *wait(const struct kn_op *op, struct kn_warp *w)
{
    struct px_warp *warp = px_warp_of(w);
    const uint32_t lanes = w->active & warp->cluster_lanes;
    if (!lanes) {
        passed(warp);
        return op + 1;
    }
    px_warp_put(warp, (struct px_fragment){
                          .at = op, .lanes = lanes, .turn = warp->turn, .state = PX_AT_CLUSTER});
    if (w->active & ~lanes) {
        kn_warp_activate(w, w->active & ~lanes);
        return op + 1;
    }
    w->active = 0;
    return px_warp_next(warp);
}

// kn_op.i is an enum px_cluster_barrier.
const struct kn_op *px_op_cluster_barrier(const struct kn_op *op, struct kn_warp *w)
{
    return op->i == PX_CLUSTER_WAIT ? wait(op, w) : arrive(op, w);
}

void px_cluster_text(const struct px_cluster *cluster, char *out, size_t size_B)
{
    uint32_t threads = 0;
    *out = 0;
    for (uint32_t i = 0; i < warp_total(cluster); i++)
        threads += (uint32_t)__builtin_popcount(warp_of(cluster, i)->cluster_lanes);
    if (!cluster->used || cluster->arrived == warp_total(cluster))
        return;
    const struct px_warp *warp = warp_of(cluster, cluster->arrived);
    const uint32_t *size = warp->block->grid->threads, *number = warp->block->number;
    const uint32_t thread =
        warp->index * KN_LANES + (uint32_t)__builtin_ctz(warp->w.lanes & ~warp->cluster_lanes);
    snprintf(out, size_B,
             "; at the barrier of the cluster %u threads have arrived, and thread (%u,%u,%u) of "
             "block (%u,%u,%u) has not",
             threads, thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1],
             number[0], number[1], number[2]);
}
