// SPDX-License-Identifier: MIT
// The B+ tree of a range map: insertion, removal and look-up. rangemap_gap.c searches for gaps.
#include "rangemap.h"

#include <errno.h>
#include <string.h>

#include "alloc.h"
#include "rangemap_node.h"

void dm_rangemap_init(struct dm_rangemap *map)
{
    memset(map, 0, sizeof *map);
}

static void free_nodes(node *n)
{
    if (!n)
        return;
    if (!n->leaf)
        for (unsigned i = 0; i < n->count; i++)
            free_nodes(n->slot[i].ptr);
    dm_free(n);
}

void dm_rangemap_finish(struct dm_rangemap *map)
{
    free_nodes(map->root);
    for (node *n = map->spare; n;) {
        node *next = n->slot[0].ptr;
        dm_free(n);
        n = next;
    }
    memset(map, 0, sizeof *map);
}

// The nodes that an insertion at `start` takes: one for each full node that it passes, because it
// splits them, and a new root if the root is full or missing.
static unsigned count_taken(const struct dm_rangemap *map, uint64_t start)
{
    const node *n = map->root;
    if (!n)
        return 1;
    unsigned count = n->count == SLOTS ? 2 : 0;
    while (!n->leaf) {
        n = n->slot[node_search(n, start)].ptr;
        count += n->count == SLOTS;
    }
    return count;
}

// Makes sure that there are enough spare nodes for an insertion.
static int stock_nodes(struct dm_rangemap *map, uint64_t start)
{
    const unsigned count = map->spares <= map->height ? count_taken(map, start) : 0;
    while (map->spares < count) {
        node *n = dm_alloc(sizeof *n);
        if (!n)
            return -ENOMEM;
        n->slot[0].ptr = map->spare;
        map->spare = n;
        map->spares++;
    }
    return 0;
}

void dm_rangemap_prepare(struct dm_rangemap *map)
{
    if (!map->root)
        (void)stock_nodes(map, 0);
}

static node *take_node(struct dm_rangemap *map, bool leaf)
{
    node *n = map->spare;
    map->spare = n->slot[0].ptr;
    map->spares--;
    n->count = 0;
    n->leaf = leaf;
    memset(n->start, 0xff, sizeof n->start);
    return n;
}

static void give_node(struct dm_rangemap *map, node *n)
{
    if (map->spares >= HEIGHT_MAX) {
        dm_free(n);
        return;
    }
    n->slot[0].ptr = map->spare;
    map->spare = n;
    map->spares++;
}

static void fill_range(const node *n, unsigned i, struct dm_range *out)
{
    out->start = n->start[i];
    out->size = n->slot[i].last - n->start[i] + 1;
    out->owner = n->slot[i].ptr;
}

bool dm_rangemap_find(const struct dm_rangemap *map, uint64_t address, struct dm_range *out)
{
    const node *n = map->root;
    if (!n)
        return false;
    unsigned i = node_search(n, address);
    while (!n->leaf) {
        n = n->slot[i].ptr;
        i = node_search(n, address);
    }
    if (address < n->start[i] || address > n->slot[i].last)
        return false;
    fill_range(n, i, out);
    return true;
}

void *dm_rangemap_owner(const struct dm_rangemap *map, uint64_t address)
{
    struct dm_range r;
    return dm_rangemap_find(map, address, &r) ? r.owner : NULL;
}

bool dm_rangemap_previous(const struct dm_rangemap *map, uint64_t address, struct dm_range *out)
{
    const node *n = map->root;
    // A slot's start is the exact start of its first range, so the search never has to backtrack.
    if (!n || address < n->start[0])
        return false;
    while (!n->leaf)
        n = n->slot[node_search(n, address)].ptr;
    fill_range(n, node_search(n, address), out);
    return true;
}

bool dm_rangemap_next(const struct dm_rangemap *map, uint64_t address, struct dm_range *out)
{
    const node *n = map->root;
    if (!n)
        return false;
    for (;;) {
        unsigned i = node_search(n, address);
        if (n->slot[i].last < address)
            i++;
        if (i == n->count)
            return false; // only possible in the root: a child is chosen if it ends at or after
                          // `address`
        if (n->leaf) {
            fill_range(n, i, out);
            return true;
        }
        n = n->slot[i].ptr;
    }
}

bool dm_rangemap_overlaps(const struct dm_rangemap *map, uint64_t start, uint64_t size)
{
    struct dm_range r;
    if (size == 0 || !dm_rangemap_next(map, start, &r))
        return false;
    return r.start < start || r.start - start < size;
}

static void move_slots(node *to, unsigned at, const node *from, unsigned first, unsigned count)
{
    memmove(to->start + at, from->start + first, count * sizeof *to->start);
    memmove(to->slot + at, from->slot + first, count * sizeof *to->slot);
}

static void open_slot(node *n, unsigned i)
{
    move_slots(n, i + 1, n, i, n->count - i);
    n->count++;
}

