// SPDX-License-Identifier: MIT
// The state of decoding one program. Only decode.c and decode_check.c use it.
#pragma once
#include "abreast.h"
#include "affine.h"
#include "decode.h"
#include "known.h"

struct px_decoder {
    const struct px_program *program;
    struct px_decoded *out;
    const struct kn_form *forms;
    unsigned form_count;
    bool checked;             // with operations of checker.h
    bool stepped;             // with operations of stepping.h
    struct px_affines affine; // these two are empty if there is a flag
    struct px_known known;
    bool *meets;    // by operation: the program's, and after operations that are branched over
    bool *skips;    // by operation: a copy that px_layout_copies has made unnecessary
    bool *whole;    // by operation: see px_layout
    uint32_t *more; // kn_op.more of all operations
    uint32_t more_count;
    uint32_t *acts;     // by operation: how many before it may be progress, for stall.h
    kn_lane_fn **links; // by operation: its function in a chain (chain.h), or NULL
};

static inline struct kn_op *px_op_start(const struct px_op *op, struct kn_op *to, kn_lane_fn *run,
                                        kn_lane_fn *run_some)
{
    *to = (struct kn_op){.run = {run, run_some}, .guard_flip = UINT32_MAX, .line = op->line};
    return to;
}

// The form of affine.h for an access that has one.
int px_affine_form(const struct px_decoder *d, uint32_t i);
// For warps abreast: the function of the operation before a comparison that decides the branch
// after it; or NULL.
kn_abreast_fn *px_decided_abreast(const struct px_decoder *d, uint32_t i);

// The operation of checker.h that belongs to an operation: before it, or after those that lanes
// execute together; or NULL.
kn_lane_fn *px_check_of(const struct px_decoder *d, const struct px_op *op);
// Puts the check of a form before it. Returns the place after it.
struct kn_op *px_put_check(const struct px_decoder *d, const struct px_op *op, struct kn_op *to);
// Puts the check of a member mask after the operation that waits for it. Returns the place after
// it.
struct kn_op *px_put_check_members(const struct px_decoder *d, const struct px_op *op,
                                   struct kn_op *to, uint32_t members);
