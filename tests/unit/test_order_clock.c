// SPDX-License-Identifier: MIT
// Clocks of the ordering checker: random raises, joins and prunes, compared with plain lists of
// epochs, and the cost of joins of clocks that share their parts.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sanitizers.h"
#include "lock.h"
#include "order_clock.h"

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);                        \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { KEYS = 96, CLOCKS = 12, STEPS = SANITIZED ? 4000 : 40000 };

static uint64_t keys[KEYS];
static struct em_clock *clocks[CLOCKS];
static uint64_t expected[CLOCKS][KEYS];

static uint64_t draw(uint64_t most)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % most;
}

// Streams of three contexts, the host, and keys that differ in one bit.
static void make_keys(void)
{
    unsigned n = 0;
    for (uint64_t context = 1; context <= 3; context++)
        for (uint64_t stream = 0; stream < 24; stream++)
            keys[n++] = context << 32 | (stream < 12 ? stream : stream * stream * 7);
    keys[n++] = UINT64_MAX;
    for (unsigned bit = 41; n < KEYS; bit++)
        keys[n++] = UINT64_C(1) << bit;
}

static void check_clock(unsigned c, unsigned step)
{
    for (unsigned k = 0; k < KEYS; k++) {
        const uint64_t is = em_clock_get(clocks[c], keys[k]);
        CHECK(is == expected[c][k], "step %u, clock %u, key %#llx is %llu, not %llu", step, c,
              (unsigned long long)keys[k], (unsigned long long)is,
              (unsigned long long)expected[c][k]);
    }
}

static void raise_one(unsigned c)
{
    const unsigned k = (unsigned)draw(KEYS);
    const uint64_t epoch = draw(1000);
    const bool grows = epoch > expected[c][k], grew = em_clock_raise(&clocks[c], keys[k], epoch);
    CHECK(grew == grows, "the epoch %llu grew: %d, not %d", (unsigned long long)epoch, grew, grows);
    if (grows)
        expected[c][k] = epoch;
}

static void join_two(unsigned to, unsigned from)
{
    em_clock_join(&clocks[to], clocks[from]);
    for (unsigned k = 0; k < KEYS; k++)
        if (expected[from][k] > expected[to][k])
            expected[to][k] = expected[from][k];
}

static void prune(unsigned c)
{
    const unsigned a = (unsigned)draw(KEYS), b = (unsigned)draw(KEYS);
    const uint64_t first = keys[a] < keys[b] ? keys[a] : keys[b],
                   last = keys[a] < keys[b] ? keys[b] : keys[a],
                   epoch = draw(4) ? draw(1000) : UINT64_MAX;
    em_clock_prune(&clocks[c], first, last, epoch);
    for (unsigned k = 0; k < KEYS; k++)
        if (keys[k] >= first && keys[k] <= last && expected[c][k] <= epoch)
            expected[c][k] = 0;
}

static void copy(unsigned to, unsigned from)
{
    struct em_clock *before = clocks[to];
    clocks[to] = em_clock_ref(clocks[from]);
    em_clock_unref(before);
    memmove(expected[to], expected[from], sizeof expected[to]);
}

static void test_random(void)
{
    for (unsigned step = 0; step < STEPS; step++) {
        const unsigned c = (unsigned)draw(CLOCKS), other = (unsigned)draw(CLOCKS);
        const unsigned action = (unsigned)draw(20);
        if (action < 12)
            raise_one(c);
        else if (action < 16)
            join_two(c, other);
        else if (action < 19)
            copy(c, other);
        else
            prune(c);
        check_clock(c, step);
        check_clock(other, step);
    }
    for (unsigned c = 0; c < CLOCKS; c++) {
        check_clock(c, STEPS);
        em_clock_unref(clocks[c]);
    }
}

// Two clocks that grew from one with 10,000 streams, and differ in one entry each.
static void test_cost(void)
{
    enum { STREAMS = 10000, MOST = 16 };
    struct em_clock *a = NULL;
    for (uint64_t k = 2; k < STREAMS; k++)
        em_clock_raise(&a, UINT64_C(1) << 32 | k, 1);
    for (uint64_t k = 2; k < STREAMS; k += 97) {
        struct em_clock *b = em_clock_ref(a), *c = em_clock_ref(a);
        em_clock_raise(&b, UINT64_C(1) << 32 | k, 2);
        em_clock_raise(&c, UINT64_C(1) << 32 | (STREAMS - k), 3);
        const uint64_t before = em_order_steps;
        em_clock_join(&b, c);
        const uint64_t steps = em_order_steps - before;
        CHECK(steps > 0 && steps <= MOST, "the join took %llu steps", (unsigned long long)steps);
        em_clock_unref(b);
        em_clock_unref(c);
    }
    em_clock_unref(a);
}

int main(void)
{
    make_keys();
    em_lock();
    test_random();
    test_cost();
    CHECK(!em_clock_failed, "a clock could not grow");
    em_unlock();
    return 0;
}
