// SPDX-License-Identifier: MIT
// The SIMD core: bytes in, bytes out. This is the umbrella header for the rooms above.
#pragma once

#include "kn_convert.h"
#include "kn_cpu.h"
#include "kn_copy.h"
#include "kn_fill.h"
#include "kn_lanes.h"
#include "kn_tile.h"
