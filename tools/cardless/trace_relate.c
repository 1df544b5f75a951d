// SPDX-License-Identifier: MIT
// Puts the lists of a recorded run into the order of time, and finds what belongs together.
#include <stdlib.h>
#include <string.h>

#include "trace_build.h"

static const struct trace_call *sorted_calls; // for compare_calls

static int compare_calls(const void *a, const void *b)
{
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct trace_call *x = &sorted_calls[i], *y = &sorted_calls[k];
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return i < k ? -1 : i > k;
}

static void renumber(uint32_t *call, const uint32_t *new_index)
{
    if (*call != TRACE_NONE)
        *call = new_index[*call];
}

// Sorts the calls by their start, and changes the indices of calls everywhere.
static bool sort_calls(struct trace_model *m)
{
    const size_t n = m->call_count;
    uint32_t *order = malloc((n + 1) * sizeof *order), *new_index = malloc((n + 1) * sizeof *order);
    struct trace_call *calls = malloc((n + 1) * sizeof *calls);
    const bool works = order && new_index && calls;
    for (size_t i = 0; works && i < n; i++)
        order[i] = (uint32_t)i;
    sorted_calls = m->calls;
    if (works && n)
        qsort(order, n, sizeof *order, compare_calls);
    for (size_t i = 0; works && i < n; i++) {
        calls[i] = m->calls[order[i]];
        new_index[order[i]] = (uint32_t)i;
    }
    if (works) {
        free(m->calls);
        m->calls = calls;
        m->call_capacity = n + 1;
        for (size_t i = 0; i < m->command_count; i++)
            renumber(&m->commands[i].call, new_index);
        for (size_t i = 0; i < m->object_count; i++)
            renumber(&m->objects[i].born_call, new_index);
        for (size_t i = 0; i < m->memory_count; i++) {
            renumber(&m->memories[i].born_call, new_index);
            renumber(&m->memories[i].died_call, new_index);
        }
        for (size_t i = 0; i < m->diagnostic_count; i++)
            renumber(&m->diagnostics[i].call, new_index);
    } else {
        free(calls);
    }
    free(order);
    free(new_index);
    return works;
}

static const struct trace_object *sorted_objects; // for compare_objects

static int compare_objects(const void *a, const void *b)
{
    const struct trace_object *x = &sorted_objects[*(const uint32_t *)a],
                              *y = &sorted_objects[*(const uint32_t *)b];
    if (x->handle != y->handle)
        return x->handle < y->handle ? -1 : 1;
    return x->born < y->born ? -1 : x->born > y->born;
}

static bool sort_objects(struct trace_model *m)
{
    m->sorted = malloc((m->object_count + 1) * sizeof *m->sorted);
    if (!m->sorted)
        return false;
    for (size_t i = 0; i < m->object_count; i++)
        m->sorted[i] = (uint32_t)i;
    sorted_objects = m->objects;
    if (m->object_count)
        qsort(m->sorted, m->object_count, sizeof *m->sorted, compare_objects);
    return true;
}

static int compare_memory(const void *a, const void *b)
{
    const struct trace_memory *x = a, *y = b;
    if (x->born != y->born)
        return x->born < y->born ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_diagnostics(const void *a, const void *b)
{
    const struct trace_diagnostic *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time;
}

enum { ALIASES_MOST = 4096 }; // that are compared with each other

// Memory with the same bytes as older memory that is still there, such as two mappings of one
// import, belongs to the older one.
static void find_aliases(struct trace_model *m)
{
    uint32_t *living = malloc(ALIASES_MOST * sizeof *living);
    size_t count = 0;
    for (uint32_t i = 0; living && i < m->memory_count; i++) {
        struct trace_memory *a = &m->memories[i];
        if (!a->physical)
            continue;
        size_t kept = 0;
        for (size_t k = 0; k < count; k++) {
            const struct trace_memory *b = &m->memories[living[k]];
            if (b->died <= a->born)
                continue;
            if (a->of == TRACE_NONE && b->physical == a->physical && b->of == TRACE_NONE)
                a->of = living[k];
            living[kept++] = living[k];
        }
        count = kept;
        if (count < ALIASES_MOST)
            living[count++] = i;
    }
    free(living);
}

// A stream orders each command after the one before it.
static bool add_stream_edges(struct trace_model *m)
{
    uint32_t *last = malloc((m->stream_count + 1) * sizeof *last);
    if (!last)
        return false;
    memset(last, 0xff, (m->stream_count + 1) * sizeof *last);
    bool works = true;
    for (uint32_t i = 0; i < m->command_count && works; i++) {
        const struct trace_command *c = &m->commands[i];
        if (c->stream == TRACE_NONE)
            continue;
        if (last[c->stream] != TRACE_NONE) {
            struct trace_edge *e = trace_add_edge(m);
            works = e != NULL;
            if (e)
                *e = (struct trace_edge){last[c->stream], i, c->queued, "stream"};
        }
        last[c->stream] = i;
    }
    free(last);
    return works;
}

// A stream knows the handle of its context; messages have its number.
static void number_contexts(struct trace_model *m)
{
    for (size_t i = 0; i < m->stream_count; i++)
        for (size_t k = 0; k < m->object_count && !m->streams[i].context; k++)
            if (m->objects[k].handle == m->streams[i].context_handle)
                m->streams[i].context = (uint32_t)m->objects[k].number;
}

bool trace_relate(struct trace_model *m)
{
    if (!sort_calls(m) || !sort_objects(m))
        return false;
    number_contexts(m);
    if (m->memory_count)
        qsort(m->memories, m->memory_count, sizeof *m->memories, compare_memory);
    if (m->diagnostic_count)
        qsort(m->diagnostics, m->diagnostic_count, sizeof *m->diagnostics, compare_diagnostics);
    find_aliases(m);
    return add_stream_edges(m);
}
