// SPDX-License-Identifier: MIT
// Sorted lists of address ranges.
#include "replay_range.h"

#include <stdlib.h>
#include <string.h>

static size_t first_after(const struct replay_ranges *r, uint64_t address)
{
    size_t low = 0, high = r->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (r->list[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct replay_range *replay_range_at(const struct replay_ranges *r, uint64_t address)
{
    const size_t i = first_after(r, address);
    return i < r->count && r->list[i].from <= address ? &r->list[i] : NULL;
}

static bool replay_range_make_space(struct replay_ranges *r, size_t count)
{
    if (r->count + count <= r->capacity)
        return true;
    const size_t more = r->capacity ? 2 * r->capacity : 64;
    struct replay_range *bigger = realloc(r->list, more * sizeof *bigger);
    if (!bigger)
        return false;
    r->list = bigger;
    r->capacity = more;
    return true;
}

bool replay_range_put(struct replay_ranges *r, struct replay_range added)
{
    const size_t at = first_after(r, added.from);
    size_t after = at, count = 0;
    struct replay_range parts[3];
    while (after < r->count && r->list[after].from < added.end)
        after++;
    if (!replay_range_make_space(r, 2))
        return false;
    if (after > at && r->list[at].from < added.from) {
        parts[count] = r->list[at];
        parts[count++].end = added.from;
    }
    parts[count++] = added;
    if (after > at && r->list[after - 1].end > added.end) {
        struct replay_range right = r->list[after - 1];
        right.actual += added.end - right.from;
        right.from = added.end;
        parts[count++] = right;
    }
    memmove(&r->list[at + count], &r->list[after], (r->count - after) * sizeof *r->list);
    memcpy(&r->list[at], parts, count * sizeof *parts);
    r->count = r->count - (after - at) + count;
    return true;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct replay_range *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

size_t replay_range_join(struct replay_range *list, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(list, count, sizeof *list, compare_ranges);
    for (size_t i = 0; i < count; i++) {
        if (kept && list[i].from <= list[kept - 1].end)
            list[kept - 1].end =
                list[i].end > list[kept - 1].end ? list[i].end : list[kept - 1].end;
        else
            list[kept++] = list[i];
    }
    return kept;
}
