// SPDX-License-Identifier: MIT
// The order of a random program: which of its calls and commands come after which. A reference that
// is as simple as can be, so that it can be trusted.
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum {
    CALLS = 40,
    THE_END = 3 * CALLS, // call i is node i, its commands are the nodes CALLS + i and 2 * CALLS +
                         // i, the second one for the second branch of a graph
    NODES = THE_END + 1, // the host, after all calls
    WORDS = (NODES + 63) / 64
};

struct order {
    uint64_t after[NODES][WORDS]; // the successors of each node
};

static inline void set_edge(struct order *o, unsigned from, unsigned to)
{
    o->after[from][to / 64] |= UINT64_C(1) << to % 64;
}

static inline bool is_before(const struct order *o, unsigned a, unsigned b)
{
    return o->after[a][b / 64] >> b % 64 & 1;
}

// All that is after a successor is after the node.
static inline void close_transitively(struct order *o)
{
    for (unsigned i = 0; i < NODES; i++)
        for (unsigned j = 0; j < NODES; j++)
            for (unsigned k = 0; k < WORDS && is_before(o, j, i); k++)
                o->after[j][k] |= o->after[i][k];
}
