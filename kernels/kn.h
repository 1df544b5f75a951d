/* SPDX-License-Identifier: MIT */
/* The SIMD core: bytes in, bytes out. This is the umbrella header for the rooms above. */
#ifndef KN_H
#define KN_H

#include "kn_cpu.h"
#include "kn_copy.h"
#include "kn_fill.h"
#include "kn_tile.h"

#endif
