// SPDX-License-Identifier: MIT
// Warps abreast (kn_abreast.h): the operations at the beginning of a program that several warps of
// a block can run together, one operation after another for all of them.
//
//     warps one by one      r1 r2 r3 exit, r1 r2 r3 exit, r1 r2 r3 exit …
//     warps abreast         r1 r1 r1 …, r2 r2 r2 …, r3 r3 r3 …, exit
//
// The list ends with the kernel, or at the first operation that lanes may leave in different ways.
// From there on each warp runs alone, with the registers that it has.
#pragma once
#include "decode.h"
#include "kn_abreast.h"

struct px_decoder;
struct px_grid;

struct px_abreast_op {
    kn_abreast_fn *run;
    const struct kn_op *op;    // for `run`
    const struct kn_op *alone; // at which warps go on alone if `run` returns false; or NULL: then a
                               // warp has stopped
};

// In one piece of memory.
struct px_abreast {
    uint32_t count;
    const struct kn_op *next; // at which warps go on alone after all of them; NULL: they have ended
    struct px_abreast_op of[];
};

// Finds them, for decode.c, after the program's operations have been put. Returns NULL if there are
// too few to be worth it, or if host memory is short. Free with dm_free.
struct px_abreast *px_abreast_find(const struct px_decoder *d);

// The most warps of a block that may run abreast in a grid, or 0.
uint32_t px_abreast_warps(const struct px_grid *grid, const struct px_decoded *decoded);

enum px_abreast_result { PX_ABREAST_ENDED, PX_ABREAST_ALONE, PX_ABREAST_STOPPED };
// Runs `warps` warps, from the one whose registers w->r are. ALONE: each of them goes on at *next.
// STOPPED: w->stop says why, and w->r are the registers of the warp that has stopped.
enum px_abreast_result px_abreast_run(const struct px_decoded *decoded, struct kn_warp *w,
                                      uint32_t warps, const struct kn_op **next);
