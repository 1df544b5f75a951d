// SPDX-License-Identifier: MIT
// Drawn orders, without a table: a Feistel network permutes the numbers below a power of 4, and is
// repeated until its result is below the count.
#include "draw.h"

enum { ROUNDS = 4 };

uint64_t px_drawn_order(uint64_t seed, uint64_t position, uint64_t count)
{
    unsigned half = 1;
    if (!seed || count < 2)
        return position;
    while ((count - 1) >> 2 * half)
        half++;
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    do {
        uint64_t left = position >> half, right = position & mask;
        for (unsigned i = 0; i < ROUNDS; i++) {
            const uint64_t next = left ^ (px_drawn(seed + i, right) & mask);
            left = right;
            right = next;
        }
        position = left << half | right;
    } while (position >= count);
    return position;
}
