// SPDX-License-Identifier: MIT
// Writing of registers (kn_lanes.h).
#pragma once

#include <stddef.h>
#include <stdint.h>

// Writes registers of 32 bits a lane for `count` warps: to[i] = from[i] + base. The registers of
// the next warp are to_step_B and from_step_B bytes after those of each warp; all begin at
// multiples of 64 bytes. The vectors that are stored are as long as those that operations load: a
// processor does not pass several short stores on to one long load, so that load would wait until
// all stores before are in the cache.
typedef void kn_register_add_fn(void *to, size_t to_step_B, const void *from, size_t from_step_B,
                                uint32_t base, uint32_t count);

// The function for the instruction sets in use.
kn_register_add_fn *kn_register_add(void);
