// SPDX-License-Identifier: MIT
// Warps: 32 lanes that run a decoded program. Lanes that have diverged are in several fragments, of
// which one runs at a time.
//
//                       ┌────────────────── runs: w.active, the operation
//     struct px_warp ───┤
//                       └── fragments[] ─── ready          to run
//                                       ├── at a member mask, until lanes of this warp arrive
//                                       ├── at a barrier,     until threads of the block arrive
//                                       ├── at the barrier of the cluster
//                                       └── at a phase of an mbarrier object, until one completes
//
// The ready fragment of the lowest turn runs, and of those the one at the lowest operation, so that
// fragments meet where their paths join. A fragment that branches backwards 64 times while others
// are ready gets a later turn, so that lanes which wait for another lane let it run.
#pragma once
#include "decode.h"
#include "kn_abreast.h"

struct px_block;

enum px_stop {
    PX_STOP_WAITS = KN_STOP_OTHER, // all fragments wait
    PX_STOP_ENDED,                 // all lanes have ended
    PX_STOP_TURN,                  // the warp has used up its budget
    PX_STOP_STUCK,                 // nothing has run, because all fragments wait
    PX_STOP_FAILED,                // the grid's failure is described
};

// kn_op.count of branches: whether it goes backwards.
enum px_back {
    PX_FORWARD,
    PX_BACK_ALONE, // the program has no waits, so no lane needs to yield
    PX_BACK_PURE,  // round a loop that cannot be progress: see stall.h
    PX_BACK,
};

enum px_fragment_state {
    PX_READY,
    PX_AT_MEMBERS,
    PX_AT_BARRIER,
    PX_AT_CLUSTER,
    PX_AT_PHASE,
    PX_FRAGMENT_STATES // their number
};

struct px_fragment {
    const struct kn_op *at; // that runs next; at a barrier: the barrier; at a phase: the test
    uint32_t lanes;
    uint32_t turn, backward; // see struct px_warp
    uint16_t state;          // enum px_fragment_state
    uint16_t barrier;        // PX_AT_BARRIER: its number
    uint32_t needed;         // PX_AT_MEMBERS: lanes that must arrive, as far as they have not ended
    uint64_t phases;         // PX_AT_PHASE: px_cluster.phases when it began to wait
};

struct px_warp {
    struct kn_warp w; // must be first
    struct px_block *block;
    uint32_t index;         // in the block
    uint32_t turn;          // of the fragment that runs
    uint32_t last_turn;     // that was given out
    uint32_t backward;      // branches of the fragment that runs, in this turn
    int64_t budget;         // backward branches until the warp stops for others
    uint32_t cluster_lanes; // that have arrived at the barrier of the cluster
    uint32_t count;         // of fragments
    struct px_fragment fragments[KN_LANES];
    // The size is no power of two: the same members of neighbours would compete for one set of a
    // cache, and processors would take a load from one for a load of what is stored to another.
    char apart[64];
};

static inline struct px_warp *px_warp_of(struct kn_warp *w)
{
    return (struct px_warp *)w;
}

// Makes all `lanes` ready at the first operation.
void px_warp_start(struct px_warp *warp, const struct kn_op *first, uint32_t lanes);
// Runs the warp until it stops: see enum px_stop and KN_STOP_FAULT. Other warps of the block may
// have run after it (px_block_turn); the result is that of the last one, px_block.current.
unsigned px_warp_run(struct px_warp *warp);

// ---- for operations ----

// Takes the best ready fragment and makes its lanes active. Returns its operation, or NULL if no
// fragment is ready: then w.stop is set.
const struct kn_op *px_warp_next(struct px_warp *warp);
// The same for a warp that has only one fragment, which is ready.
static inline const struct kn_op *px_warp_go_on(struct px_warp *warp)
{
    const struct px_fragment *only = warp->fragments;
    warp->count = 0;
    warp->turn = only->turn;
    warp->backward = only->backward;
    if (only->lanes != warp->w.active)
        kn_warp_activate(&warp->w, only->lanes);
    return only->at;
}
// Whether a warp has only one fragment, which is ready.
static inline bool px_warp_is_simple(const struct px_warp *warp)
{
    return warp->count == 1 && warp->fragments[0].state == PX_READY;
}
// Stops the warp, whose fragments all wait.
const struct kn_op *px_warp_wait(struct px_warp *warp);
// Adds a fragment.
static inline void px_warp_put(struct px_warp *warp, struct px_fragment fragment)
{
    warp->fragments[warp->count++] = fragment;
}
// Whether a fragment waits for a phase, and no phase has completed since.
bool px_waits_for_phase(const struct px_warp *warp, const struct px_fragment *f);
// The time limit of waits for a phase: those fragments go on without it. Returns whether there were
// some.
bool px_warp_time_out(struct px_warp *warp);
// Ends lanes of the running fragment. Returns the operation that runs next, which is `next` if
// lanes of the fragment are left.
const struct kn_op *px_warp_end(struct px_warp *warp, uint32_t lanes, const struct kn_op *next);
// The operations of this room, for decode.c.
kn_abreast_fn px_abreast_row_lt_s32, px_abreast_row_lt_u32, px_abreast_row_eq;
kn_lane_fn px_op_jump, px_op_jump_some, px_op_branch, px_op_branch_some, px_op_branch_table,
    px_op_branch_row_lt_s32, px_op_branch_row_lt_u32, px_op_branch_row_eq, px_op_meet,
    px_op_meet_first, px_op_nothing, px_op_together, px_op_exit, px_op_trap, px_op_breakpoint,
    px_op_barrier, px_op_barrier_all, px_op_cluster_barrier, px_op_phase_wait, px_op_unsupported,
    px_op_clock, px_op_yield, px_op_builtin;
