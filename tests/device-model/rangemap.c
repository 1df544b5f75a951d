// SPDX-License-Identifier: MIT
// Range maps against a naive one: random insertions, removals, look-ups and gap searches, the ends
// of the address range, and running out of memory.
#include "rangemap.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "alloc.h"
#include "expect.h"

enum { UNITS = 4096 }; // the naive map has one owner for each unit
static void *unit[UNITS];
static uint64_t first_of[UNITS];

static void naive_gap(uint64_t low, uint64_t high, uint64_t size, uint64_t align, int *status,
                      uint64_t *start)
{
    *status = -ENOMEM;
    for (uint64_t at = (low + align - 1) & ~(align - 1);
         at + size - 1 <= high && at + size <= UNITS; at += align) {
        uint64_t n = 0;
        while (n < size && !unit[at + n])
            n++;
        if (n == size) {
            *status = 0;
            *start = at;
            return;
        }
    }
}

static void stress(uint64_t seed, unsigned rounds, unsigned longest)
{
    struct dm_rangemap map;
    uint64_t live = 0;
    memset(unit, 0, sizeof unit);
    dm_rangemap_init(&map);
    for (unsigned i = 0; i < rounds; i++) {
        uint64_t at = draw(&seed) % UNITS, size = 1 + draw(&seed) % longest;
        // Grow for a while, then shrink, so that nodes are split and merged.
        bool add = draw(&seed) % 100 < ((i / 4000) % 2 ? 35 : 65);
        struct dm_range r = {0};
        if (add) {
            bool taken = at + size > UNITS;
            for (uint64_t k = at; k < at + size && k < UNITS; k++)
                taken |= unit[k] != NULL;
            if (at + size > UNITS)
                continue;
            EXPECT_EQ(dm_rangemap_overlaps(&map, at, size), taken);
            EXPECT_EQ(dm_rangemap_insert(&map, at, size, &unit[at]), taken ? -EEXIST : 0);
            if (!taken) {
                live++;
                for (uint64_t k = at; k < at + size; k++)
                    unit[k] = &unit[at], first_of[k] = at;
            }
        } else {
            bool starts = unit[at] && first_of[at] == at;
            EXPECT_EQ(dm_rangemap_remove(&map, at, &r), starts ? 0 : -ENOENT);
            if (starts) {
                live--;
                EXPECT(r.owner == &unit[at]);
                for (uint64_t k = at; k < at + r.size; k++)
                    unit[k] = NULL;
            }
        }
        EXPECT_EQ(map.count, live);
        at = draw(&seed) % UNITS;
        EXPECT(dm_rangemap_owner(&map, at) == unit[at]);
        uint64_t next = at;
        while (next < UNITS && !unit[next])
            next++;
        EXPECT_EQ(dm_rangemap_next(&map, at, &r), next < UNITS);
        if (next < UNITS)
            EXPECT_EQ(r.start, first_of[next]);
        int64_t before = (int64_t)at;
        while (before >= 0 && !unit[before])
            before--;
        EXPECT_EQ(dm_rangemap_previous(&map, at, &r), before >= 0);
        if (before >= 0)
            EXPECT_EQ(r.start, first_of[before]);
        uint64_t want = 0, got = 0, align = UINT64_C(1) << (draw(&seed) % 6),
                 high = at + draw(&seed) % UNITS;
        int status;
        high = high < UNITS ? high : UNITS - 1;
        naive_gap(at, high, size, align, &status, &want);
        EXPECT_EQ(dm_rangemap_gap(&map, at, high, size, align, &got), status);
        if (status == 0)
            EXPECT_EQ(got, want);
        if (i % 64 == 0)
            EXPECT_EQ(dm_rangemap_check(&map), 0);
    }
    dm_rangemap_finish(&map);
}

static void edges(void)
{
    struct dm_rangemap map;
    struct dm_range r;
    uint64_t at;
    dm_rangemap_init(&map);
    EXPECT(!dm_rangemap_find(&map, 0, &r));
    EXPECT(!dm_rangemap_next(&map, 0, &r));
    EXPECT_EQ(dm_rangemap_remove(&map, 0, NULL), -ENOENT);
    EXPECT_EQ(dm_rangemap_gap(&map, 0, UINT64_MAX, UINT64_C(1) << 63, 1, &at), 0);
    EXPECT_EQ(dm_rangemap_insert(&map, 5, 0, &map), -EINVAL);
    EXPECT_EQ(dm_rangemap_insert(&map, UINT64_MAX, 2, &map), -EINVAL);
    EXPECT_EQ(dm_rangemap_insert(&map, UINT64_MAX, 1, &map), 0);
    EXPECT_EQ(dm_rangemap_insert(&map, 0, 1, &at), 0);
    EXPECT_EQ(dm_rangemap_insert(&map, 0, UINT64_MAX, &r), -EEXIST);
    EXPECT_EQ(dm_rangemap_insert(&map, 1, UINT64_MAX - 1, &r), 0);
    EXPECT(dm_rangemap_owner(&map, UINT64_MAX) == &map);
    EXPECT(dm_rangemap_owner(&map, 0) == &at);
    EXPECT(dm_rangemap_owner(&map, UINT64_MAX - 1) == &r);
    EXPECT_EQ(dm_rangemap_gap(&map, 0, UINT64_MAX, 1, 1, &at), -ENOMEM);
    EXPECT_EQ(dm_rangemap_gap(&map, 0, UINT64_MAX, 1, 3, &at), -EINVAL);
    EXPECT_EQ(dm_rangemap_gap(&map, 0, UINT64_MAX, 0, 1, &at), -EINVAL);
    EXPECT_EQ(dm_rangemap_remove(&map, 1, NULL), 0);
    EXPECT_EQ(dm_rangemap_gap(&map, UINT64_MAX - 3, UINT64_MAX, 4, 1, &at), -ENOMEM);
    EXPECT_EQ(dm_rangemap_gap(&map, UINT64_MAX - 3, UINT64_MAX, 3, 1, &at), 0);
    EXPECT_EQ(at, UINT64_MAX - 3);
    EXPECT_EQ(dm_rangemap_check(&map), 0);
    dm_rangemap_finish(&map);
}

// Whichever allocation fails, the map is the same as before.
static void out_of_memory(void)
{
    struct dm_rangemap map;
    dm_rangemap_init(&map);
    unsigned refused = 0;
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t at = (i * 7919) % 5003 * 16;
        for (uint64_t n = 1;; n++) {
            dm_alloc_fail_after(n);
            int r = dm_rangemap_insert(&map, at, 16, &map);
            if (!dm_alloc_failed()) {
                EXPECT_EQ(r, 0);
                break;
            }
            EXPECT_EQ(r, -ENOMEM);
            EXPECT_EQ(map.count, i);
            EXPECT(!dm_rangemap_owner(&map, at));
            refused++;
        }
    }
    EXPECT(refused > 100);
    EXPECT_EQ(dm_rangemap_check(&map), 0);
    dm_rangemap_finish(&map);
}

int main(void)
{
    edges();
    stress(1, 60000, 3);
    stress(2, 30000, 1);
    stress(3, 20000, 60);
    out_of_memory();
    return 0;
}
