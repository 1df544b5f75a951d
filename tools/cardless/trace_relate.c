// SPDX-License-Identifier: MIT
// Puts the lists of a recorded run into the order of time, and finds what belongs together.
#include <stdio.h>
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

static const struct trace_command *sorted_commands; // for compare_commands

static int compare_commands(const void *a, const void *b)
{
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct trace_command *x = &sorted_commands[i], *y = &sorted_commands[k];
    if (x->queued != y->queued)
        return x->queued < y->queued ? -1 : 1;
    return i < k ? -1 : i > k;
}

// Sorts the commands by their submission, and changes the indices of commands everywhere. Numbers
// do not tell: those of commands that have run without the lock are higher than all others.
static bool sort_commands(struct trace_model *m)
{
    const size_t n = m->command_count;
    uint32_t *order = malloc((n + 1) * sizeof *order), *new_index = malloc((n + 1) * sizeof *order);
    struct trace_command *commands = malloc((n + 1) * sizeof *commands);
    const bool works = order && new_index && commands;
    for (size_t i = 0; works && i < n; i++)
        order[i] = (uint32_t)i;
    sorted_commands = m->commands;
    if (works && n)
        qsort(order, n, sizeof *order, compare_commands);
    for (size_t i = 0; works && i < n; i++) {
        commands[i] = m->commands[order[i]];
        new_index[order[i]] = (uint32_t)i;
    }
    if (works) {
        free(m->commands);
        m->commands = commands;
        m->command_capacity = n + 1;
        for (size_t i = 0; i < n; i++)
            renumber(&m->commands[i].launch, new_index);
        for (size_t i = 0; i < m->edge_count; i++) {
            renumber(&m->edges[i].from, new_index);
            renumber(&m->edges[i].to, new_index);
        }
    } else {
        free(commands);
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

bool trace_memory_overlaps(const struct trace_memory *a, const struct trace_memory *b)
{
    return a->physical && a->physical == b->physical && a->offset < b->offset + b->size_B &&
           b->offset < a->offset + a->size_B;
}

// Memory with some of the same bytes as older memory that is still there, such as two mappings of
// one import, belongs to the older one.
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
            if (a->of == TRACE_NONE && b->of == TRACE_NONE && trace_memory_overlaps(a, b))
                a->of = living[k];
            living[kept++] = living[k];
        }
        count = kept;
        if (count < ALIASES_MOST)
            living[count++] = i;
    }
    free(living);
}

static bool add_edge(struct trace_model *m, uint32_t from, uint32_t to, const char *why)
{
    struct trace_edge *e = trace_add_edge(m);
    if (e)
        *e = (struct trace_edge){from, to, TRACE_NONE, m->commands[to].queued, why};
    return e != NULL;
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
        if (c->stream == TRACE_NONE || c->launch != TRACE_NONE)
            continue;
        if (last[c->stream] != TRACE_NONE) {
            works = add_edge(m, last[c->stream], i, "stream");
        }
        last[c->stream] = i;
    }
    free(last);
    return works;
}

// ---- the legacy stream

// A command of the legacy stream waits for the earlier ones of all blocking streams of its context,
// and theirs wait for it.
struct legacy {
    uint32_t *last;   // of each stream, in `commands`
    uint32_t *of;     // the legacy stream of each blocking stream, or TRACE_NONE
    uint32_t *recent; // blocking streams with commands after the last legacy one
    bool *is_recent;
    size_t count; // of `recent`
};

static bool legacy_waits(struct trace_model *m, struct legacy *l, uint32_t command)
{
    const uint32_t stream = m->commands[command].stream;
    size_t kept = 0;
    bool works = true;
    for (size_t i = 0; i < l->count && works; i++) {
        const uint32_t other = l->recent[i];
        if (l->of[other] != stream) {
            l->recent[kept++] = other;
            continue;
        }
        l->is_recent[other] = false;
        works = add_edge(m, l->last[other], command, "legacy");
    }
    l->count = kept;
    return works;
}

