// SPDX-License-Identifier: MIT
// The interval set against a list: random insertions, removals and questions, and the depth that an
// ordered insertion leads to.
#include "intervals.h"

#include <stdbool.h>
#include <stddef.h>

#include "expect.h"

enum { COUNT = 300, POINTS = 5000 };
static struct dm_interval nodes[COUNT];
static bool present[COUNT];

static bool shares(const struct dm_interval *node, uint64_t first, uint64_t end)
{
    return node->first < end && first < node->end;
}

static void count_node(struct dm_interval *node, void *argument)
{
    struct {
        uint64_t count, last;
    } *seen = argument;
    EXPECT(node->first >= seen->last);
    seen->last = node->first;
    seen->count++;
}

// Asks about a random interval, with and without a node to skip.
static void ask(const struct dm_intervals *set, uint64_t *seed)
{
    uint64_t first = draw(seed) % POINTS, end = first + 1 + draw(seed) % 40, matches = 0;
    const struct dm_interval *one = NULL;
    for (unsigned i = 0; i < COUNT; i++) {
        if (!present[i] || !shares(&nodes[i], first, end))
            continue;
        matches++;
        one = &nodes[i];
    }
    const struct dm_interval *found = dm_intervals_overlap(set, first, end, NULL);
    EXPECT_EQ(found != NULL, matches != 0);
    EXPECT(!found || (present[found - nodes] && shares(found, first, end)));
    found = dm_intervals_overlap(set, first, end, one);
    EXPECT_EQ(found != NULL, matches > 1);
    EXPECT(!found || (found != one && present[found - nodes] && shares(found, first, end)));
}

static void stress(uint64_t seed, uint64_t longest)
{
    struct dm_intervals set = {0};
    uint64_t live = 0;
    for (unsigned i = 0; i < COUNT; i++)
        present[i] = false;
    for (unsigned round = 0; round < 6000; round++) {
        unsigned i = (unsigned)(draw(&seed) % COUNT);
        if (present[i]) {
            dm_intervals_remove(&set, &nodes[i]);
            live--;
        } else {
            nodes[i].first = draw(&seed) % POINTS / 8 * 8; // many begin at the same point
            nodes[i].end = nodes[i].first + 1 + draw(&seed) % longest;
            dm_intervals_insert(&set, &nodes[i]);
            live++;
        }
        present[i] = !present[i];
        ask(&set, &seed);
        if (round % 100 == 0) {
            struct {
                uint64_t count, last;
            } seen = {0, 0};
            dm_intervals_each(&set, count_node, &seen);
            EXPECT_EQ(seen.count, live);
        }
    }
}

static unsigned depth(const struct dm_interval *node)
{
    if (!node)
        return 0;
    unsigned left = depth(node->left), right = depth(node->right);
    return 1 + (left > right ? left : right);
}

// 100,000 intervals in order are about 17 levels deep if the tree is balanced, and about 40 in a
// treap.
static void ordered(bool overlapping)
{
    enum { MANY = 100000 };
    static struct dm_interval many[MANY];
    struct dm_intervals set = {0};
    for (unsigned i = 0; i < MANY; i++) {
        many[i].first = i * 2;
        many[i].end = overlapping ? 2 * MANY : i * 2 + 1;
        dm_intervals_insert(&set, &many[i]);
    }
    EXPECT(depth(set.root) < 80);
    EXPECT(dm_intervals_overlap(&set, 2 * MANY - 2, 2 * MANY - 1, NULL) != NULL);
    EXPECT_EQ(dm_intervals_overlap(&set, 2 * MANY, 2 * MANY + 1, NULL) != NULL, false);
    EXPECT_EQ(dm_intervals_overlap(&set, 1001, 1002, NULL) != NULL, overlapping);
    for (unsigned i = 0; i < MANY; i++)
        dm_intervals_remove(&set, &many[i]);
    EXPECT(!set.root);
}

int main(void)
{
    for (uint64_t seed = 1; seed < 6; seed++) {
        stress(seed, 8);
        stress(seed, 2000);
    }
    ordered(false);
    ordered(true);
    return 0;
}
