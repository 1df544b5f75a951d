// SPDX-License-Identifier: MIT
// Range maps: the search for gaps between ranges, and the check of a tree's invariants.
#include "rangemap.h"

#include <errno.h>

#include "rangemap_node.h"

struct fit {
    uint64_t low, high, size, align, found;
};

// Returns true if [from, to] (inclusive) has space for the range; f->found is then the lowest
// place.
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

// Searches the gaps under node n, skipping children whose largest gap is too small.
static bool gap_below(const node *n, struct fit *f)
{
    for (unsigned i = node_search(n, f->low); i < n->count; i++) {
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
        node_summarise(&copy, i);
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