static bool blocking_waits(struct trace_model *m, struct legacy *l, uint32_t command)
{
    const uint32_t stream = m->commands[command].stream, legacy = l->of[stream];
    const uint32_t before = l->last[stream], other = l->last[legacy];
    if (!l->is_recent[stream]) {
        l->is_recent[stream] = true;
        l->recent[l->count++] = stream;
    }
    return other == TRACE_NONE || (before != TRACE_NONE && before > other) ||
           add_edge(m, other, command, "legacy");
}

static bool add_legacy_edges(struct trace_model *m)
{
    const size_t n = m->stream_count + 1;
    struct legacy l = {malloc(n * sizeof *l.last), malloc(n * sizeof *l.of),
                       malloc(n * sizeof *l.recent), calloc(n, sizeof *l.is_recent), 0};
    bool works = l.last && l.of && l.recent && l.is_recent;
    for (size_t i = 0; works && i < m->stream_count; i++)
        l.last[i] = l.of[i] = TRACE_NONE;
    for (size_t i = 0; works && i < m->stream_count; i++)
        for (size_t k = 0; m->streams[i].order == RF_STREAM_LEGACY && k < m->stream_count; k++)
            if (m->streams[k].order == RF_STREAM_BLOCKING &&
                m->streams[k].context_handle == m->streams[i].context_handle)
                l.of[k] = (uint32_t)i;
    for (uint32_t i = 0; works && i < m->command_count; i++) {
        const struct trace_command *c = &m->commands[i];
        if (c->stream == TRACE_NONE || c->launch != TRACE_NONE)
            continue;
        if (m->streams[c->stream].order == RF_STREAM_LEGACY)
            works = legacy_waits(m, &l, i);
        else if (l.of[c->stream] != TRACE_NONE)
            works = blocking_waits(m, &l, i);
        l.last[c->stream] = i;
    }
    free(l.last);
    free(l.of);
    free(l.recent);
    free(l.is_recent);
    return works;
}

// ---- arrays

// The memory that holds the address at a time, the newest first.
static uint32_t memory_at(const struct trace_model *m, size_t count, uint64_t address,
                          uint64_t time)
{
    enum { LOOKED_AT = 4096 };
    for (size_t i = count; i && i + LOOKED_AT > count; i--) {
        const struct trace_memory *a = &m->memories[i - 1];
        if (a->born <= time && a->died > time && a->address && address >= a->address &&
            address - a->address < a->size_B)
            return (uint32_t)(i - 1);
    }
    return TRACE_NONE;
}

static int compare_arrays(const void *a, const void *b)
{
    const struct trace_array *x = a, *y = b;
    return x->born < y->born ? -1 : x->born > y->born;
}

// Finds the objects of arrays. An array whose memory nothing else has gets memory in the list. Its
// life ends with the array's.
static bool add_array_memory(struct trace_model *m)
{
    if (m->array_count)
        qsort(m->arrays, m->array_count, sizeof *m->arrays, compare_arrays);
    for (size_t i = 0; i < m->array_count; i++) {
        struct trace_array *a = &m->arrays[i];
        a->object = trace_object_at(m, a->handle, a->born);
        if (!a->address || memory_at(m, m->memory_count, a->address, a->born) != TRACE_NONE)
            continue;
        struct trace_memory *memory = trace_add_memory(m);
        if (!memory)
            return false;
        const struct trace_object *o = a->object == TRACE_NONE ? NULL : &m->objects[a->object];
        *memory = (struct trace_memory){.id = a->handle,
                                        .address = a->address,
                                        .size_B = a->size_B,
                                        .born = a->born,
                                        .died = o ? o->died : TRACE_NEVER,
                                        .kind = "memory of an array",
                                        .born_call = o ? o->born_call : TRACE_NONE,
                                        .died_call = TRACE_NONE,
                                        .of = TRACE_NONE};
    }
    return true;
}

static void find_array_memory(struct trace_model *m)
{
    for (size_t i = 0; i < m->array_count; i++) {
        size_t low = 0, high = m->memory_count; // the memories that were born by then
        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (m->memories[middle].born <= m->arrays[i].born)
                low = middle + 1;
            else
                high = middle;
        }
        m->arrays[i].memory = memory_at(m, low, m->arrays[i].address, m->arrays[i].born);
    }
}

// ---- calls that wait

static bool starts_with(const char *name, const char *start)
{
    return !strncmp(name, start, strlen(start));
}

