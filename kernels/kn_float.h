// SPDX-License-Identifier: MIT
// The floating-point state of the calling thread.
//
// A program may choose another rounding mode, flush subnormal values, or let exceptions interrupt
// it. Kernels must not see that, because on a card they do not; and code that reads or converts
// numbers for them must not either.
#pragma once
#include <stdint.h>

struct kn_float_state {
    uint64_t bits;
};

// Sets the default state: round to nearest, subnormal values, no exceptions that interrupt. Returns
// the state before, which should be given to kn_float_leave in the same thread. Pairs may nest.
struct kn_float_state kn_float_enter(void);
// Restores a state, with its flags of exceptions that have occurred.
void kn_float_leave(struct kn_float_state state);
