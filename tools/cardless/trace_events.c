// SPDX-License-Identifier: MIT
// Reads the records that have a time: calls (trace_calls.c), commands, objects, memory,
// diagnostics.
#include <stdlib.h>
#include <string.h>

#include "trace_build.h"

enum { LEVELS_MAX = 20 };

// The start or end of a command, which another thread may have submitted.
struct moment {
    uint64_t id, time, other; // `other`: with RF_END_ADOPTED
    int32_t result;
    enum rf_kind kind;
    unsigned flags;
};

// The end of an object or of memory.
struct death {
    uint64_t key, time;
    uint32_t call;
};

struct later {
    struct moment *moments;
    struct death *objects, *memories;
    struct raw_edge {
        uint64_t from, to, time;
        const char *why;
    } * edges;
    size_t moment_count, object_count, memory_count, edge_count;
    size_t moment_capacity, object_capacity, memory_capacity, edge_capacity;
};

#define APPEND(later, name, list)                                                                  \
    trace_append((void **)&(later)->list, &(later)->name##_count, &(later)->name##_capacity,       \
                 sizeof *(later)->list)

static const char *name_of(const struct trace_model *m, uint64_t id)
{
    const char *text = id < m->name_count ? m->names[id].text : NULL;
    return text ? text : "?";
}

