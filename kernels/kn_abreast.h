// SPDX-License-Identifier: MIT
// Operations for several warps abreast: the costs of an operation besides its arithmetic are paid
// once for all of them. All lanes of these warps are active, and they are in a row (kn_warp.row).
//
//     struct kn_warp w      registers of the first warp       of the second one
//     ┌─────┐              ┌──────┬──────┬───┬──────┐        ┌──────┬──────┬───┐
//     │ r ──┼─────────────▶│ %r1  │ %r2  │ … │ %r9  │ file_B │ %r1  │ %r2  │ … │
//     └─────┘              └──────┴──────┴───┴──────┘        └──────┴──────┴───┘
#pragma once

#include "kn_lanes.h"

enum { KN_ABREAST_MOST = 32 }; // warps

// Runs an operation for `warps` warps, in their order. Returns false, before it has changed
// anything, if each warp has to run it alone. If an access raises SIGSEGV, kn_warp.r are the
// registers of the warp that it belongs to.
typedef bool kn_abreast_fn(const struct kn_op *op, struct kn_warp *w, uint32_t warps,
                           uint32_t file_B);

struct kn_abreast {
    const char *form;
    kn_abreast_fn *run;
};

// The functions of each form, by its index (kn_form_find); or NULL.
kn_abreast_fn *const *kn_abreast(void);
