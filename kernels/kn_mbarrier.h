// SPDX-License-Identifier: MIT
// The bits of an mbarrier object, 64 bits of shared memory:
//
//     63    62          42 41 40       21 20 19        0
//     ┌─────┬─────────────┬──┬───────────┬──┬──────────┐
//     │phase│ outstanding │0 │ expected  │0 │ pending  │
//     │     │ bytes,signed│  │ arrivals  │  │ arrivals │
//     └─────┴─────────────┴──┴───────────┴──┴──────────┘
//
// A phase is complete if no arrivals and no bytes are outstanding: then the phase's parity changes,
// and the expected arrivals are pending again. A state, as instructions return it, is the object
// before the arrival; programs should not depend on its bits.
#pragma once
#include <stdint.h>

#define KN_MBARRIER_COUNT UINT64_C(0xfffff)
#define KN_MBARRIER_PHASE (UINT64_C(1) << 63)
enum { KN_MBARRIER_EXPECTED = 21, KN_MBARRIER_BYTES = 42, KN_MBARRIER_BYTES_BITS = 21 };

// Arrivals that the current phase still needs.
static inline uint64_t kn_mbarrier_pending(uint64_t object)
{
    return object & KN_MBARRIER_COUNT;
}

// Arrivals that the next phase needs.
static inline uint64_t kn_mbarrier_expected(uint64_t object)
{
    return object >> KN_MBARRIER_EXPECTED & KN_MBARRIER_COUNT;
}

// Bytes that asynchronous copies still have to deliver in the current phase; below 0 if they have
// delivered some before the program announced them. Programs should announce them first.
static inline int64_t kn_mbarrier_bytes(uint64_t object)
{
    return (int64_t)(object << 1) >> (64 - KN_MBARRIER_BYTES_BITS);
}
