// SPDX-License-Identifier: MIT
// Addresses in shared memory, of clusters of several blocks (recorded on an H200):
//
//     31      24 23                   0
//     ┌─────────┬──────────────────────┐
//     │ rank    │ offset in that block │      mapa exchanges the rank
//     └─────────┴──────────────────────┘
#pragma once
#include <stdint.h>

enum {
    PX_RANK_SHIFT = 24,
    PX_CLUSTER_MOST = 16 // blocks of a cluster
};
#define PX_RANK_B (UINT64_C(1) << PX_RANK_SHIFT)
#define PX_RANK_MASK (UINT64_C(0xff) << PX_RANK_SHIFT)
