// SPDX-License-Identifier: MIT
// Blocks: their memory, and the turns of warps.
//
// The memory of a block:
//
//     │ struct px_warp … │ a register file for each │ shared memory │ local memory of each warp │
//
// After the warps, there are lists of the registers that are different in each warp.
#include "abreast.h"
#include "block.h"

#include <string.h>

#include "block_fill.h"
#include "checker.h"
#include "cluster.h"
#include "draw.h"
#include "fault.h"
#include "stepping.h"

// Of each lane. An odd number of lines, so that lanes do not compete for the same sets of a cache.
static uint32_t local_size(const struct px_grid *grid)
{
    const uint64_t stack_B = grid->program->has_stack ? grid->stack_B : 0;
    const uint64_t lines = px_up(grid->program->local_B + stack_B, 64) / 64;
    return (uint32_t)(lines ? (lines | 1) * 64 : 0);
}

static uint32_t thread_count(const struct px_grid *grid)
{
    return grid->threads[0] * grid->threads[1] * grid->threads[2];
}

// kn_warp.row of each warp.
static uint32_t row_lanes(const struct px_grid *grid)
{
    uint32_t lanes = KN_LANES;
    if (grid->threads[1] == 1 && grid->threads[2] == 1)
        return lanes;
    while (grid->threads[0] % lanes)
        lanes /= 2;
    return lanes >= KN_ROW_LEAST ? lanes : 0;
}

static uint32_t warp_count(const struct px_grid *grid)
{
    return (thread_count(grid) + KN_LANES - 1) / KN_LANES;
}

// With the bases.
static uint64_t indices_size(const struct px_grid *grid, const struct px_decoded *decoded)
{
    return (uint64_t)warp_count(grid) * decoded->index_count * PX_INDEX_B +
           px_up(decoded->index_count * sizeof(uint32_t), 64);
}

static uint32_t abreast_count(const struct px_grid *grid, const struct px_decoded *decoded,
                              bool single)
{
    const bool possible = single && row_lanes(grid) == KN_LANES && !local_size(grid);
    return possible ? px_abreast_warps(grid, decoded) : 0;
}

uint64_t px_block_size(const struct px_grid *grid, const struct px_decoded *decoded, bool single)
{
    const uint64_t warps = single ? 1 : warp_count(grid),
                   abreast = abreast_count(grid, decoded, single);
    return sizeof(struct px_block) + px_up(warps * sizeof(struct px_warp), 64) +
           (warps > abreast ? warps : abreast) * decoded->file_B + px_up(px_shared_size(grid), 64) +
           warps * KN_LANES * local_size(grid) + indices_size(grid, decoded) + 2 * 64;
}

// ---- life ----

static const void *find_object(const struct kn_objects *objects, enum kn_object_kind kind,
                               uint64_t handle)
{
    const struct px_host *host = objects->owner;
    return host->object(host->context, kind, handle);
}

// The facts that differ between the launches that may use one place.
static void bind(struct px_block *block, struct px_grid *grid)
{
    const struct px_host *host = grid->host;
    block->grid = grid;
    block->memory.parameters = grid->arguments;
    block->memory.shared_window = host->shared_window;
    block->memory.local_window = host->local_window;
    block->memory.device_first = host->device_first;
    block->memory.device_end = host->device_end;
    block->memory.foreign = host->foreign;
    block->memory.owner = host->context;
    block->memory.objects = host->object ? &block->objects : NULL;
    block->objects.owner = (void *)(uintptr_t)host;
}