static void close_slot(node *n, unsigned i)
{
    n->count--;
    move_slots(n, i, n, i + 1, n->count - i);
    n->start[n->count] = UINT64_MAX;
}

static void cut_slots(node *n, unsigned count)
{
    for (unsigned i = count; i < n->count; i++)
        n->start[i] = UINT64_MAX;
    n->count = count;
}

// Splits the full child i of n in two. Most ranges are added at the end, so there the left half is
// left nearly full.
static void split_child(struct dm_rangemap *map, node *n, unsigned i, uint64_t address)
{
    node *left = n->slot[i].ptr, *right = take_node(map, left->leaf);
    unsigned keep = address > left->start[SLOTS - 1] ? SLOTS - SLOTS_MIN : SLOTS / 2;
    move_slots(right, 0, left, keep, SLOTS - keep);
    right->count = SLOTS - keep;
    cut_slots(left, keep);
    open_slot(n, i + 1);
    n->slot[i + 1].ptr = right;
    node_summarise(n, i);
    node_summarise(n, i + 1);
}

int dm_rangemap_insert(struct dm_rangemap *map, uint64_t start, uint64_t size, void *owner)
{
    uint64_t last;
    if (size == 0 || __builtin_add_overflow(start, size - 1, &last))
        return -EINVAL;
    if (dm_rangemap_overlaps(map, start, size))
        return -EEXIST;
    int r = stock_nodes(map, start);
    if (r)
        return r;

    if (!map->root) {
        map->root = take_node(map, true);
        map->height = 1;
    }
    if (map->root->count == SLOTS) {
        node *root = take_node(map, false);
        root->count = 1;
        root->slot[0].ptr = map->root;
        map->root = root;
        map->height++;
        split_child(map, root, 0, start);
    }
    node *path[HEIGHT_MAX], *n = map->root;
    unsigned slot[HEIGHT_MAX], depth = 0;
    while (!n->leaf) {
        unsigned i = node_search(n, start);
        if (((node *)n->slot[i].ptr)->count == SLOTS) {
            split_child(map, n, i, start);
            i = node_search(n, start);
        }
        path[depth] = n;
        slot[depth++] = i;
        n = n->slot[i].ptr;
    }
    unsigned at = n->count && start > n->start[0] ? node_search(n, start) + 1 : 0;
    open_slot(n, at);
    n->start[at] = start;
    n->slot[at].last = last;
    n->slot[at].gap = 0;
    n->slot[at].ptr = owner;
    while (depth-- > 0)
        node_summarise(path[depth], slot[depth]);
    map->count++;
    return 0;
}

// Child i of n has become small: merges it with a neighbour, or moves slots from one. There always
// is a neighbour: every node except the root has at least SLOTS_MIN slots, and a root with a single
// child is removed.
static void refill_child(struct dm_rangemap *map, node *n, unsigned i)
{
    unsigned l = i > 0 ? i - 1 : i;
    node *left = n->slot[l].ptr, *right = n->slot[l + 1].ptr;
    unsigned total = left->count + right->count;
    if (total <= SLOTS * 3 / 4) {
        move_slots(left, left->count, right, 0, right->count);
        left->count = total;
        give_node(map, right);
        close_slot(n, l + 1);
        node_summarise(n, l);
        return;
    }
    unsigned keep = total / 2;
    if (left->count > keep) {
        unsigned moved = left->count - keep;
        move_slots(right, moved, right, 0, right->count);
        move_slots(right, 0, left, keep, moved);
        right->count += moved;
        cut_slots(left, keep);
    } else if (left->count < keep) {
        unsigned moved = keep - left->count, rest = right->count - moved;
        move_slots(left, left->count, right, 0, moved);
        left->count = keep;
        move_slots(right, 0, right, moved, rest);
        cut_slots(right, rest);
    }
    node_summarise(n, l);
    node_summarise(n, l + 1);
}

int dm_rangemap_remove(struct dm_rangemap *map, uint64_t start, struct dm_range *removed)
{
    node *path[HEIGHT_MAX], *n = map->root;
    unsigned slot[HEIGHT_MAX], depth = 0;
    if (!n)
        return -ENOENT;
    unsigned i = node_search(n, start);
    while (!n->leaf) {
        path[depth] = n;
        slot[depth++] = i;
        n = n->slot[i].ptr;
        i = node_search(n, start);
    }
    if (n->start[i] != start)
        return -ENOENT;
    if (removed)
        fill_range(n, i, removed);
    close_slot(n, i);
    map->count--;

    while (depth-- > 0) {
        node *parent = path[depth], *child = parent->slot[slot[depth]].ptr;
        node_summarise(parent, slot[depth]);
        if (child->count < SLOTS_MIN)
            refill_child(map, parent, slot[depth]);
    }
    while (!map->root->leaf && map->root->count == 1) {
        node *root = map->root;
        map->root = root->slot[0].ptr;
        map->height--;
        give_node(map, root);
    }
    if (map->root->count == 0) {
        give_node(map, map->root);
        map->root = NULL;
        map->height = 0;
    }
    return 0;
}
