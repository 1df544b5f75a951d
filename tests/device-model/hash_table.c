// SPDX-License-Identifier: MIT
// Hash tables against a naive one: random additions and removals, running out of memory at every
// allocation, and memory that is given back after a peak.
#include "hash_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { KEYS = 5000, PEAK = 100000 };

struct element {
    struct key {
        uint64_t device, inode;
    } key;
    unsigned value;
    UT_hash_handle hh;
};

static struct key key_of(uint64_t n)
{
    return (struct key){.device = n % 3, .inode = n};
}

static struct element *find(struct element *table, uint64_t n)
{
    struct key key = key_of(n);
    return DM_TABLE_FIND(table, &key);
}

static void stress(void)
{
    static struct element elements[KEYS];
    static bool present[KEYS];
    struct element *table = NULL;
    uint64_t seed = 7;
    unsigned live = 0;
    for (unsigned i = 0; i < 100000; i++) {
        unsigned n = (unsigned)(draw(&seed) % KEYS);
        bool add = draw(&seed) % 100 < ((i / 20000) % 2 ? 30 : 70);
        EXPECT_EQ(find(table, n) != NULL, present[n]);
        if (add && !present[n]) {
            elements[n] = (struct element){.key = key_of(n), .value = n};
            EXPECT_EQ(DM_TABLE_ADD(table, key, &elements[n]), 0);
            live++;
        } else if (!add && present[n]) {
            DM_TABLE_REMOVE(table, &elements[n]);
            live--;
        }
        present[n] = add;
        EXPECT_EQ(DM_TABLE_COUNT(table), live);
    }
    struct element *e, *next;
    unsigned seen = 0;
    DM_TABLE_EACH (table, e, next) {
        EXPECT(present[e->value]);
        DM_TABLE_REMOVE(table, e);
        seen++;
    }
    EXPECT_EQ(seen, live);
    EXPECT(!table);
}

// If an allocation fails, the table should stay unchanged, whichever allocation it is.
static void out_of_memory(void)
{
    static struct element elements[KEYS];
    struct element *table = NULL;
    unsigned refused = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        for (uint64_t n = 1;; n++) {
            elements[i] = (struct element){.key = key_of(i), .value = i};
            dm_alloc_fail_after(n);
            int r = DM_TABLE_ADD(table, key, &elements[i]);
            if (!dm_alloc_failed()) {
                EXPECT_EQ(r, 0);
                break;
            }
            EXPECT_EQ(r, -ENOMEM);
            EXPECT_EQ(DM_TABLE_COUNT(table), i);
            EXPECT(!find(table, i));
            refused++;
        }
        EXPECT(find(table, i / 2) == &elements[i / 2]);
    }
    EXPECT(refused > 5); // the table, its first buckets, and each doubling
    for (unsigned i = 0; i < KEYS; i++) {
        dm_alloc_fail_after(1); // removal needs no memory
        DM_TABLE_REMOVE(table, &elements[i]);
        dm_alloc_failed();
        EXPECT(!find(table, i));
    }
    EXPECT(!table);
}

static void give_back(void)
{
    struct element *elements = calloc(PEAK, sizeof *elements), *table = NULL;
    dm_alloc_count();
    for (unsigned i = 0; i < PEAK; i++) {
        elements[i] = (struct element){.key = key_of(i), .value = i};
        EXPECT_EQ(DM_TABLE_ADD(table, key, &elements[i]), 0);
    }
    EXPECT(dm_alloc_live().bytes > 100000);
    for (unsigned i = 3; i < PEAK; i++)
        DM_TABLE_REMOVE(table, &elements[i]);
    EXPECT(dm_alloc_live().bytes < 2000);
    EXPECT(find(table, 2) == &elements[2]);
    for (unsigned i = 0; i < 3; i++)
        DM_TABLE_REMOVE(table, &elements[i]);
    EXPECT_EQ(dm_alloc_live().count, 0);
    EXPECT_EQ(dm_alloc_live().bytes, 0);
    free(elements);
}

int main(void)
{
    stress();
    out_of_memory();
    give_back();
    return 0;
}
