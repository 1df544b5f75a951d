// SPDX-License-Identifier: MIT
// Races in shared memory, also that of other blocks of the cluster: accesses of two threads to the
// same bytes, at least one of which writes, that nothing orders.
//
// The order of threads is kept in vector clocks of two levels. A clock of a warp has a component
// for each warp of the cluster; a clock of a lane has one for each lane of its warp:
//
//     bar, barrier          warps that arrive ──▶ warps that wait; the lanes of each warp
//     barrier.cluster       the same; with .relaxed, what a warp has done before its last fence
//     bar.warp.sync, shfl.sync, vote.sync …       the lanes of the member mask
//     fence, membar         warps that have executed one ──▶ this warp
//
// An access is stamped with the components of its warp and lane. It is ordered before another one
// if the other one's clock has seen the stamp. For each word, the last accesses are kept.
//
// The checker counts a fence as ordered after all fences before it, and the lanes of a warp as
// arriving at barriers together. So it may miss a race, but reports no two accesses that a program
// orders in these ways.
#pragma once
#include "checker.h"

// The clocks of a cluster's warps, so many in each block. Free them with dm_free. Returns NULL if
// host memory is short.
struct px_clocks *px_clocks_new(uint32_t blocks, uint32_t warps);
// The cluster starts.
void px_clocks_start(struct px_clocks *clocks);
// For a block's shared memory. Free it with dm_free. Returns NULL if host memory is short.
struct px_race *px_race_new(uint32_t shared_B, struct px_clocks *clocks, uint32_t rank);
// The block starts.
void px_race_start(struct px_race *race);
// The next operation begins.
void px_race_step(struct px_race *race);
// Compares one lane's access with older ones, and reports races.
void px_race_access(struct px_checker *checker, const struct px_warp *warp,
                    const struct px_access *access, int lane, uint32_t offset);
// Lanes of a warp have executed an operation together.
void px_race_together(struct px_race *race, uint32_t warp, uint32_t lanes);
void px_race_fence(struct px_race *race, uint32_t warp, uint32_t lanes);
// Lanes of a warp arrive at a barrier.
void px_race_arrive(struct px_race *race, uint32_t warp, uint32_t barrier);
// A barrier has waited for all threads of the block. Those that have ended count as arrived.
void px_race_all_arrived(struct px_race *race, uint32_t barrier);
// A barrier lets the lanes go that wait there, warp by warp; then it is free.
void px_race_release(struct px_race *race, uint32_t warp, uint32_t lanes, uint32_t barrier);
void px_race_released(struct px_race *race, uint32_t barrier);
// Lanes of a warp arrive at the barrier of the cluster.
void px_race_cluster_arrive(struct px_race *race, uint32_t warp, bool relaxed);
// All threads of the cluster have arrived, or have ended.
void px_race_cluster_complete(struct px_clocks *clocks);
// A warp passes the wait.
void px_race_cluster_pass(struct px_race *race, uint32_t warp);
