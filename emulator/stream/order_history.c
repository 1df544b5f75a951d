// SPDX-License-Identifier: MIT
// The history of memory as a tree of records, ordered by their first bytes. Records may overlap, so
// each node has the furthest end of its subtree. Random ranks keep the tree balanced (a treap).
#include "order_history.h"

#include "alloc.h"
#include "lock.h"

enum { PARTLY_MOST = 64 }; // records with gaps that an access meets, but does not cover

static struct em_order_record *root;
static uint64_t count;

uint64_t em_history_count(void)
{
    em_assert_locked();
    return count;
}

// ---- the tree ----

static bool goes_before(const struct em_order_record *a, const struct em_order_record *b)
{
    return a->bytes.first != b->bytes.first ? a->bytes.first < b->bytes.first
                                            : (uintptr_t)a < (uintptr_t)b;
}

static void update(struct em_order_record *r)
{
    r->furthest = r->bytes.end;
    if (r->left && r->left->furthest > r->furthest)
        r->furthest = r->left->furthest;
    if (r->right && r->right->furthest > r->furthest)
        r->furthest = r->right->furthest;
}

static void split_at(struct em_order_record *tree, const struct em_order_record *at,
                     struct em_order_record **lower, struct em_order_record **higher)
{
    if (!tree) {
        *lower = *higher = NULL;
        return;
    }
    if (goes_before(tree, at)) {
        split_at(tree->right, at, &tree->right, higher);
        *lower = tree;
    } else {
        split_at(tree->left, at, lower, &tree->left);
        *higher = tree;
    }
    update(tree);
}

static struct em_order_record *merge(struct em_order_record *a, struct em_order_record *b)
{
    if (!a || !b)
        return a ? a : b;
    struct em_order_record *top = a->rank > b->rank ? a : b;
    if (top == a)
        a->right = merge(a->right, b);
    else
        b->left = merge(a, b->left);
    update(top);
    return top;
}

static void insert(struct em_order_record **at, struct em_order_record *r)
{
    if (*at && (*at)->rank > r->rank) {
        insert(goes_before(r, *at) ? &(*at)->left : &(*at)->right, r);
    } else {
        split_at(*at, r, &r->left, &r->right);
        *at = r;
    }
    update(*at);
}

static void remove_from(struct em_order_record **at, struct em_order_record *r)
{
    if (*at == r) {
        *at = merge(r->left, r->right);
        return;
    }
    remove_from(goes_before(r, *at) ? &(*at)->left : &(*at)->right, r);
    update(*at);
}

static bool add(const struct em_footprint *bytes, const struct em_order_who *who)
{
    static uint32_t random = 1;
    struct em_order_record *r = dm_alloc(sizeof *r);
    if (!r)
        return false;
    random = random * 1664525 + 1013904223;
    *r = (struct em_order_record){.bytes = *bytes, .who = *who, .rank = random};
    insert(&root, r);
    count++;
    return true;
}

static void discard(struct em_order_record *r)
{
    remove_from(&root, r);
    count--;
    dm_free(r);
}

// Lists the records that share a byte with [first, end), apart from gaps.
static void find(struct em_order_record *tree, uint64_t first, uint64_t end,
                 struct em_order_record **hits)
{
    while (tree && tree->furthest > first) {
        find(tree->left, first, end, hits);
        if (tree->bytes.first >= end)
            return;
        if (tree->bytes.end > first) {
            tree->next_hit = *hits;
            *hits = tree;
        }
        tree = tree->right;
    }
}

// ---- accesses that replace others ----

static bool is_same(const struct em_footprint *a, const struct em_footprint *b)
{
    if (a->kind != b->kind || a->first != b->first || a->end != b->end)
        return false;
    if (a->kind == EM_ROWS)
        return a->row_B == b->row_B && a->pitch_B == b->pitch_B;
    return a->kind == EM_SPAN ||
           (a->storage == b->storage && a->level == b->level && a->at.x_B == b->at.x_B &&
            a->at.y == b->at.y && a->at.z == b->at.z && a->extent.width_B == b->extent.width_B &&
            a->extent.height == b->extent.height && a->extent.depth == b->extent.depth);
}

static bool is_inside(uint64_t at, uint64_t size, uint64_t of_at, uint64_t of_size)
{
    return at >= of_at && at + size <= of_at + of_size;
}

