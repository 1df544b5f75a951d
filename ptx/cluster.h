// SPDX-License-Identifier: MIT
// Clusters: blocks that run at the same time, reach each other's shared memory, and have a barrier
// of their own. A block of a launch without clusters is a cluster by itself.
//
// Addresses in shared memory, of clusters of several blocks (recorded on an H200):
//
//     31      24 23                   0
//     ┌─────────┬──────────────────────┐
//     │ rank    │ offset in that block │      mapa exchanges the rank
//     └─────────┴──────────────────────┘
//
// All blocks therefore share one range of memory, 16 MiB for each rank, of which only the sizes of
// their shared memory are accessible (up to the end of a page).
#pragma once
#include "block.h"

enum { PX_RANK_SHIFT = 24, PX_CLUSTER_MOST = 16 };
#define PX_RANK_B (UINT64_C(1) << PX_RANK_SHIFT)

struct px_cluster {
    uint32_t count;   // blocks
    uint32_t running; // those that have not ended
    uint64_t phases;  // of mbarrier objects that are complete
    // The barrier. All warps before this one, counted through all blocks, have arrived or ended.
    uint32_t arrived;
    bool used;    // some lanes have arrived
    char *shared; // of several blocks, or NULL
    bool named;   // the launch has named the cluster's size
    struct px_block *blocks[PX_CLUSTER_MOST];
};

// The blocks of a cluster of the grid.
uint32_t px_cluster_count(const struct px_grid *grid);
// Returns the place for a cluster, or NULL if host memory is short.
struct px_cluster *px_cluster_new(struct px_grid *grid, const struct px_decoded *decoded,
                                  bool single);
void px_cluster_free(struct px_cluster *cluster);
// Starts the blocks of cluster `index`.
void px_cluster_start(struct px_cluster *cluster, uint64_t index);
// As px_block_run, for all blocks. Sets *current to the block that runs.
enum px_progress px_cluster_run(struct px_cluster *cluster, int64_t budget,
                                struct px_block *volatile *current);
// The blocks that can never go on, because all their threads wait for each other: one block, or
// all. Returns their number, or 0.
uint32_t px_cluster_stuck(struct px_cluster *cluster, struct px_block *const **blocks);
// See px_block_time_out.
bool px_cluster_time_out(struct px_cluster *cluster);
// The first block that runs, or NULL.
struct px_block *px_cluster_running(const struct px_cluster *cluster);
// Lanes of a warp have ended, which the barrier counts as arrivals.
void px_cluster_ended(struct px_cluster *cluster);
// Describes the threads that wait at the barrier, for a deadlock.
void px_cluster_text(const struct px_cluster *cluster, char *out, size_t size_B);