void px_block_init(struct px_block *block, struct px_grid *grid, const struct px_decoded *decoded,
                   bool single)
{
    char *at = (char *)px_up((uintptr_t)(block + 1), 64);
    const uint32_t warps = single ? 1 : warp_count(grid), local_B = local_size(grid);
    // Barriers and fragments, which are large, are not zeroed if that is unnecessary.
    memset(block, 0, single ? offsetof(struct px_block, barriers.of) : sizeof *block);
    block->decoded = decoded;
    memcpy(block->threads, grid->threads, sizeof block->threads);
    block->dynamic_shared_B = grid->dynamic_shared_B;
    block->stack_B = grid->stack_B;
    block->thread_count = thread_count(grid);
    block->warp_count = warp_count(grid);
    block->single = single;
    block->add = kn_register_add();
    block->warps = (struct px_warp *)(void *)at;
    block->memory.shared_B = px_shared_size(grid);
    block->memory.parameters_B =
        grid->program->module->functions[grid->program->function].parameters_B;
    block->memory.watch = grid->host->checks ? px_checker_watch : NULL;
    block->objects.find = find_object;
    bind(block, grid);
    at += px_up(warps * sizeof(struct px_warp), 64);
    block->bases = (uint32_t *)(void *)at;
    memset(block->bases, 0, decoded->index_count * sizeof *block->bases);
    at += px_up(decoded->index_count * sizeof *block->bases, 64);
    block->indices = at;
    for (uint32_t i = 0; i < block->warp_count; i++, at += decoded->index_count * PX_INDEX_B)
        px_fill_list(block, at, i);
    block->abreast = abreast_count(grid, decoded, single);
    block->files = at;
    for (uint32_t i = 1; i < block->abreast; i++) {
        char *file = at + (size_t)i * decoded->file_B;
        memset(file, 0, decoded->file_B);
        px_fill_launch(block, file);
    }
    for (uint32_t i = 0; i < warps; i++, at += decoded->file_B) {
        memset(&block->warps[i], 0, offsetof(struct px_warp, fragments));
        block->warps[i].block = block;
        block->warps[i].index = i;
        block->warps[i].w.r = at;
        block->warps[i].w.memory = &block->memory;
        block->warps[i].w.local_B = local_B;
        block->warps[i].w.row = row_lanes(grid);
        memset(at, 0, decoded->file_B);
        px_fill_launch(block, at);
    }
    at += block->abreast ? (size_t)(block->abreast - 1) * decoded->file_B : 0;
    block->memory.shared = block->own_shared = at;
    at += px_up(block->memory.shared_B, 64);
    for (uint32_t i = 0; i < warps; i++, at += (uint64_t)KN_LANES * local_B)
        block->warps[i].w.local = at;
}

// Warps and barriers are as they are before the second block of a launch.
bool px_block_renew(struct px_block *block, struct px_grid *grid, bool single)
{
    struct px_warp *warps = block->warps;
    if (block->single != single ||
        memcmp(block->threads, grid->threads, sizeof block->threads) != 0 ||
        block->dynamic_shared_B != grid->dynamic_shared_B || block->stack_B != grid->stack_B ||
        (block->decoded->abreast && block->abreast != abreast_count(grid, block->decoded, single)))
        return false;
    bind(block, grid);
    for (int i = 0; i < KN_OBJECTS_RECENT; i++)
        block->objects.recent[i].object = NULL;
    block->moved = false;
    if (block->abreast)
        warps->w.r = block->files;
    for (uint32_t i = 0; i < (single ? 1 : block->warp_count); i++)
        px_fill_again(block, warps[i].w.r);
    for (uint32_t i = 1; i < block->abreast; i++)
        px_fill_again(block, block->files + (size_t)i * block->decoded->file_B);
    return true;
}

void px_block_start(struct px_block *block, uint64_t linear)
{
    const struct px_grid *grid = block->grid;
    const struct kn_op *first = block->decoded->ops;
    block->linear = linear;
    block->number[0] = (uint32_t)linear;
    block->number[1] = block->number[2] = 0;
    if (linear >= grid->blocks[0]) { // divisions are slow
        block->number[0] = (uint32_t)(linear % grid->blocks[0]);
        block->number[1] = (uint32_t)(linear / grid->blocks[0] % grid->blocks[1]);
        block->number[2] = (uint32_t)(linear / grid->blocks[0] / grid->blocks[1]);
    }
    const uint64_t shared_B = px_up(px_shared_size(grid), KN_SHARED_ROOM_B);
    if (shared_B)
        memset(block->own_shared, 0, shared_B);
    block->running = block->warp_count;
    block->next_warp = 0;
    block->first = first;
    block->group = block->group_end = 0;
    block->in_place = block->single && !block->stepping && !grid->seed ? block->warp_count : 0;
    block->started = false;
    block->clock = 0;
    block->branches = 0;
    if (block->barriers.used)
        memset(&block->barriers, 0, sizeof block->barriers);
    if (block->checker)
        px_checker_start(block->checker);
    if (block->stepping)
        px_stepping_start(block->stepping);
    px_fill_bases(block);
    if (block->abreast) {
        for (uint32_t i = 0; i < block->abreast && block->decoded->block.count; i++)
            px_fill_block(block, block->files + (size_t)i * block->decoded->file_B);
        return;
    }
    const bool fills = block->decoded->block.count || block->cluster->count > 1;
    for (uint32_t i = 0; i < (block->single ? 1 : block->warp_count); i++) {
        if (fills)
            px_fill_block(block, block->warps[i].w.r);
        if (!block->single)
            px_fill_warps(block, block->warps[i].w.r, i, 1);
        px_warp_start(&block->warps[i], first, px_block_lanes(block, i));
    }
}

// ---- running ----

// The warp that has turn i of `round`.
static uint32_t warp_at(const struct px_block *block, uint64_t round, uint32_t i)
{
    const uint64_t seed = block->grid->seed;
    return !seed ? i
                 : (uint32_t)px_drawn_order(px_drawn(seed + block->linear, round) | 1, i,
                                            block->warp_count);
}