// Whether each byte of `b` is one of `a`.
static bool covers(const struct em_footprint *a, const struct em_footprint *b)
{
    if (a->kind == EM_SPAN)
        return a->first <= b->first && a->end >= b->end;
    if (a->kind == EM_BOX && b->kind == EM_BOX)
        return a->storage == b->storage && a->level == b->level &&
               is_inside(b->at.x_B, b->extent.width_B, a->at.x_B, a->extent.width_B) &&
               is_inside(b->at.y, b->extent.height, a->at.y, a->extent.height) &&
               is_inside(b->at.z, b->extent.depth, a->at.z, a->extent.depth);
    return is_same(a, b);
}

// Takes [first, end) away from a record without gaps. Returns false if that makes two of one and
// the host runs out of memory.
static bool cut(struct em_order_record *r, uint64_t first, uint64_t end)
{
    struct em_footprint before = r->bytes, after = r->bytes;
    before.end = first;
    after.first = end;
    struct em_order_who who = r->who;
    bool two = false;
    if (before.first < before.end && after.first < after.end)
        two = true;
    else if (before.first >= before.end && after.first >= after.end) {
        discard(r);
        return true;
    }
    remove_from(&root, r);
    r->bytes = before.first < before.end ? before : after;
    insert(&root, r);
    return !two || add(&after, &who);
}

// The new access replaces an older one, as far as it covers it. Returns false as `cut` does.
static bool supersede(struct em_order_record *older, const struct em_footprint *by,
                      unsigned *partly)
{
    if (covers(by, &older->bytes)) {
        discard(older);
        return true;
    }
    if (by->kind == EM_SPAN && older->bytes.kind == EM_SPAN)
        return cut(older, by->first, by->end);
    if (++*partly > PARTLY_MOST)
        discard(older);
    return true;
}

bool em_history_add(const struct em_footprint *bytes, const struct em_order_who *who,
                    em_order_judge *judge, void *argument)
{
    em_assert_locked();
    struct em_order_record *hits = NULL, *same = NULL;
    const bool reads = who->act == EM_ORDER_READ;
    unsigned partly = 0;
    bool enough = true;
    find(root, bytes->first, bytes->end, &hits);
    for (struct em_order_record *r = hits, *next; r; r = next) {
        next = r->next_hit;
        uint64_t first, end;
        if (!em_footprints_meet(bytes, &r->bytes, &first, &end))
            continue;
        bool both_read = reads && r->who.act == EM_ORDER_READ;
        bool before = judge(r, bytes, who, !both_read, argument);
        // Reads do not replace a write. An access that was reported counts as ordered.
        if (both_read ? !before : reads)
            continue;
        if (!same && is_same(&r->bytes, bytes))
            same = r;
        else
            enough = supersede(r, bytes, &partly) && enough;
    }
    if (same)
        same->who = *who;
    else
        enough = add(bytes, who) && enough;
    return enough;
}

void em_history_end(const struct em_footprint *bytes, const struct em_order_who *who,
                    em_order_judge *judge, void *argument)
{
    em_assert_locked();
    struct em_order_record *hits = NULL;
    uint64_t first, end;
    find(root, bytes->first, bytes->end, &hits);
    for (struct em_order_record *r = hits; r; r = r->next_hit)
        if (em_footprints_meet(bytes, &r->bytes, &first, &end))
            judge(r, bytes, who, true, argument);
    em_history_forget(bytes->first, bytes->end);
}

void em_history_forget(uint64_t first, uint64_t end)
{
    em_assert_locked();
    struct em_order_record *hits = NULL;
    find(root, first, end, &hits);
    for (struct em_order_record *r = hits, *next; r; r = next) {
        next = r->next_hit;
        if (r->bytes.kind == EM_SPAN)
            cut(r, first, end);
        else
            discard(r);
    }
}

static struct em_order_record *sweep(struct em_order_record *tree,
                                     bool (*drop)(const struct em_order_record *, void *),
                                     void *argument)
{
    if (!tree)
        return NULL;
    tree->left = sweep(tree->left, drop, argument);
    tree->right = sweep(tree->right, drop, argument);
    if (!drop(tree, argument)) {
        update(tree);
        return tree;
    }
    struct em_order_record *rest = merge(tree->left, tree->right);
    dm_free(tree);
    count--;
    return rest;
}

void em_history_sweep(bool (*drop)(const struct em_order_record *, void *), void *argument)
{
    em_assert_locked();
    root = sweep(root, drop, argument);
}
