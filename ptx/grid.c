// SPDX-License-Identifier: MIT
// Grids: the order of blocks, and the memory of those that run.
//
// The blocks of most programs run one after the other, in one place. If threads may wait for other
// blocks, those that wait keep their places, and further blocks start beside them.
#include "grid.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "cluster.h"
#include "draw.h"
#include "fault.h"
#include "guard.h"
#include "kn_float.h"
#include "spare.h"
#include "stall.h"
#include "watch.h"

enum {
    ALONE_BUDGET = 1 << 16, // the next one, if blocks cannot wait for each other
    TURN_BUDGET = 256,      // backward branches of a warp in a turn
    PLACES_MOST = 1 << 14   // of blocks that run at the same time
};

struct place {
    struct px_cluster *cluster;
    bool busy;
    struct px_stall stall;
};

struct run {
    struct px_grid *grid;
    const struct px_decoded *decoded;
    bool single;
    bool together;             // blocks may wait for each other
    int64_t budget;            // of a warp in a turn: backward branches
    uint64_t first, next, end; // clusters
    struct place *places;      // `first_place`, or an array of the heap
    uint32_t count, capacity;
    struct place first_place;
    struct px_block *volatile current;
    bool failed, ended, turn;
    bool limited;       // time limits have passed before this turn
    uint64_t phases;    // that have completed, in all blocks
    uint64_t fruitless; // time limits of waits for a phase since the last of them
    struct px_watch watch;
};

static bool add_place(struct run *run)
{
    if (run->count == run->capacity) {
        const uint32_t more = 4 * run->capacity;
        const bool moves = run->places == &run->first_place;
        struct place *grown = dm_realloc(moves ? NULL : run->places, more * sizeof *grown);
        if (!grown)
            return false;
        if (moves)
            *grown = run->first_place;
        run->places = grown;
        run->capacity = more;
    }
    struct place *p = &run->places[run->count];
    *p = (struct place){.cluster = px_spare_take(run->grid, run->decoded, run->single)};
    if (!p->cluster)
        p->cluster = px_cluster_new(run->grid, run->decoded, run->single);
    run->count += p->cluster != NULL;
    return p->cluster;
}

static uint64_t next_cluster(struct run *run)
{
    const uint64_t position = run->next++ - run->first;
    return run->first + px_drawn_order(run->grid->seed, position, run->end - run->first);
}

static void fail_endless(struct px_warp *warp, const struct px_fragment *f)
{
    px_fail(warp, PX_FAILED_ENDLESS, f->lanes, f->at,
            "the kernel has not ended after %llu backward branches",
            (unsigned long long)warp->block->grid->branches_most);
}

// Counts a turn of a block whose warps have used up their budgets. Returns whether they have
// branched backwards more often than is allowed, and then describes the failure.
static bool is_endless(const struct run *run, struct px_block *block)
{
    struct px_warp *warp = block->warps;
    const struct px_warp *end = warp + (block->single ? 1 : block->warp_count);
    while (warp < end && (!warp->count || warp->budget >= 0))
        warp++;
    if (warp == end)
        return false;
    block->branches += (uint64_t)run->budget;
    if (!run->grid->branches_most || block->branches < run->grid->branches_most)
        return false;
    fail_endless(warp, &warp->fragments[warp->count - 1]);
    return true;
}

static bool some_endless(const struct run *run, const struct px_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->count; i++)
        if (cluster->blocks[i]->running && is_endless(run, cluster->blocks[i]))
            return true;
    return false;
}

// The budget of a warp's turn.
static int64_t budget_of(const struct px_grid *grid, bool together)
{
    const uint64_t most = grid->branches_most;
    const int64_t budget = together ? TURN_BUDGET : ALONE_BUDGET;
    return most && most < (uint64_t)budget ? (int64_t)most : budget;
}

// Runs every place for a turn. Called inside dm_guarded().
static void run_turn(void *argument)
{
    struct run *run = argument;
    run->ended = run->turn = false;
    for (uint32_t i = 0; i < run->count; i++) {
        struct place *p = &run->places[i];
        while (p->busy || run->next < run->end) {
            if (!p->busy)
                px_cluster_start(p->cluster, next_cluster(run));
            p->busy = true;
            const enum px_progress progress =
                px_cluster_run(p->cluster, run->budget, &run->current);
            if (progress == PX_BLOCK_FAILED ||
                (progress == PX_BLOCK_TURN && some_endless(run, p->cluster))) {
                run->failed = true;
                return;
            }
            if (progress != PX_BLOCK_ENDED) {
                run->turn |= progress == PX_BLOCK_TURN;
                break;
            }
            p->busy = false;
            run->ended = true;
        }
    }
}

