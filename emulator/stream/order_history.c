// SPDX-License-Identifier: MIT
// The history of memory as two trees of records, one of writes and one of reads, ordered by their
// bytes; reads of the same bytes by who has made them. Records may overlap, so each node has the
// furthest end of its subtree. Random ranks keep the trees balanced (treaps).
#include "order_history.h"

#include <limits.h>

#include "alloc.h"
#include "lock.h"
#include "order_state.h"

enum {
    PARTLY_MOST = 64, // records with gaps that an access meets, but does not cover
    SPARE_MOST = 1 << 14,
    NEAR_MOST = 8 // reads that a read looks at to find older ones of its stream
};

static struct em_order_record *writes, *reads;
static uint64_t count;
static struct em_order_record *spare; // for the next records, linked by `left`
static unsigned spares;

static struct em_order_record **tree_of(uint8_t act)
{
    return act == EM_ORDER_READ ? &reads : &writes;
}

uint64_t em_history_count(void)
{
    em_assert_locked();
    return count;
}

// ---- the tree ----

// By bytes, then by who reads them. Of steps, the same one of each launch comes together.
static int compared(const struct em_footprint *a_bytes, const struct em_order_who *a,
                    const struct em_footprint *b_bytes, const struct em_order_who *b)
{
    if (a_bytes->first != b_bytes->first)
        return a_bytes->first < b_bytes->first ? -1 : 1;
    if (a_bytes->end != b_bytes->end)
        return a_bytes->end < b_bytes->end ? -1 : 1;
    if (a->act != EM_ORDER_READ) // so that the access of a record can be replaced by another one
        return 0;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->step == b->step ? 0 : a->step < b->step ? -1 : 1;
}

static bool goes_before(const struct em_order_record *a, const struct em_order_record *b)
{
    int order = compared(&a->bytes, &a->who, &b->bytes, &b->who);
    return order ? order < 0 : (uintptr_t)a < (uintptr_t)b;
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

// Replaces the access of a record.
static void set_who(struct em_order_record *r, const struct em_order_who *who)
{
    if (who->launch)
        who->launch->references++;
    em_order_launch_unref(r->who.launch);
    r->who = *who;
    r->who.near = NULL;
}

// ---- records that streams used last ----

static struct em_order_record **cell_of(struct em_order_near *near, uint8_t act)
{
    return act == EM_ORDER_READ ? &near->read : &near->write;
}

static void forget_near(struct em_order_record *r)
{
    if (r->holder)
        *r->holder = NULL;
    r->holder = NULL;
}

void em_history_forget_near(struct em_order_near *near)
{
    em_assert_locked();
    if (near->read)
        forget_near(near->read);
    if (near->write)
        forget_near(near->write);
}

static void keep_near(const struct em_order_who *who, struct em_order_record *r)
{
    struct em_order_record **cell = who->near ? cell_of(who->near, who->act) : NULL;
    if (!cell || *cell == r)
        return;
    forget_near(r);
    if (*cell)
        forget_near(*cell);
    *cell = r;
    r->holder = cell;
}

// The record of the last access, if the new one has the same bytes, or NULL.
static struct em_order_record *near_record(const struct em_footprint *bytes,
                                           const struct em_order_who *who)
{
    struct em_order_record *r = who->near ? *cell_of(who->near, who->act) : NULL;
    return r && em_footprints_are_same(bytes, &r->bytes) ? r : NULL;
}

// ---- changes of records ----

static void free_record(struct em_order_record *r)
{
    forget_near(r);
    em_order_launch_unref(r->who.launch);
    count--;
    if (spares == SPARE_MOST) {
        dm_free(r);
        return;
    }
    r->left = spare;
    spare = r;
    spares++;
}

static struct em_order_record *new_record(void)
{
    struct em_order_record *r = spare;
    if (!r)
        return dm_alloc(sizeof *r);
    spare = r->left;
    spares--;
    return r;
}

static bool add(const struct em_footprint *bytes, const struct em_order_who *who, bool alone)
{
    static uint32_t random = 1;
    struct em_order_record *r = new_record();
    if (!r)
        return false;
    random = random * 1664525 + 1013904223;
    *r = (struct em_order_record){.bytes = *bytes, .rank = random, .alone = alone};
    set_who(r, who);
    insert(tree_of(who->act), r);
    keep_near(who, r);
    count++;
    return true;
}

static void discard(struct em_order_record *r)
{
    remove_from(tree_of(r->who.act), r);
    free_record(r);
}

// Records that share a byte with [first, end), apart from gaps.
struct hits {
    uint64_t first, end;
    unsigned left; // no more than so many are listed
    struct em_order_record *list;
};

static void find(struct em_order_record *tree, struct hits *h)
{
    while (tree && h->left && tree->furthest > h->first) {
        find(tree->left, h);
        if (tree->bytes.first >= h->end || !h->left)
            return;
        if (tree->bytes.end > h->first) {
            tree->next_hit = h->list;
            h->list = tree;
            h->left--;
        }
        tree = tree->right;
    }
}

static struct em_order_record *find_all(uint64_t first, uint64_t end)
{
    struct hits h = {.first = first, .end = end, .left = UINT_MAX};
    find(reads, &h);
    find(writes, &h);
    return h.list;
}

// ---- accesses that replace others ----

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
    return em_footprints_are_same(a, b);
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
    forget_near(r);
    remove_from(tree_of(who.act), r);
    r->bytes = before.first < before.end ? before : after;
    insert(tree_of(who.act), r);
    return !two || add(&after, &who, false);
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
    if (++*partly > PARTLY_MOST) {
        em_order.incomplete = true;
        discard(older);
    }
    return true;
}

