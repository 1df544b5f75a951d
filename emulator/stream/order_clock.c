// SPDX-License-Identifier: MIT
// Clocks as trees that share their parts.
#include "order_clock.h"

#include "alloc.h"
#include "lock.h"

struct em_clock {
    uint32_t references;
    uint64_t key, epoch;
    struct em_clock *left, *right; // references; lower and higher keys, of lower ranks
};

bool em_clock_failed;
uint64_t em_order_steps;

// Nodes for the next clocks, linked by `left`: most calls drop as many nodes as they make.
enum { SPARE_MOST = 1 << 14 };
static struct em_clock *spare;
static unsigned spares;

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
    em_clock_unref(c->left);
    em_clock_unref(c->right);
    if (spares == SPARE_MOST) {
        dm_free(c);
        return;
    }
    c->left = spare;
    spare = c;
    spares++;
}

static struct em_clock *new_node(void)
{
    struct em_clock *c = spare;
    if (!c)
        return dm_alloc(sizeof *c);
    spare = c->left;
    spares--;
    return c;
}

uint64_t em_clock_get(const struct em_clock *c, uint64_t key)
{
    while (c && c->key != key)
        c = key < c->key ? c->left : c->right;
    return c ? c->epoch : 0;
}

// The rank decides which of two nodes is nearer to the root.
static uint64_t rank(uint64_t key)
{
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

static bool is_above(const struct em_clock *a, const struct em_clock *b)
{
    uint64_t ra = rank(a->key), rb = rank(b->key);
    return ra != rb ? ra > rb : a->key > b->key;
}

// A node with these parts, whose references it takes over. It is `like`, or `or_like`, if that has
// the same parts.
static struct em_clock *node(uint64_t key, uint64_t epoch, struct em_clock *left,
                             struct em_clock *right, struct em_clock *like,
                             struct em_clock *or_like)
{
    struct em_clock *same[] = {like, or_like};
    for (unsigned i = 0; i < 2; i++) {
        struct em_clock *s = same[i];
        if (!s || s->epoch != epoch || s->left != left || s->right != right)
            continue;
        em_clock_unref(left);
        em_clock_unref(right);
        return em_clock_ref(s);
    }
    struct em_clock *c = new_node();
    if (!c) {
        em_clock_failed = true;
        em_clock_unref(left);
        em_clock_unref(right);
        return NULL;
    }
    *c = (struct em_clock){1, key, epoch, left, right};
    return c;
}

// The parts of a clock with lower and higher keys than `key`, which it does not have.
static void split(struct em_clock *c, uint64_t key, struct em_clock **lower,
                  struct em_clock **higher)
{
    if (!c) {
        *lower = *higher = NULL;
    } else if (c->key < key) {
        struct em_clock *part;
        split(c->right, key, &part, higher);
        *lower = node(c->key, c->epoch, em_clock_ref(c->left), part, c, NULL);
    } else {
        struct em_clock *part;
        split(c->left, key, lower, &part);
        *higher = node(c->key, c->epoch, part, em_clock_ref(c->right), c, NULL);
    }
}

static struct em_clock *joined(struct em_clock *a, struct em_clock *b)
{
    em_order_steps++;
    if (a == b || !a || !b)
        return em_clock_ref(a ? a : b);
    if (a->key == b->key) {
        struct em_clock *left = joined(a->left, b->left), *right = joined(a->right, b->right);
        return node(a->key, a->epoch > b->epoch ? a->epoch : b->epoch, left, right, a, b);
    }
    if (is_above(b, a)) {
        struct em_clock *t = a;
        a = b;
        b = t;
    }
    struct em_clock *lower, *higher; // b does not have a's key, or that would be above a's
    split(b, a->key, &lower, &higher);
    struct em_clock *left = joined(a->left, lower), *right = joined(a->right, higher);
    em_clock_unref(lower);
    em_clock_unref(higher);
    return node(a->key, a->epoch, left, right, a, NULL);
}

static void replace(struct em_clock **c, struct em_clock *by)
{
    em_clock_unref(*c);
    *c = by;
}

void em_clock_join(struct em_clock **c, struct em_clock *other)
{
    em_assert_locked();
    if (*c != other && other)
        replace(c, joined(*c, other));
}

// Raises an entry that is there, and copies the nodes on the way to it that others share.
static void raise_entry(struct em_clock **at, uint64_t key, uint64_t epoch)
{
    for (;;) {
        struct em_clock *c = *at;
        if (c->references > 1) {
            struct em_clock *copy = new_node();
            if (!copy) {
                em_clock_failed = true;
                return;
            }
            *copy = (struct em_clock){1, c->key, c->epoch, em_clock_ref(c->left),
                                      em_clock_ref(c->right)};
            c->references--;
            *at = c = copy;
        }
        if (c->key == key) {
            c->epoch = epoch;
            return;
        }
        at = key < c->key ? &c->left : &c->right;
    }
}

bool em_clock_raise(struct em_clock **clock, uint64_t key, uint64_t epoch)
{
    em_assert_locked();
    struct em_clock *c = *clock;
    bool shared = false;
    while (c && c->key != key) {
        shared = shared || c->references > 1;
        c = key < c->key ? c->left : c->right;
    }
    if (!epoch || (c && c->epoch >= epoch))
        return false;
    if (c && !shared && c->references == 1) {
        c->epoch = epoch;
    } else if (c) {
        raise_entry(clock, key, epoch);
    } else {
        struct em_clock *one = node(key, epoch, NULL, NULL, NULL, NULL);
        em_clock_join(clock, one);
        em_clock_unref(one);
    }
    return true;
}

// All keys of `a` are lower than those of `b`. Takes over both references.
static struct em_clock *merged(struct em_clock *a, struct em_clock *b)
{
    struct em_clock *r;
    if (!a || !b)
        return a ? a : b;
    if (is_above(a, b)) {
        r = node(a->key, a->epoch, em_clock_ref(a->left), merged(em_clock_ref(a->right), b), a,
                 NULL);
        em_clock_unref(a);
    } else {
        r = node(b->key, b->epoch, merged(a, em_clock_ref(b->left)), em_clock_ref(b->right), b,
                 NULL);
        em_clock_unref(b);
    }
    return r;
}

static struct em_clock *pruned(struct em_clock *c, uint64_t first, uint64_t last, uint64_t epoch)
{
    if (!c)
        return NULL;
    struct em_clock *left = c->key < first ? em_clock_ref(c->left)
                                           : pruned(c->left, first, last, epoch),
                    *right = c->key > last ? em_clock_ref(c->right)
                                           : pruned(c->right, first, last, epoch);
    if (c->key < first || c->key > last || c->epoch > epoch)
        return node(c->key, c->epoch, left, right, c, NULL);
    return merged(left, right);
}

void em_clock_prune(struct em_clock **c, uint64_t first, uint64_t last, uint64_t epoch)
{
    em_assert_locked();
    replace(c, pruned(*c, first, last, epoch));
}
