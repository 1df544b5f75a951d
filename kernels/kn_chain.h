// SPDX-License-Identifier: MIT
// Chains: operations that pass a value on to the next one in vector registers.
//
//     add.rn.f32  %f1, %f2, %f3        PASS: the sum stays in vector registers
//     mul.rn.f32  %f4, %f1, %f5        STORE: the first source is the value, the product is stored
//
// A register of a warp lies in memory, so an operation that reads the result of the one before
// waits until the result is there, and most results are read only once. A link is the same form
// that takes some of its sources from the value of the chain, or makes its result the value. It
// computes all 32 lanes, and stores those that are active.
#pragma once

#include "kn_lanes.h"

enum kn_link {
    KN_LINK_STORE, // the result is stored; the chain ends
    KN_LINK_PASS,  // the result is the value, and is not stored
    KN_LINK_BOTH,  // the result is the value, and is stored
    KN_LINK_KEEP,  // the result is stored, and the value stays the same
    KN_LINKS
};

enum { KN_LINK_SOURCES = 3 };

struct kn_chain {
    const char *form;
    bool raw;  // a result that is passed on may be any NaN, so only arithmetic may read it
    bool bits; // reads sources as bits, so not from a link that is `raw`
    // For kn_op.run, by the sources that are the value (bit n: source n); or NULL. With KEEP or
    // sources, the operation before must be a link that has a value. After PASS, BOTH and KEEP the
    // next operation must be a link that takes or keeps it. A link that has no function for STORE
    // and some sources cannot take these from the chain.
    kn_lane_fn *run[KN_LINKS][1 << KN_LINK_SOURCES];
};

// The first forms (kn_forms) are arithmetic: they have no effect except their results, and those of
// a lane depend on that lane only. So kn_form.run[0] may run for fewer lanes, if the results of
// other lanes are not needed. Returns their number.
unsigned kn_forms_arithmetic(void);

// The links of each form, by its index (kn_form_find); or NULL.
const struct kn_chain *const *kn_chains(void);
// The same for exactly these flags, for tests.
const struct kn_chain *const *kn_chains_for(unsigned flags);
