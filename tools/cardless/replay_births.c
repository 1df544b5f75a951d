// SPDX-License-Identifier: MIT
// Finds the memory and objects that a recorded call created.
#include "replay_births.h"

#include <stdlib.h>

static int compare_births(const void *a, const void *b)
{
    const struct replay_birth *x = a, *y = b;
    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void sort(struct replay_births *births)
{
    if (births->count)
        qsort(births->list, births->count, sizeof *births->list, compare_births);
}

bool replay_births_of_memory(const struct trace_model *m, struct replay_births *out)
{
    *out = (struct replay_births){malloc((m->memory_count + 1) * sizeof *out->list), 0};
    for (uint32_t i = 0; out->list && i < m->memory_count; i++)
        out->list[out->count++] = (struct replay_birth){m->memories[i].born_call, i};
    sort(out);
    return out->list != NULL;
}

bool replay_births_of_objects(const struct trace_model *m, struct replay_births *out)
{
    *out = (struct replay_births){malloc((m->object_count + 1) * sizeof *out->list), 0};
    for (uint32_t i = 0; out->list && i < m->object_count; i++)
        out->list[out->count++] = (struct replay_birth){m->objects[i].born_call, i};
    sort(out);
    return out->list != NULL;
}

static size_t first_not_before(const struct replay_births *births, uint32_t call)
{
    size_t low = 0, high = births->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (births->list[middle].call < call)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t replay_births_in(const struct replay_births *births, uint32_t call,
                        const struct replay_birth **first)
{
    const size_t from = first_not_before(births, call);
    size_t end = from;
    while (end < births->count && births->list[end].call == call)
        end++;
    *first = births->list + from;
    return end - from;
}