static bool add_host_edge(struct trace_model *m, uint32_t command, uint32_t call, const char *why)
{
    struct trace_edge *e = command == TRACE_NONE ? NULL : trace_add_edge(m);
    if (e)
        *e = (struct trace_edge){command, TRACE_NONE, call, m->calls[call].end, why};
    return e || command == TRACE_NONE;
}

// The state of the search for what calls wait for, in the order of calls and commands.
struct waits {
    uint32_t *last; // of each stream, in `commands`
    struct {
        uint64_t handle;
        uint32_t command;
    } records[1024]; // of events, by a hash of the handle
};

static unsigned record_slot(uint64_t handle)
{
    return (unsigned)(handle * UINT64_C(0x9e3779b97f4a7c15) >> 54);
}

static void note_command(const struct trace_model *m, struct waits *w, uint32_t index)
{
    const struct trace_command *c = &m->commands[index];
    uint64_t values[TRACE_ARGUMENTS_MAX];
    if (c->stream != TRACE_NONE && c->launch == TRACE_NONE)
        w->last[c->stream] = index;
    if (strcmp(c->kind, "event record") || c->call == TRACE_NONE ||
        !trace_call_values(&m->calls[c->call], values))
        return;
    w->records[record_slot(values[0])].handle = values[0];
    w->records[record_slot(values[0])].command = index;
}

static bool add_waits(struct trace_model *m, struct waits *w, uint32_t call)
{
    uint64_t values[TRACE_ARGUMENTS_MAX] = {0};
    const struct trace_call *c = &m->calls[call];
    const char *name = trace_call_name(m, c);
    const bool asks = starts_with(name, "cuStreamQuery") || starts_with(name, "cuEventQuery");
    const char *why = asks ? "query" : "synchronise";
    bool works = true;
    if (c->of_library || c->end == TRACE_NEVER || c->result ||
        !(asks || strstr(name, "Synchronize")))
        return true;
    trace_call_values(c, values);
    if (starts_with(name, "cuEvent")) {
        const unsigned slot = record_slot(values[0]);
        return w->records[slot].handle != values[0] ||
               add_host_edge(m, w->records[slot].command, call, why);
    }
    char stream[128] = "";
    if (starts_with(name, "cuStream") && !trace_handle_text(m, values[0], stream, sizeof stream))
        snprintf(stream, sizeof stream, "%s",
                 values[0] == 2 ? "thread's stream" : "legacy stream"); // em_stream_text
    for (uint32_t i = 0; i < m->stream_count && works; i++)
        if (!stream[0] || !strcmp(m->streams[i].name, stream))
            works = add_host_edge(m, w->last[i], call, why);
    return works;
}

// A call that synchronises waits for the last command before it, of a stream, of an event's record,
// or of each stream. A query that has found the work complete orders the same.
static bool add_host_edges(struct trace_model *m)
{
    struct waits *w = calloc(1, sizeof *w);
    uint32_t next = 0;
    bool works = w != NULL;
    if (w) {
        w->last = malloc((m->stream_count + 1) * sizeof *w->last);
        works = w->last != NULL;
    }
    if (works)
        memset(w->last, 0xff, (m->stream_count + 1) * sizeof *w->last);
    for (uint32_t i = 0; i < m->call_count && works; i++) {
        while (next < m->command_count && m->commands[next].queued < m->calls[i].start)
            note_command(m, w, next++);
        works = add_waits(m, w, i);
    }
    if (w)
        free(w->last);
    free(w);
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
    if (!sort_calls(m) || !sort_objects(m) || !sort_commands(m))
        return false;
    number_contexts(m);
    if (m->memory_count)
        qsort(m->memories, m->memory_count, sizeof *m->memories, compare_memory);
    if (m->diagnostic_count)
        qsort(m->diagnostics, m->diagnostic_count, sizeof *m->diagnostics, compare_diagnostics);
    if (!add_array_memory(m))
        return false;
    if (m->memory_count)
        qsort(m->memories, m->memory_count, sizeof *m->memories, compare_memory);
    find_aliases(m);
    find_array_memory(m);
    return add_stream_edges(m) && add_legacy_edges(m) && add_host_edges(m);
}
