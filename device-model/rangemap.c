// SPDX-License-Identifier: MIT
// The B+ tree behind dm_rangemap: nodes of 32 slots, each slot with the extent and the largest gap
// of what lies under it.
#include "rangemap.h"

#include <errno.h>
#include <string.h>

#include "alloc.h"

enum { SLOTS = 32, LEAST = SLOTS / 4, HEIGHT_MAX = 24 };

struct dm_rangemap_node {
    unsigned count;
    bool leaf;
    // Unused slots hold UINT64_MAX, so that the search needs no count.
    uint64_t start[SLOTS]; // first byte of the range, or of the first range below
    struct slot {
        uint64_t last; // last byte (inclusive: a range may end at 2^64)
        uint64_t gap;  // inner nodes: the largest gap between two neighbours below; leaves: 0
        void *ptr;     // owner, or child
    } slot[SLOTS];
};

typedef struct dm_rangemap_node node;

void dm_rangemap_init(struct dm_rangemap *map)
{
    memset(map, 0, sizeof *map);
}

static void free_tree(node *n)
{
    if (!n)
        return;
    if (!n->leaf)
        for (unsigned i = 0; i < n->count; i++)
            free_tree(n->slot[i].ptr);
    dm_free(n);
}

void dm_rangemap_finish(struct dm_rangemap *map)
{
    free_tree(map->root);
    for (node *n = map->spare; n;) {
        node *next = n->slot[0].ptr;
        dm_free(n);
        n = next;
    }
    memset(map, 0, sizeof *map);
}

// An insertion splits at most one node a level and adds a root.
static int stock(struct dm_rangemap *map)
{
    while (map->spares < map->height + 2) {
        node *n = dm_alloc(sizeof *n);
        if (!n)
            return -ENOMEM;
        n->slot[0].ptr = map->spare;
        map->spare = n;
        map->spares++;
    }
    return 0;
}

static node *take(struct dm_rangemap *map, bool leaf)
{
    node *n = map->spare;
    map->spare = n->slot[0].ptr;
    map->spares--;
    n->count = 0;
    n->leaf = leaf;
    memset(n->start, 0xff, sizeof n->start);
    return n;
}

static void give(struct dm_rangemap *map, node *n)
{
    if (map->spares >= HEIGHT_MAX) {
        dm_free(n);
        return;
    }
    n->slot[0].ptr = map->spare;
    map->spare = n;
    map->spares++;
}