static int fail_memory(struct px_grid *grid, uint64_t size_B)
{
    grid->failure = (struct px_failure){.kind = PX_FAILED_MEMORY};
    snprintf(grid->failure.text, sizeof grid->failure.text,
             "out of host memory for the registers of a block (%llu bytes)",
             (unsigned long long)size_B);
    return -ENOMEM;
}

static struct px_cluster *first_busy(const struct run *run)
{
    for (uint32_t i = 0; i < run->count; i++)
        if (run->places[i].busy)
            return run->places[i].cluster;
    return NULL;
}

// Lets waits for a phase of an mbarrier object end without it. "try_wait returns false after a time
// limit": the time passes if no thread can go on otherwise.
static bool time_out(struct run *run)
{
    uint64_t phases = 0;
    bool some = false;
    for (uint32_t i = 0; i < run->count; i++)
        phases += run->places[i].busy ? run->places[i].cluster->phases : 0;
    run->fruitless = run->turn || phases != run->phases ? 0 : run->fruitless + 1;
    run->phases = phases;
    for (uint32_t i = 0; i < run->count; i++)
        some |= run->places[i].busy && px_cluster_time_out(run->places[i].cluster);
    return some;
}

// A loop branches backwards at least once for each time limit of its waits. Returns whether they
// have passed more often than is allowed, and then describes the failure.
static bool polls_for_ever(const struct run *run)
{
    const uint64_t most = run->grid->branches_most;
    if (!most || run->fruitless < most)
        return false;
    for (uint32_t i = 0; i < run->count; i++) {
        const struct px_cluster *cluster = run->places[i].cluster;
        struct px_fragment *f;
        struct px_warp *warp = run->places[i].busy ? px_cluster_ready(cluster, &f) : NULL;
        if (!warp)
            continue;
        fail_endless(warp, f);
        return true;
    }
    return false;
}

// Blocks that can never go on. Returns their number, or 0. States can be compared if the time
// limits between them have passed.
static uint32_t find_stall(struct run *run, struct px_block *const **blocks)
{
    for (uint32_t i = 0; i < run->count; i++) {
        struct place *p = &run->places[i];
        if (!p->busy)
            continue;
        const uint32_t stuck = px_cluster_stuck(p->cluster, blocks);
        if (stuck)
            return stuck;
        *blocks = p->cluster->blocks;
        if (run->decoded->program->waits && run->limited &&
            px_stall_round(&p->stall, *blocks, p->cluster->count))
            return p->cluster->count;
    }
    return 0;
}

// `turned`: the blocks that are busy have had a turn.
static int run_all(struct run *run, bool turned)
{
    const uint64_t clusters = run->end - run->next;
    uint64_t places = run->grid->cooperative && run->together ? clusters : 1;
    do {
        while (run->count < places)
            if (!add_place(run))
                return fail_memory(run->grid, px_block_size(run->grid, run->decoded, run->single));
        struct dm_fault fault;
        if (!turned && dm_guarded(run_turn, run, &fault)) {
            px_fail_fault(run->current->current, &fault);
            return -EFAULT;
        }
        if (run->failed)
            return -EFAULT;
        turned = false;
        struct px_block *const *blocks;
        uint32_t stalled = find_stall(run, &blocks);
        const bool none_starts = run->next == run->end;
        run->limited = !stalled && !run->ended && (run->turn || none_starts);
        const struct px_cluster *busy = first_busy(run);
        if (run->limited && !time_out(run) && !run->turn && busy) {
            blocks = busy->blocks;
            stalled = busy->count;
        }
        if (stalled) {
            px_stall_fail(blocks, stalled);
            return -EDEADLK;
        }
        if (run->limited && polls_for_ever(run))
            return -EFAULT;
        px_watch(&run->watch, busy ? px_cluster_running(busy) : NULL);
        if (run->together && !run->ended && run->next < run->end && places < PLACES_MOST)
            places = places * 2 < clusters ? places * 2 : clusters;
    } while (run->next < run->end || first_busy(run));
    return 0;
}