static void start_single(struct px_block *block)
{
    struct px_warp *warp = block->warps;
    const uint32_t index = warp_at(block, 0, block->next_warp);
    warp->index = index;
    if (block->abreast)
        warp->w.r = block->files + (size_t)(index - block->group) * block->decoded->file_B;
    else
        px_fill_warps(block, warp->w.r, index, 1);
    px_warp_start(warp, block->first, px_block_lanes(block, index));
    block->started = true;
}

// Runs the next warps abreast, as far as they can.
static enum px_abreast_result start_group(struct px_block *block)
{
    struct px_warp *warp = block->warps;
    const uint32_t left = block->warp_count - block->next_warp;
    const uint32_t count = left < block->abreast ? left : block->abreast;
    block->group = block->next_warp;
    block->group_end = block->in_place = block->group + count;
    px_fill_warps(block, block->files, block->group, count);
    warp->w.r = block->files;
    warp->w.lanes = UINT32_MAX;
    kn_warp_activate(&warp->w, UINT32_MAX);
    return px_abreast_run(block->decoded, &warp->w, count, &block->first);
}

static enum px_progress run_single(struct px_block *block)
{
    struct px_warp *warp = block->warps;
    block->current = warp;
    for (; block->next_warp < block->warp_count; block->next_warp++) {
        if (!block->started && block->abreast && block->next_warp >= block->group_end)
            switch (start_group(block)) {
            case PX_ABREAST_ENDED:
                block->next_warp = block->group_end - 1;
                continue;
            case PX_ABREAST_STOPPED:
                px_block_locate(block);
                px_fail_access(warp);
                return PX_BLOCK_FAILED;
            default:
                break;
            }
        if (!block->started)
            start_single(block);
        switch (px_warp_run(warp)) {
        case PX_STOP_ENDED:
            block->started = false;
            break;
        case KN_STOP_FAULT:
            px_fail_access(warp);
            return PX_BLOCK_FAILED;
        case PX_STOP_TURN:
            return PX_BLOCK_TURN;
        case PX_STOP_WAITS:
        case PX_STOP_STUCK:
            return PX_BLOCK_STUCK;
        default:
            return PX_BLOCK_FAILED;
        }
    }
    return PX_BLOCK_ENDED;
}

// Whether the warp has a fragment that may run.
static bool can_run(const struct px_warp *warp)
{
    for (uint32_t i = 0; i < warp->count; i++)
        if (warp->fragments[i].state != PX_AT_BARRIER &&
            warp->fragments[i].state != PX_AT_CLUSTER &&
            !px_waits_for_phase(warp, &warp->fragments[i]))
            return true;
    return false;
}

bool px_block_is_stuck(const struct px_block *block, bool cluster)
{
    for (uint32_t i = 0; i < (block->single ? 1 : block->warp_count); i++) {
        const struct px_warp *warp = &block->warps[i];
        for (uint32_t k = 0; k < warp->count; k++) {
            const enum px_fragment_state state = warp->fragments[k].state;
            if (state != PX_AT_BARRIER && state != PX_AT_MEMBERS &&
                !(cluster && state == PX_AT_CLUSTER))
                return false;
        }
    }
    return true;
}

bool px_block_time_out(struct px_block *block)
{
    bool some = false;
    for (uint32_t i = 0; !block->single && i < block->warp_count; i++)
        some |= px_warp_time_out(&block->warps[i]);
    return some;
}

void px_block_allow(struct px_block *block, int64_t budget)
{
    for (uint32_t i = 0; i < (block->single ? 1 : block->warp_count); i++)
        block->warps[i].budget = budget;
}

enum px_progress px_block_run(struct px_block *block)
{
    bool turn = false, some = false;
    uint64_t round = 0;
    if (block->single)
        return run_single(block);
    do {
        block->progress = turn = false;
        round++;
        for (block->turn = 0; block->turn < block->warp_count; block->turn++) {
            struct px_warp *warp = &block->warps[warp_at(block, round, block->turn)];
            if (!px_warp_is_simple(warp) && !can_run(warp))
                continue;
            if (warp->budget < 0) {
                turn = true;
                continue;
            }
            block->current = warp;
            switch (px_warp_run(warp)) {
            case PX_STOP_ENDED:
            case PX_STOP_WAITS:
                block->progress = true;
                break;
            case PX_STOP_STUCK:
                break;
            case PX_STOP_TURN:
                turn = block->progress = true;
                break;
            case KN_STOP_FAULT:
                px_fail_access(block->current);
                return PX_BLOCK_FAILED;
            default:
                return PX_BLOCK_FAILED;
            }
        }
        some |= block->progress;
    } while (block->progress && block->running);
    if (!block->running)
        return PX_BLOCK_ENDED;
    return turn ? PX_BLOCK_TURN : some ? PX_BLOCK_WAITS : PX_BLOCK_STUCK;
}
