// SPDX-License-Identifier: MIT
// Compares the sorted ranges of `cardless replay` with a table that has an entry for each address.
#include <stdio.h>
#include <stdlib.h>

#include "../../tools/cardless/replay_range.h"

enum { ADDRESSES = 64, ROUNDS = 2000, RANGES = 40, NOWHERE = -1 };

struct place {
    long actual; // or NOWHERE
    bool is_lost;
};

static bool is_sorted(const struct replay_ranges *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->list[i].from >= r->list[i].end || (i && r->list[i - 1].end > r->list[i].from))
            return false;
    return true;
}

static bool is_equal(const struct replay_ranges *r, const struct place table[ADDRESSES])
{
    for (unsigned i = 0; i < ADDRESSES; i++) {
        const struct replay_range *found = replay_range_at(r, i);
        if (!found != (table[i].actual == NOWHERE))
            return false;
        if (found && ((long)(i - found->from + found->actual) != table[i].actual ||
                      found->is_lost != table[i].is_lost))
            return false;
    }
    return true;
}

static bool put(struct replay_ranges *r, struct place table[ADDRESSES])
{
    const unsigned from = (unsigned)rand() % ADDRESSES;
    const unsigned end = from + 1 + (unsigned)rand() % (ADDRESSES - from);
    const struct replay_range added = {from, end, 1000 + (unsigned)rand() % 1000, rand() % 4 == 0};
    for (unsigned i = from; i < end; i++)
        table[i] = (struct place){(long)(added.actual + i - from), added.is_lost};
    return replay_range_put(r, added);
}

int main(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct replay_ranges r = {.count = 0};
        struct place table[ADDRESSES];
        srand(round);
        for (unsigned i = 0; i < ADDRESSES; i++)
            table[i] = (struct place){NOWHERE, false};
        for (unsigned k = 0; k < round % RANGES; k++) {
            if (put(&r, table) && is_sorted(&r) && is_equal(&r, table))
                continue;
            printf("round %u: the list is wrong after range %u\n", round, k + 1);
            return 1;
        }
        free(r.list);
    }
    printf("%d lists\n", ROUNDS);
    return 0;
}