static bool runs_together(const struct px_grid *grid)
{
    return grid->program->waits || grid->cooperative || px_cluster_count(grid) > 1;
}

static bool is_single(const struct px_grid *grid)
{
    return !grid->program->uses_barriers && !runs_together(grid);
}

static void init_run(struct run *run, struct px_grid *grid, const struct px_decoded *decoded,
                     uint64_t first, uint64_t end)
{
    const uint32_t count = px_cluster_count(grid);
    *run = (struct run){.grid = grid, .decoded = decoded};
    run->first = run->next = first / count;
    run->end = end / count;
    run->together = runs_together(grid);
    run->single = is_single(grid);
    run->budget = budget_of(grid, run->together);
    run->places = &run->first_place;
    run->capacity = 1;
}

static void finish_run(struct run *run, int r)
{
    for (uint32_t i = 0; i < run->count; i++) {
        px_stall_finish(&run->places[i].stall);
        px_spare_give(run->places[i].cluster, !r);
    }
    if (run->places != &run->first_place)
        dm_free(run->places);
}

static int run_blocks(struct px_grid *grid, const struct px_decoded *decoded, uint64_t first,
                      uint64_t end)
{
    struct run run;
    init_run(&run, grid, decoded, first, end);
    const int r = run_all(&run, false);
    finish_run(&run, r);
    return r;
}

// ---- a single block ----

// Most small launches consist of one block, which ends in its first turn. Then nothing above is
// needed.
struct alone {
    struct px_block *block;
    enum px_progress progress;
};

static void run_first_turn(void *argument)
{
    struct alone *alone = argument;
    alone->progress = px_block_run(alone->block);
}

// Goes on with a block that has not ended in its first turn.
static int run_further_turns(struct px_grid *grid, struct px_cluster *cluster, uint64_t number,
                             bool turn)
{
    struct run run;
    init_run(&run, grid, cluster->blocks[0]->decoded, number, number + 1);
    run.next = run.end;
    run.first_place = (struct place){.cluster = cluster, .busy = true};
    run.count = 1;
    run.turn = turn;
    run.failed = turn && some_endless(&run, cluster);
    const int r = run_all(&run, true);
    finish_run(&run, r);
    return r;
}

static int run_alone(struct px_grid *grid, struct px_cluster *cluster, uint64_t number)
{
    struct alone alone = {.block = cluster->blocks[0]};
    struct dm_fault fault;
    px_cluster_start(cluster, number);
    px_block_allow(alone.block, budget_of(grid, false));
    if (dm_guarded(run_first_turn, &alone, &fault)) {
        px_fail_fault(alone.block->current, &fault);
        alone.progress = PX_BLOCK_FAILED;
    }
    if (alone.progress == PX_BLOCK_ENDED) {
        px_spare_give(cluster, true);
        return 0;
    }
    if (alone.progress != PX_BLOCK_FAILED)
        return run_further_turns(grid, cluster, number, alone.progress == PX_BLOCK_TURN);
    px_spare_give(cluster, false);
    return -EFAULT;
}

int px_run(struct px_grid *grid, uint64_t first, uint64_t end)
{
    const struct px_program *program = grid->program;
    const struct px_host *host = grid->host;
    const struct px_decoded *decoded = px_decode(
        program, (host->checks ? PX_DECODE_CHECKED : 0) | (host->stepper ? PX_DECODE_STEPPED : 0));
    if (!decoded)
        return fail_memory(grid, program->op_count * sizeof(struct kn_op));
    grid->lines = (struct px_lines){0};
    grid->asserted = 0;
    const struct kn_float_state state = kn_float_enter();
    struct px_cluster *cluster =
        end - first == 1 && is_single(grid) ? px_spare_take(grid, decoded, true) : NULL;
    int r = cluster ? run_alone(grid, cluster, first) : run_blocks(grid, decoded, first, end);
    kn_float_leave(state);
    if (grid->asserted) {
        grid->failure = grid->assertion;
        r = -EFAULT;
    }
    if (grid->lines.bytes)
        dm_free(grid->lines.bytes);
    return r;
}