static bool meets(const struct em_order_record *r, const struct em_footprint *bytes)
{
    uint64_t first, end;
    return em_footprints_meet(bytes, &r->bytes, &first, &end);
}

// The access replaces all others of its bytes. One that was reported counts as ordered.
static bool add_write(const struct em_footprint *bytes, const struct em_order_who *who,
                      em_order_judge *judge, void *argument)
{
    struct em_order_record *same = near_record(bytes, who);
    unsigned partly = 0;
    bool enough = true, alone = bytes->kind == EM_SPAN;
    if (same && same->alone) {
        judge(same, bytes, who, true, argument);
        set_who(same, who);
        return true;
    }
    same = NULL;
    for (struct em_order_record *r = find_all(bytes->first, bytes->end), *next; r; r = next) {
        next = r->next_hit;
        r->alone = false;
        if (!meets(r, bytes)) {
            alone = false;
            continue;
        }
        judge(r, bytes, who, true, argument);
        if (!same && r->who.act != EM_ORDER_READ && em_footprints_are_same(&r->bytes, bytes)) {
            same = r;
            continue;
        }
        alone = alone && (r->bytes.kind == EM_SPAN || covers(bytes, &r->bytes));
        enough = supersede(r, bytes, &partly) && enough;
    }
    if (!same)
        return add(bytes, who, alone) && enough;
    set_who(same, who);
    same->alone = alone;
    keep_near(who, same);
    return enough;
}

// The read of the same bytes by the same stream, or the same step of a graph, or NULL. It is
// ordered before the new one.
static struct em_order_record *earlier_read(const struct em_footprint *bytes,
                                            const struct em_order_who *who)
{
    struct em_order_record *r = near_record(bytes, who);
    if (r && r->who.key == who->key && r->who.step == who->step)
        return r;
    for (r = reads; r;) {
        int order = compared(bytes, who, &r->bytes, &r->who);
        if (!order)
            break;
        r = order < 0 ? r->left : r->right;
    }
    // Others differ from it in the gaps between their rows.
    if (!r || !em_footprints_are_same(bytes, &r->bytes))
        return NULL;
    keep_near(who, r);
    return r;
}

static bool add_read(const struct em_footprint *bytes, const struct em_order_who *who,
                     em_order_judge *judge, void *argument)
{
    struct hits written = {.first = bytes->first, .end = bytes->end, .left = UINT_MAX},
                near = {.first = bytes->first, .end = bytes->end, .left = NEAR_MOST};
    unsigned partly = 0;
    bool enough = true;
    find(writes, &written);
    for (struct em_order_record *r = written.list; r; r = r->next_hit) {
        r->alone = false;
        if (meets(r, bytes))
            judge(r, bytes, who, true, argument);
    }
    struct em_order_record *earlier = earlier_read(bytes, who);
    if (earlier) {
        set_who(earlier, who);
        return true;
    }
    find(reads, &near);
    for (struct em_order_record *r = near.list, *next; r; r = next) {
        next = r->next_hit;
        if (r->who.key == who->key && meets(r, bytes) && judge(r, bytes, who, false, argument))
            enough = supersede(r, bytes, &partly) && enough;
    }
    return add(bytes, who, false) && enough;
}

bool em_history_add(const struct em_footprint *bytes, const struct em_order_who *who,
                    em_order_judge *judge, void *argument)
{
    em_assert_locked();
    return who->act == EM_ORDER_READ ? add_read(bytes, who, judge, argument)
                                     : add_write(bytes, who, judge, argument);
}

void em_history_end(const struct em_footprint *bytes, const struct em_order_who *who,
                    em_order_judge *judge, void *argument)
{
    em_assert_locked();
    for (struct em_order_record *r = find_all(bytes->first, bytes->end); r; r = r->next_hit)
        if (meets(r, bytes))
            judge(r, bytes, who, true, argument);
    em_history_forget(bytes->first, bytes->end);
}

void em_history_forget(uint64_t first, uint64_t end)
{
    em_assert_locked();
    for (struct em_order_record *r = find_all(first, end), *next; r; r = next) {
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
    free_record(tree);
    return rest;
}

void em_history_sweep(bool (*drop)(const struct em_order_record *, void *), void *argument)
{
    em_assert_locked();
    reads = sweep(reads, drop, argument);
    writes = sweep(writes, drop, argument);
}
