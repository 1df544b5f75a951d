// SPDX-License-Identifier: MIT
// Inside rangemap*.c only: the nodes of a range map, a B+ tree. Each slot of an inner node has the
// extent and the largest gap of its child:
//
//        inner node   | start last gap ptr | start last gap ptr | ...
//                             |                    |
//        leaves        | start last owner | ...    | start last owner | ...
//
// All leaves have the same depth. Every node but the root has at least SLOTS_MIN slots in use.
#pragma once

#include "rangemap.h"

enum { SLOTS = 32, SLOTS_MIN = SLOTS / 4, HEIGHT_MAX = 24 };

struct dm_rangemap_node {
    unsigned count;
    bool leaf;
    // Unused slots hold UINT64_MAX, so that the search does not need the count.
    uint64_t start[SLOTS]; // first byte of the range, or of the child's first range
    struct slot {
        uint64_t last; // last byte (inclusive: a range may end at 2^64)
        uint64_t gap;  // inner nodes: the largest gap between two ranges of the child; leaves: 0
        void *ptr;     // owner, or child
    } slot[SLOTS];
};

typedef struct dm_rangemap_node node;

// Returns the last slot whose start is not above `address`, or 0 if all slots start above it. Has
// no branches, because they would be mispredicted.
static inline unsigned node_search(const node *n, uint64_t address)
{
    unsigned i = 0;
    i += (unsigned)(n->start[i + 16] <= address) << 4;
    i += (unsigned)(n->start[i + 8] <= address) << 3;
    i += (unsigned)(n->start[i + 4] <= address) << 2;
    i += (unsigned)(n->start[i + 2] <= address) << 1;
    i += (unsigned)(n->start[i + 1] <= address);
    // Only address UINT64_MAX can end up on an unused slot.
    return __builtin_expect(i >= n->count, 0) ? n->count - 1 : i;
}

// Updates slot i of the inner node n from its child.
static inline void node_summarise(node *n, unsigned i)
{
    const node *c = n->slot[i].ptr;
    uint64_t gap = c->leaf ? 0 : c->slot[0].gap;
    for (unsigned k = 1; k < c->count; k++) {
        uint64_t between = c->start[k] - c->slot[k - 1].last - 1;
        gap = between > gap ? between : gap;
        if (!c->leaf && c->slot[k].gap > gap)
            gap = c->slot[k].gap;
    }
    n->start[i] = c->start[0];
    n->slot[i].last = c->slot[c->count - 1].last;
    n->slot[i].gap = gap;
}
