// SPDX-License-Identifier: MIT
// Writing of registers (kn_lanes.h).
#pragma once

#include <stdint.h>

// Writes a register of 32 bits a lane, to[i] = from[i] + base; both begin at multiples of 64 bytes.
// The vectors that are stored are as long as those that operations load: a processor does not pass
// several short stores on to one long load, so that load would wait until all stores before are in
// the cache.
typedef void kn_register_add_fn(uint32_t *to, const uint32_t *from, uint32_t base);

// The function for the instruction sets in use.
kn_register_add_fn *kn_register_add(void);
