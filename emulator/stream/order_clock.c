// SPDX-License-Identifier: MIT
// Clocks as trees that share their parts.
#include "order_clock.h"

#include "alloc.h"
#include "lock.h"

// A node chooses among its parts by one octal digit of the key. Levels with a single part are left
// out:
//
//     digit 2                          0                   the entries 0o005, 0o110 and 0o117
//                              ╱               ╲
//     digit 1                 ·                 ·          has no node: one part at most
//     digit 0     5: epoch of 0o005      0: epoch of 0o110
//                                        7: epoch of 0o117
enum { DIGIT_BITS = 3, PARTS = 1 << DIGIT_BITS };

struct em_clock {
    uint32_t references;
    uint32_t shift;  // of the digit in the key; 0: a leaf
    uint64_t prefix; // the digits above it, which all keys of this node have
    union {
        struct em_clock *part[PARTS]; // references
        uint64_t epoch[PARTS];        // of a leaf; 0: no entry
    };
};

bool em_clock_failed;
uint64_t em_order_steps;

// Nodes for the next clocks, linked by part[0]: most calls drop as many nodes as they make.
enum { SPARE_MOST = 1 << 13 };
static struct em_clock *spare;
static unsigned spares;

// ---- nodes ----

struct em_clock *em_clock_ref(struct em_clock *c)
{
    if (c)
        c->references++;
    return c;
}

void em_clock_unref(struct em_clock *c)
{
    em_assert_locked();
    if (!c || --c->references)
        return;
    for (unsigned i = 0; c->shift && i < PARTS; i++)
        em_clock_unref(c->part[i]);
    if (spares == SPARE_MOST) {
        dm_free(c);
        return;
    }
    c->part[0] = spare;
    spare = c;
    spares++;
}

// Returns an uninitialised node, or NULL.
static struct em_clock *new_node(void)
{
    struct em_clock *c = spare;
    if (!c) {
        c = dm_alloc(sizeof *c);
        em_clock_failed = em_clock_failed || !c;
        return c;
    }
    spare = c->part[0];
    spares--;
    return c;
}

static unsigned digit(const struct em_clock *c, uint64_t key)
{
    return key >> c->shift & (PARTS - 1);
}

static uint64_t prefix(unsigned shift, uint64_t key)
{
    return key >> shift >> DIGIT_BITS;
}

static bool has_place(const struct em_clock *c, uint64_t key)
{
    return prefix(c->shift, key) == c->prefix;
}

static uint64_t first_key(const struct em_clock *c)
{
    return c->prefix << c->shift << DIGIT_BITS;
}

static uint64_t last_key(const struct em_clock *c)
{
    return first_key(c) | (((uint64_t)PARTS << c->shift) - 1);
}

// A node whose reference count is 1, or NULL.
static struct em_clock *copy_of(const struct em_clock *c)
{
    struct em_clock *copy = new_node();
    if (!copy)
        return NULL;
    *copy = *c;
    copy->references = 1;
    for (unsigned i = 0; c->shift && i < PARTS; i++)
        em_clock_ref(c->part[i]);
    return copy;
}

static struct em_clock *leaf(uint64_t key, uint64_t epoch)
{
    struct em_clock *c = new_node();
    if (!c)
        return NULL;
    *c = (struct em_clock){.references = 1, .prefix = prefix(0, key)};
    c->epoch[digit(c, key)] = epoch;
    return c;
}

// A node of two clocks, of which neither has a place for the keys of the other one. Takes over both
// references.
static struct em_clock *fork_of(struct em_clock *a, struct em_clock *b)
{
    if (!a || !b)
        return a ? a : b;
    struct em_clock *c = new_node();
    if (!c) {
        em_clock_unref(a);
        em_clock_unref(b);
        return NULL;
    }
    const uint64_t key_a = first_key(a), key_b = first_key(b);
    const unsigned highest = 63 - (unsigned)__builtin_clzll(key_a ^ key_b),
                   shift = highest / DIGIT_BITS * DIGIT_BITS;
    *c = (struct em_clock){.references = 1, .shift = shift, .prefix = prefix(shift, key_a)};
    c->part[digit(c, key_a)] = a;
    c->part[digit(c, key_b)] = b;
    return c;
}

static void replace(struct em_clock **c, struct em_clock *by)
{
    em_clock_unref(*c);
    *c = by;
}

// ---- entries ----

uint64_t em_clock_get(const struct em_clock *c, uint64_t key)
{
    for (; c && has_place(c, key); c = c->part[digit(c, key)])
        if (!c->shift)
            return c->epoch[digit(c, key)];
    return 0;
}