// The last slot whose start is not above `address`; 0 also where none is. Without branches: they
// would be guessed wrong.
static inline unsigned search(const node *n, uint64_t address)
{
    unsigned i = 0;
    i += (unsigned)(n->start[i + 16] <= address) << 4;
    i += (unsigned)(n->start[i + 8] <= address) << 3;
    i += (unsigned)(n->start[i + 4] <= address) << 2;
    i += (unsigned)(n->start[i + 2] <= address) << 1;
    i += (unsigned)(n->start[i + 1] <= address);
    // Only address UINT64_MAX can land on an unused slot.
    return __builtin_expect(i >= n->count, 0) ? n->count - 1 : i;
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
    unsigned i = search(n, address);
    while (!n->leaf) {
        n = n->slot[i].ptr;
        i = search(n, address);
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
    // A slot's start is the exact start of its first range, so the path never has to turn back.
    if (!n || address < n->start[0])
        return false;
    while (!n->leaf)
        n = n->slot[search(n, address)].ptr;
    fill_range(n, search(n, address), out);
    return true;
}

bool dm_rangemap_next(const struct dm_rangemap *map, uint64_t address, struct dm_range *out)
{
    const node *n = map->root;
    if (!n)
        return false;
    for (;;) {
        unsigned i = search(n, address);
        if (n->slot[i].last < address)
            i++;
        if (i == n->count)
            return false; // only in the root: below, the child was chosen because its last byte is
                          // not before `address`
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

// Brings slot i of the inner node n up to date with its child.
static void summarise(node *n, unsigned i)
{
    const node *c = n->slot[i].ptr;
    uint64_t gap = c->leaf ? 0 : c->slot[0].gap;
    for (unsigned k = 1; k < c->count; k++) {
        uint64_t between = c->start[k] - c->slot[k - 1].last - 1;
        gap = between > gap ? between : gap;
        if (!c->leaf && c->slot[k].gap > gap)
            gap = c->slot[k].gap;
    }
    n->start[i] = c->start[0];
    n->slot[i].last = c->slot[c->count - 1].last;
    n->slot[i].gap = gap;
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

static void cut(node *n, unsigned count)
{
    for (unsigned i = count; i < n->count; i++)
        n->start[i] = UINT64_MAX;
    n->count = count;
}

// Splits the full child i of n in two. Ranges are mostly added at the end, where the left half is
// then left nearly full.
static void split(struct dm_rangemap *map, node *n, unsigned i, uint64_t address)
{
    node *left = n->slot[i].ptr, *right = take(map, left->leaf);
    unsigned keep = address > left->start[SLOTS - 1] ? SLOTS - LEAST : SLOTS / 2;
    move_slots(right, 0, left, keep, SLOTS - keep);
    right->count = SLOTS - keep;
    cut(left, keep);
    open_slot(n, i + 1);
    n->slot[i + 1].ptr = right;
    summarise(n, i);
    summarise(n, i + 1);
}

int dm_rangemap_insert(struct dm_rangemap *map, uint64_t start, uint64_t size, void *owner)
{
    uint64_t last;
    if (size == 0 || __builtin_add_overflow(start, size - 1, &last))
        return -EINVAL;
    if (dm_rangemap_overlaps(map, start, size))
        return -EEXIST;
    int r = stock(map);
    if (r)
        return r;

    if (!map->root) {
        map->root = take(map, true);
        map->height = 1;
    }
    if (map->root->count == SLOTS) {
        node *root = take(map, false);
        root->count = 1;
        root->slot[0].ptr = map->root;
        map->root = root;
        map->height++;
        split(map, root, 0, start);
    }
    node *path[HEIGHT_MAX], *n = map->root;
    unsigned slot[HEIGHT_MAX], depth = 0;
    while (!n->leaf) {
        unsigned i = search(n, start);
        if (((node *)n->slot[i].ptr)->count == SLOTS) {
            split(map, n, i, start);
            i = search(n, start);
        }
        path[depth] = n;
        slot[depth++] = i;
        n = n->slot[i].ptr;
    }
    unsigned at = n->count && start > n->start[0] ? search(n, start) + 1 : 0;
    open_slot(n, at);
    n->start[at] = start;
    n->slot[at].last = last;
    n->slot[at].gap = 0;
    n->slot[at].ptr = owner;
    while (depth-- > 0)
        summarise(path[depth], slot[depth]);
    map->count++;
    return 0;
}

// Child i of n has become small: join it with a neighbour, or take slots from one. There is one:
// every node but the root has at least LEAST slots, and a root with a single child is dropped.
static void refill(struct dm_rangemap *map, node *n, unsigned i)
{
    unsigned l = i > 0 ? i - 1 : i;
    node *left = n->slot[l].ptr, *right = n->slot[l + 1].ptr;
    unsigned total = left->count + right->count;
    if (total <= SLOTS * 3 / 4) {
        move_slots(left, left->count, right, 0, right->count);
        left->count = total;
        give(map, right);
        close_slot(n, l + 1);
        summarise(n, l);
        return;
    }
    unsigned keep = total / 2;
    if (left->count > keep) {
        unsigned moved = left->count - keep;
        move_slots(right, moved, right, 0, right->count);
        move_slots(right, 0, left, keep, moved);
        right->count += moved;
        cut(left, keep);
    } else if (left->count < keep) {
        unsigned moved = keep - left->count, rest = right->count - moved;
        move_slots(left, left->count, right, 0, moved);
        left->count = keep;
        move_slots(right, 0, right, moved, rest);
        cut(right, rest);
    }
    summarise(n, l);
    summarise(n, l + 1);
}

int dm_rangemap_remove(struct dm_rangemap *map, uint64_t start, struct dm_range *removed)
{
    node *path[HEIGHT_MAX], *n = map->root;
    unsigned slot[HEIGHT_MAX], depth = 0;
    if (!n)
        return -ENOENT;
    unsigned i = search(n, start);
    while (!n->leaf) {
        path[depth] = n;
        slot[depth++] = i;
        n = n->slot[i].ptr;
        i = search(n, start);
    }
    if (n->start[i] != start)
        return -ENOENT;
    if (removed)
        fill_range(n, i, removed);
    close_slot(n, i);
    map->count--;

    while (depth-- > 0) {
        node *parent = path[depth], *child = parent->slot[slot[depth]].ptr;
        summarise(parent, slot[depth]);
        if (child->count < LEAST)
            refill(map, parent, slot[depth]);
    }
    while (!map->root->leaf && map->root->count == 1) {
        node *root = map->root;
        map->root = root->slot[0].ptr;
        map->height--;
        give(map, root);
    }
    if (map->root->count == 0) {
        give(map, map->root);
        map->root = NULL;
        map->height = 0;
    }
    return 0;
}

struct fit {
    uint64_t low, high, size, align, found;
};

// Whether [from, to] (inclusive) has room; the lowest place goes to f->found.
static bool fits(struct fit *f, uint64_t from, uint64_t to)
{
    uint64_t at, end;
    from = from < f->low ? f->low : from;
    to = to > f->high ? f->high : to;
    if (__builtin_add_overflow(from, f->align - 1, &at))
        return false;
    at &= ~(f->align - 1);
    if (__builtin_add_overflow(at, f->size - 1, &end) || from > to || end > to)
        return false;
    f->found = at;
    return true;
}

static bool gap_below(const node *n, struct fit *f)
{
    for (unsigned i = search(n, f->low); i < n->count; i++) {
        if (n->start[i] > f->high)
            return false;
        if (!n->leaf && n->slot[i].gap >= f->size && n->slot[i].last > f->low &&
            gap_below(n->slot[i].ptr, f))
            return true;
        if (i + 1 < n->count && n->start[i + 1] - n->slot[i].last - 1 >= f->size &&
            fits(f, n->slot[i].last + 1, n->start[i + 1] - 1))
            return true;
    }
    return false;
}

int dm_rangemap_gap(const struct dm_rangemap *map, uint64_t low, uint64_t high, uint64_t size,
                    uint64_t align, uint64_t *start)
{
    if (size == 0 || align == 0 || (align & (align - 1)))
        return -EINVAL;
    struct fit f = {low, high, size, align, 0};
    const node *n = map->root;
    bool found;
    if (!n)
        found = fits(&f, 0, UINT64_MAX);
    else
        found = (n->start[0] > 0 && fits(&f, 0, n->start[0] - 1)) || gap_below(n, &f) ||
                (n->slot[n->count - 1].last < UINT64_MAX &&
                 fits(&f, n->slot[n->count - 1].last + 1, UINT64_MAX));
    if (!found)
        return -ENOMEM;
    *start = f.found;
    return 0;
}

static int check_node(const node *n, unsigned level, unsigned height, uint64_t *count)
{
    if (n->count == 0 || n->count > SLOTS || n->leaf != (level + 1 == height))
        return -EILSEQ;
    for (unsigned i = 0; i < n->count; i++) {
        if (n->slot[i].last < n->start[i] || (i && n->start[i] <= n->slot[i - 1].last))
            return -EILSEQ;
        if (n->leaf) {
            ++*count;
            continue;
        }
        node copy = *n;
        summarise(&copy, i);
        if (copy.start[i] != n->start[i] || copy.slot[i].last != n->slot[i].last ||
            copy.slot[i].gap != n->slot[i].gap ||
            check_node(n->slot[i].ptr, level + 1, height, count))
            return -EILSEQ;
    }
    for (unsigned i = n->count; i < SLOTS; i++)
        if (n->start[i] != UINT64_MAX)
            return -EILSEQ;
    return 0;
}

int dm_rangemap_check(const struct dm_rangemap *map)
{
    uint64_t count = 0;
    if (map->root && check_node(map->root, 0, map->height, &count))
        return -EILSEQ;
    return count == map->count ? 0 : -EILSEQ;
}