static uint32_t stream_of(const struct trace_model *m, uint64_t id)
{
    size_t low = 0, high = m->stream_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (m->streams[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->stream_count && m->streams[low].id == id ? (uint32_t)low : TRACE_NONE;
}

// The number of a command that its call identifies.
static uint64_t shared_id(const struct trace_model *m, uint32_t thread, uint32_t call)
{
    const uint64_t number = call == TRACE_NONE ? 0 : m->calls[call].number;
    return UINT64_C(1) << 63 | m->threads[thread].number << 40 | number;
}

// The stream, the kind, the accesses and the launch. `c` is the last command in the list.
static void read_numbers(const struct trace_model *m, struct trace_open_calls *open,
                         struct trace_record *r, struct trace_command *c)
{
    const bool of_call = r->flags & RF_SUBMIT_OF_CALL;
    const uint32_t site = of_call && open->count ? open->call_sites[open->count - 1] : RF_SITES;
    c->call = trace_innermost(open);
    c->launch = TRACE_NONE;
    if (r->flags & RF_SUBMIT_REPEATS) {
        static const struct trace_command unknown = {.stream = TRACE_NONE, .kind = "?"};
        const struct trace_command *base = site < RF_SITES && open->submitted[site]
                                               ? &m->commands[open->submitted[site] - 1]
                                               : &unknown;
        c->stream = base->stream;
        c->kind = base->kind;
        c->access_count = base->access_count;
        c->accesses = base->accesses;
        c->accesses_end = base->accesses_end;
        c->launch_id = base->launch_id;
        return;
    }
    c->stream = stream_of(m, trace_field(r));
    c->kind = name_of(m, trace_field(r));
    if (!of_call) {
        const uint32_t at = trace_find_open(m, open, trace_field(r));
        c->call = at == TRACE_NONE ? TRACE_NONE : open->calls[at];
    }
    const uint64_t count = trace_field(r);
    c->access_count = count < 1024 ? (uint32_t)count : 0;
    c->accesses = r->at;
    c->accesses_end = r->end;
    for (uint32_t i = 0; i < 3 * c->access_count; i++)
        trace_field(r);
    c->launch_id = trace_field(r);
    if (site < RF_SITES)
        open->submitted[site] = (uint32_t)m->command_count;
}

static bool read_submission(struct trace_model *m, uint32_t thread, struct trace_open_calls *open,
                            struct trace_record *r, uint64_t time)
{
    struct trace_command *c = trace_add_command(m);
    if (!c)
        return false;
    c->at_once = r->flags & RF_SUBMIT_AT_ONCE;
    c->queued = time;
    c->start = c->at_once ? time : TRACE_NEVER;
    c->end = TRACE_NEVER;
    c->thread = thread;
    if (r->flags & RF_SUBMIT_SHARED)
        c->id = shared_id(m, thread, trace_innermost(open));
    else
        c->id = trace_number(r, &open->command);
    read_numbers(m, open, r, c);
    if (r->flags & RF_SUBMIT_ENDED)
        c->end = trace_file_ns(&m->file, r->ticks + trace_field(r));
    if (r->flags & RF_SUBMIT_ENDED && c->end > m->duration)
        m->duration = c->end;
    if (r->flags & RF_SUBMIT_RETURNS && open->count)
        m->calls[open->calls[--open->count]].end = c->end;
    return true;
}

static bool read_object(struct trace_model *m, const struct trace_open_calls *open,
                        struct trace_record *r, uint64_t time)
{
    struct trace_object *o = trace_add_object(m);
    if (!o)
        return false;
    o->born = time;
    o->died = TRACE_NEVER;
    o->handle = trace_field(r);
    o->type = name_of(m, trace_field(r));
    o->number = trace_field(r);
    o->context = trace_field(r);
    o->born_call = trace_innermost(open);
    return true;
}

static bool read_memory(struct trace_model *m, const struct trace_open_calls *open,
                        struct trace_record *r, uint64_t time)
{
    struct trace_memory *memory = trace_add_memory(m);
    if (!memory)
        return false;
    memory->born = time;
    memory->died = TRACE_NEVER;
    memory->id = trace_field(r);
    memory->kind = name_of(m, trace_field(r));
    memory->address = trace_field(r);
    memory->size_B = trace_field(r);
    memory->host = trace_field(r);
    memory->physical = trace_field(r);
    memory->offset = trace_field(r);
    memory->born_call = trace_innermost(open);
    memory->died_call = memory->of = TRACE_NONE;
    return true;
}

static bool read_mapping(struct trace_model *m, struct trace_record *r)
{
    struct trace_mapping *mapping = trace_add_mapping(m);
    if (!mapping)
        return false;
    mapping->time = trace_file_ns(&m->file, trace_field(r));
    mapping->handle = trace_field(r);
    mapping->is_mapped = trace_field(r) != 0;
    return true;
}

static bool read_array(struct trace_model *m, struct trace_record *r, uint64_t time)
{
    struct trace_array *a = trace_add_array(m);
    if (!a)
        return false;
    a->born = time;
    a->object = a->memory = TRACE_NONE;
    a->handle = trace_field(r);
    a->format = (uint32_t)trace_field(r);
    a->channels = (uint32_t)trace_field(r);
    a->flags = trace_field(r);
    a->address = trace_field(r);
    a->level = (uint32_t)trace_field(r);
    a->kind = (uint32_t)trace_field(r);
    const uint64_t shape = trace_field(r);
    a->layered = shape & 1;
    a->cube = shape >> 1 & 1;
    a->dimensions = (uint32_t)trace_field(r);
    a->element_B = (uint32_t)trace_field(r);
    a->block_px = (uint32_t)trace_field(r);
    a->layers = (uint32_t)trace_field(r);
    a->size_B = trace_field(r);
    const uint64_t levels = trace_field(r);
    a->levels = levels <= LEVELS_MAX ? (uint32_t)levels : 0;
    a->level_fields = r->at;
    a->end = r->end;
    return true;
}

static bool read_diagnostic(struct trace_model *m, const struct trace_open_calls *open,
                            struct trace_record *r, uint64_t time)
{
    struct trace_diagnostic *d = trace_add_diagnostic(m);
    if (!d)
        return false;
    d->time = time;
    const uint32_t at = trace_find_open(m, open, trace_field(r));
    d->call = at == TRACE_NONE ? trace_innermost(open) : open->calls[at];
    d->result = (int32_t)trace_field(r);
    d->id = trace_copy_text(r);
    d->text = trace_copy_text(r);
    return d->id && d->text;
}

static bool keep_moment(struct later *later, struct trace_record *r, uint64_t time)
{
    struct moment *at = APPEND(later, moment, moments);
    if (!at)
        return false;
    *at = (struct moment){.time = time, .kind = r->kind, .flags = r->flags};
    at->id = trace_field(r);
    at->result = (int32_t)trace_field(r);
    at->other = r->kind == RF_END && r->flags & RF_END_ADOPTED ? trace_field(r) : 0;
    return true;
}

static bool keep_death(struct later *later, const struct trace_open_calls *open,
                       struct trace_record *r, uint64_t time)
{
    struct death *at =
        r->kind == RF_OBJECT_END ? APPEND(later, object, objects) : APPEND(later, memory, memories);
    if (at)
        *at = (struct death){trace_field(r), time, trace_innermost(open)};
    return at != NULL;
}

static bool keep_edge(const struct trace_model *m, struct later *later, struct trace_record *r,
                      uint64_t time)
{
    struct raw_edge *at = APPEND(later, edge, edges);
    if (!at)
        return false;
    at->from = trace_field(r);
    at->to = trace_field(r);
    at->why = name_of(m, trace_field(r));
    at->time = time;
    return true;
}

static bool read_record(struct trace_model *m, struct later *later, uint32_t thread,
                        struct trace_open_calls *open, struct trace_record *r)
{
    const uint64_t time = trace_file_ns(&m->file, r->ticks);
    if (r->kind < RF_KINDS && time > m->duration)
        m->duration = time;
    switch (r->kind) {
    case RF_CALL:
        return trace_read_call(m, thread, open, r, time);
    case RF_RETURN:
        trace_read_return(m, open, r, time);
        return true;
    case RF_SUBMIT:
        return read_submission(m, thread, open, r, time);
    case RF_START:
    case RF_END:
        if (r->kind == RF_END && r->flags & RF_END_RETURNS && open->count)
            m->calls[open->calls[--open->count]].end = time;
        return keep_moment(later, r, time);
    case RF_ARRAY:
        return read_array(m, r, time);
    case RF_OBJECT:
        return read_object(m, open, r, time);
    case RF_MEMORY:
        return read_memory(m, open, r, time);
    case RF_MAPPED:
        return read_mapping(m, r);
    case RF_OBJECT_END:
    case RF_MEMORY_END:
        return keep_death(later, open, r, time);
    case RF_DIAGNOSTIC:
        return read_diagnostic(m, open, r, time);
    case RF_EDGE:
        return keep_edge(m, later, r, time);
    default:
        return true;
    }
}

static uint32_t thread_of(struct trace_model *m, uint32_t id)
{
    for (size_t i = 0; i < m->thread_count; i++)
        if (m->threads[i].id == id)
            return (uint32_t)i;
    struct trace_thread *t = trace_add_thread(m);
    if (!t)
        return TRACE_NONE;
    t->id = id;
    return (uint32_t)(m->thread_count - 1);
}

// ---- what other threads have recorded

static int compare_commands(const void *a, const void *b)
{
    const struct trace_command *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static struct trace_command *command_of(const struct trace_model *m, uint64_t id)
{
    const struct trace_command key = {.id = id};
    return m->command_count
               ? bsearch(&key, m->commands, m->command_count, sizeof key, compare_commands)
               : NULL;
}

// The thread that took em_lock has given a running command of another thread a second number.
static void adopt(struct trace_command *other, struct trace_command *c)
{
    if (other) {
        other->call = c->call;
        other->thread = c->thread;
        other->queued = c->queued;
        other->start = c->start;
    }
    c->kind = NULL;
}

static void apply_moments(struct trace_model *m, const struct later *later)
{
    size_t kept = 0;
    for (size_t i = 0; i < later->moment_count; i++) {
        const struct moment *at = &later->moments[i];
        struct trace_command *c = command_of(m, at->id);
        if (!c)
            continue;
        if (at->kind == RF_START) {
            c->start = at->time;
        } else if (at->flags & RF_END_ADOPTED) {
            adopt(command_of(m, at->other), c);
        } else {
            c->end = at->time;
            c->result = at->result;
            c->start = c->start > at->time ? at->time : c->start;
        }
    }
    for (size_t i = 0; i < m->command_count; i++)
        if (m->commands[i].kind)
            m->commands[kept++] = m->commands[i];
    m->command_count = kept;
}

static bool apply_edges(struct trace_model *m, const struct later *later)
{
    for (size_t i = 0; i < later->edge_count; i++) {
        const struct raw_edge *at = &later->edges[i];
        const struct trace_command *from = at->from ? command_of(m, at->from) : NULL,
                                   *to = at->to ? command_of(m, at->to) : NULL;
        if ((at->from && !from) || (at->to && !to))
            continue;
        struct trace_edge *e = trace_add_edge(m);
        if (!e)
            return false;
        e->from = from ? (uint32_t)(from - m->commands) : TRACE_NONE;
        e->to = to ? (uint32_t)(to - m->commands) : TRACE_NONE;
        e->call = TRACE_NONE;
        e->time = at->time;
        e->why = at->why;
    }
    return true;
}

static int compare_deaths(const void *a, const void *b)
{
    const struct death *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

// The first death with this key that is not before the birth, or NULL.
static const struct death *death_of(const struct death *deaths, size_t count, uint64_t key,
                                    uint64_t born)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const struct death *d = &deaths[middle];
        if (d->key < key || (d->key == key && d->time < born))
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && deaths[low].key == key ? &deaths[low] : NULL;
}

static void apply_deaths(struct trace_model *m, struct later *later)
{
    if (later->object_count)
        qsort(later->objects, later->object_count, sizeof *later->objects, compare_deaths);
    if (later->memory_count)
        qsort(later->memories, later->memory_count, sizeof *later->memories, compare_deaths);
    for (size_t i = 0; i < m->object_count; i++) {
        struct trace_object *o = &m->objects[i];
        const struct death *d = death_of(later->objects, later->object_count, o->handle, o->born);
        if (d)
            o->died = d->time;
    }
    for (size_t i = 0; i < m->memory_count; i++) {
        struct trace_memory *a = &m->memories[i];
        const struct death *d = death_of(later->memories, later->memory_count, a->id, a->born);
        if (d) {
            a->died = d->time;
            a->died_call = d->call;
        }
    }
}

static int compare_mappings(const void *a, const void *b)
{
    const struct trace_mapping *x = a, *y = b;
    if (x->handle != y->handle)
        return x->handle < y->handle ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

bool trace_read_events(struct trace_model *m)
{
    struct later later = {.moments = NULL};
    struct trace_open_calls open = {.count = 0};
    uint32_t id = 0;
    bool works = true;
    for (size_t i = 0; i < m->file.block_count && works; i++) {
        const struct trace_block *b = &m->file.blocks[i];
        if (!i || b->thread != id)
            open.count = 0;
        open.number = open.command = 0;
        memset(open.sites, 0, sizeof open.sites);
        memset(open.submitted, 0, sizeof open.submitted);
        id = b->thread;
        const uint32_t thread = thread_of(m, id);
        size_t position = 0;
        uint64_t ticks = b->ticks;
        struct trace_record r;
        works = thread != TRACE_NONE;
        while (works && trace_next(b, &position, &ticks, &r))
            works = read_record(m, &later, thread, &open, &r);
    }
    if (works) {
        if (m->command_count)
            qsort(m->commands, m->command_count, sizeof *m->commands, compare_commands);
        apply_moments(m, &later);
        apply_deaths(m, &later);
        if (m->mapping_count)
            qsort(m->mappings, m->mapping_count, sizeof *m->mappings, compare_mappings);
        for (size_t i = 0; i < m->command_count; i++) {
            const struct trace_command *launch = command_of(m, m->commands[i].launch_id);
            if (launch)
                m->commands[i].launch = (uint32_t)(launch - m->commands);
        }
        works = apply_edges(m, &later);
    }
    free(later.moments);
    free(later.objects);
    free(later.memories);
    free(later.edges);
    return works;
}