// Takes over the reference, and copies the nodes on the way that others share.
static struct em_clock *raised(struct em_clock *c, uint64_t key, uint64_t epoch)
{
    if (!c)
        return leaf(key, epoch);
    if (!has_place(c, key))
        return fork_of(c, leaf(key, epoch));
    if (c->references > 1)
        replace(&c, copy_of(c));
    if (c && c->shift)
        c->part[digit(c, key)] = raised(c->part[digit(c, key)], key, epoch);
    else if (c)
        c->epoch[digit(c, key)] = epoch;
    return c;
}

bool em_clock_raise(struct em_clock **clock, uint64_t key, uint64_t epoch)
{
    em_assert_locked();
    if (em_clock_get(*clock, key) >= epoch)
        return false;
    *clock = raised(*clock, key, epoch);
    return true;
}

// ---- joins ----

static struct em_clock *joined(struct em_clock *a, struct em_clock *b);

// `a` with a part more, or another one, whose reference it takes over.
static struct em_clock *with_part(struct em_clock *a, unsigned i, struct em_clock *part)
{
    struct em_clock *c = part == a->part[i] ? em_clock_ref(a) : copy_of(a);
    if (!c || c == a)
        em_clock_unref(part);
    else
        replace(&c->part[i], part);
    return c;
}

// Two nodes with the same keys. The result is one of them, if that has as much.
static struct em_clock *joined_parts(struct em_clock *a, struct em_clock *b)
{
    struct em_clock c = *a;
    bool is_a = true, is_b = true;
    for (unsigned i = 0; i < PARTS; i++) {
        if (a->shift)
            c.part[i] = joined(a->part[i], b->part[i]);
        else if (b->epoch[i] > a->epoch[i])
            c.epoch[i] = b->epoch[i];
        is_a = is_a && (a->shift ? c.part[i] == a->part[i] : c.epoch[i] == a->epoch[i]);
        is_b = is_b && (a->shift ? c.part[i] == b->part[i] : c.epoch[i] == b->epoch[i]);
    }
    struct em_clock *r = is_a || is_b ? NULL : new_node();
    if (r) {
        c.references = 1;
        *r = c;
        return r;
    }
    for (unsigned i = 0; a->shift && i < PARTS; i++)
        em_clock_unref(c.part[i]);
    return is_a || is_b ? em_clock_ref(is_a ? a : b) : NULL;
}

static struct em_clock *joined(struct em_clock *a, struct em_clock *b)
{
    if (a == b || !a || !b)
        return em_clock_ref(a ? a : b);
    em_order_steps++;
    if (a->shift < b->shift) {
        struct em_clock *t = a;
        a = b;
        b = t;
    }
    const uint64_t key = first_key(b);
    if (!has_place(a, key))
        return fork_of(em_clock_ref(a), em_clock_ref(b));
    if (a->shift == b->shift)
        return joined_parts(a, b);
    return with_part(a, digit(a, key), joined(a->part[digit(a, key)], b));
}

void em_clock_join(struct em_clock **c, struct em_clock *other)
{
    em_assert_locked();
    if (*c != other && other)
        replace(c, joined(*c, other));
}

// ---- dropped entries ----

static struct em_clock *pruned_leaf(struct em_clock *c, uint64_t first, uint64_t last,
                                    uint64_t epoch)
{
    struct em_clock left = *c;
    bool empty = true, same = true;
    for (unsigned i = 0; i < PARTS; i++) {
        const uint64_t key = first_key(c) + i;
        if (key >= first && key <= last && left.epoch[i] <= epoch)
            left.epoch[i] = 0;
        empty = empty && !left.epoch[i];
        same = same && left.epoch[i] == c->epoch[i];
    }
    if (same)
        return em_clock_ref(c);
    return empty ? NULL : copy_of(&left);
}

static struct em_clock *pruned(struct em_clock *c, uint64_t first, uint64_t last, uint64_t epoch)
{
    if (!c || first > last_key(c) || last < first_key(c))
        return em_clock_ref(c);
    if (!c->shift)
        return pruned_leaf(c, first, last, epoch);
    struct em_clock left = *c, *only = NULL;
    unsigned count = 0;
    bool same = true;
    for (unsigned i = 0; i < PARTS; i++) {
        left.part[i] = pruned(c->part[i], first, last, epoch);
        same = same && left.part[i] == c->part[i];
        if (left.part[i]) {
            only = left.part[i];
            count++;
        }
    }
    struct em_clock *r = same ? em_clock_ref(c) : count > 1 ? copy_of(&left) : em_clock_ref(only);
    for (unsigned i = 0; i < PARTS; i++)
        em_clock_unref(left.part[i]);
    return r;
}

void em_clock_prune(struct em_clock **c, uint64_t first, uint64_t last, uint64_t epoch)
{
    em_assert_locked();
    replace(c, pruned(*c, first, last, epoch));
}
