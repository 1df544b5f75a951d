// SPDX-License-Identifier: MIT
// Blocks: their warps, shared memory and barriers.
#pragma once
#include "barrier.h"
#include "grid.h"
#include "kn_register.h"
#include "warp.h"

struct px_checker;
struct px_cluster;
struct px_stepping;

// A block that runs, or the place for one: its warps keep their registers while they wait. If warps
// of a program never wait for others, one warp has all of them in turn (`single`).
struct px_block {
    struct px_grid *grid;
    const struct px_decoded *decoded;
    struct kn_memory memory;
    struct kn_objects objects;
    struct px_checker *checker;   // NULL: accesses are not checked
    struct px_stepping *stepping; // NULL: no warp is stepped
    uint32_t number[3];           // %ctaid
    struct px_cluster *cluster;   // of which the block has this rank
    uint32_t rank;
    char *own_shared; // its shared memory; `memory` has that of the cluster
    uint64_t linear;
    // For which the place was made.
    uint32_t threads[3], dynamic_shared_B, stack_B;
    uint32_t thread_count, warp_count;
    uint32_t running;  // warps that have not ended
    uint64_t clock;    // of %clock: grows with each question
    uint64_t branches; // backward branches so far, counted in whole budgets
    bool single;
    bool moved;            // a warp has gone round a loop that may be progress: see stall.h
    struct px_warp *warps; // warp_count, or 1 if single
    const char *indices;   // of threads in the block, for each of decoded->indices, for each warp
    uint32_t *bases;       // by index of decoded->indices: the number that the block adds
    kn_register_add_fn *add;
    struct px_warp *volatile current;
    uint32_t next_warp;        // single: the next warp to run
    uint32_t in_place;         // warps before this one may follow without a return to px_block_run
    const struct kn_op *first; // single: the operation at which warps start
    uint32_t abreast;          // warps that run abreast, each with registers of its own; or 0
    uint32_t group, group_end; // the warps that ran abreast last
    char *files;               // the registers of the first one of them
    bool started;              // single: that warp has started
    uint32_t turn;             // of the warps in this round
    bool progress;             // a warp has run in this round
    struct px_barriers barriers;
};

// Bytes of a block's memory, in which px_block_init finds everything.
uint64_t px_block_size(const struct px_grid *grid, const struct px_decoded *decoded, bool single);
// Prepares the place for blocks, in memory of that size, aligned to 64 bytes. Fills in what is the
// same for all blocks.
void px_block_init(struct px_block *block, struct px_grid *grid, const struct px_decoded *decoded,
                   bool single);
// Prepares a place that px_block_init has prepared, and whose last block has ended, for another
// launch of the same program. Returns false and changes nothing if the launch needs another kind of
// place.
bool px_block_renew(struct px_block *block, struct px_grid *grid, bool single);
// Starts block `linear` of the grid.
void px_block_start(struct px_block *block, uint64_t linear);

enum px_progress {
    PX_BLOCK_ENDED,
    PX_BLOCK_WAITS,  // some warps have run, and every warp waits now
    PX_BLOCK_STUCK,  // every warp waits, and could not run at all
    PX_BLOCK_TURN,   // all warps that can run have used up their budget
    PX_BLOCK_FAILED, // grid->failure
};
// Whether all threads of a block that runs wait for others of the block, after px_block_run; or
// also for others of the cluster.
bool px_block_is_stuck(const struct px_block *block, bool cluster);
// The time limit of waits for a phase has passed: see px_warp_time_out.
bool px_block_time_out(struct px_block *block);
// Allows each warp `budget` backward branches for the calls of px_block_run that follow.
void px_block_allow(struct px_block *block, int64_t budget);
// Warps that stop run the next one at once if that is simple, so that they need not return to
// px_block_run. After a warp has begun to wait: returns the warp whose turn comes next, which is
// ready, or NULL.
static inline struct px_warp *px_block_turn(struct px_block *block)
{
    const uint32_t turn = block->turn + 1 < block->warp_count ? block->turn + 1 : 0;
    struct px_warp *next = &block->warps[turn];
    if (!px_warp_is_simple(next) || next->budget < 0 || block->grid->seed || block->stepping)
        return NULL;
    block->turn = turn;
    block->progress = true;
    return block->current = next;
}
// The threads of a warp that exist.
static inline uint32_t px_block_lanes(const struct px_block *block, uint32_t warp)
{
    const uint32_t left = block->thread_count - warp * KN_LANES;
    return left >= KN_LANES ? UINT32_MAX : (UINT32_C(1) << left) - 1;
}
// Finds which of the warps abreast a failure belongs to, by its registers.
static inline void px_block_locate(struct px_block *block)
{
    const struct kn_warp *w = &block->warps->w;
    if (block->abreast)
        block->warps->index =
            block->group + (uint32_t)((w->r - block->files) / block->decoded->file_B);
}
// Runs a block until it has ended, every warp waits, or the budgets are used up.
enum px_progress px_block_run(struct px_block *block);
