// SPDX-License-Identifier: MIT
// Fetches of common textures, one set of functions for each instruction set.
#pragma once

#include "fetch.h"

// The function that fetches from the base level of a prepared texture. Returns NULL if only the
// general one can.
typedef kn_fetch_fn *kn_fast_choose_fn(const struct kn_texture *t);
kn_fast_choose_fn kn_fast_choose_c, kn_fast_choose_avx2, kn_fast_choose_avx512;

// The same for integer coordinates.
kn_fast_choose_fn kn_fast_integer_choose_c, kn_fast_integer_choose_avx2,
    kn_fast_integer_choose_avx512;
