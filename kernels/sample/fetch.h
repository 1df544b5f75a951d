// SPDX-License-Identifier: MIT
// The fetches of any texture.
#pragma once

#include "sample.h"

enum { KN_FETCH_LANES = 32 };

kn_fetch_fn kn_fetch_base, kn_fetch_level, kn_fetch_gradient, kn_fetch_gather, kn_fetch_integer,
    kn_fetch_nothing;
