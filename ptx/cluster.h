// SPDX-License-Identifier: MIT
// Clusters: blocks that run at the same time, reach each other's shared memory, and have a barrier
// of their own. A block of a launch without clusters is a cluster by itself.
//
// An address in shared memory contains the rank of a block (rank.h). All blocks therefore share one
// range of memory, 16 MiB for each rank, of which only the sizes of their shared memory are
// accessible (up to the end of a page).
#pragma once
#include "block.h"
#include "rank.h"

struct px_cluster {
    uint32_t count;   // blocks
    uint32_t running; // those that have not ended
    uint64_t phases;  // of mbarrier objects that are complete
    // The barrier. All warps before this one, counted through all blocks, have arrived or ended.
    uint32_t arrived;
    bool used;                // some lanes have arrived
    char *shared;             // of several blocks, or NULL
    bool named;               // the launch has named the cluster's size
    struct px_clocks *clocks; // of race.h; NULL: races are not checked
    uint64_t size_B;          // of its memory
    uint64_t program;         // px_decoded.number
    bool kept;                // in the table of spare.h
    struct px_block *blocks[PX_CLUSTER_MOST];
};

// The blocks of a cluster of the grid.
static inline uint32_t px_cluster_count(const struct px_grid *grid)
{
    const uint32_t *c = grid->cluster;
    return c[0] ? c[0] * c[1] * c[2] : 1;
}
// Returns the place for a cluster, or NULL if host memory is short.
struct px_cluster *px_cluster_new(struct px_grid *grid, const struct px_decoded *decoded,
                                  bool single);
void px_cluster_free(struct px_cluster *cluster);
// Whether other launches may use the place: it has a single block, and no tools.
bool px_cluster_is_plain(const struct px_cluster *cluster);
// Prepares a plain place that a launch has left, and which has run to its end, for another launch
// of the same program. Returns false if the blocks of the grid have another size.
bool px_cluster_renew(struct px_cluster *cluster, struct px_grid *grid,
                      const struct px_decoded *decoded, bool single);
// Starts the blocks of cluster `index`.
void px_cluster_start(struct px_cluster *cluster, uint64_t index);
// Runs all blocks until they have ended, every warp waits, or warps that can run have used up
// `budget` backward branches each. Sets *current to the block that runs.
enum px_progress px_cluster_run(struct px_cluster *cluster, int64_t budget,
                                struct px_block *volatile *current);
// The blocks that can never go on, because all their threads wait for each other: one block, or
// all. Returns their number, or 0.
uint32_t px_cluster_stuck(struct px_cluster *cluster, struct px_block *const **blocks);
// See px_block_time_out.
bool px_cluster_time_out(struct px_cluster *cluster);
// The first warp that has a ready fragment, and that fragment; or NULL. Not for `single` blocks.
struct px_warp *px_cluster_ready(const struct px_cluster *cluster, struct px_fragment **fragment);
// The first block that runs, or NULL.
struct px_block *px_cluster_running(const struct px_cluster *cluster);
// Lanes of a warp have ended, which the barrier counts as arrivals.
void px_cluster_ended(struct px_cluster *cluster);
// Describes the threads that wait at the barrier, for a deadlock.
void px_cluster_text(const struct px_cluster *cluster, char *out, size_t size_B);
