// SPDX-License-Identifier: MIT
// Reads the records of calls and of their returns.
#include "trace_build.h"

uint32_t trace_innermost(const struct trace_open_calls *open)
{
    return open->count ? open->calls[open->count - 1] : TRACE_NONE;
}

uint64_t trace_number(struct trace_record *r, uint64_t *last)
{
    const uint64_t field = trace_field(r), past = field >> 1 ^ (0 - (field & 1));
    *last += past;
    return *last;
}

uint32_t trace_find_open(const struct trace_model *m, const struct trace_open_calls *open,
                         uint64_t number)
{
    for (unsigned i = open->count; i; i--)
        if (m->calls[open->calls[i - 1]].number == number &&
            !m->calls[open->calls[i - 1]].of_library)
            return i - 1;
    return TRACE_NONE;
}

// The position in `open->calls` of the innermost call of a library, or TRACE_NONE.
static uint32_t find_library(const struct trace_model *m, const struct trace_open_calls *open)
{
    for (unsigned i = open->count; i; i--)
        if (m->calls[open->calls[i - 1]].of_library)
            return i - 1;
    return TRACE_NONE;
}

static uint32_t known_id(uint64_t id, size_t count)
{
    return id && id < count ? (uint32_t)id : TRACE_NONE;
}

// The entry point, the place and the arguments of the last call in the list. Returns its site.
static uint32_t read_arguments(const struct trace_model *m, struct trace_open_calls *open,
                               struct trace_record *r, struct trace_call *c)
{
    const uint64_t site = trace_field(r);
    const bool has_site = site < RF_SITES, repeats = r->flags & RF_CALL_REPEATS;
    uint64_t count = 0;
    c->entry = c->function = c->caller = TRACE_NONE;
    if (!repeats) {
        c->entry = known_id(trace_field(r), m->entry_count);
        c->function = known_id(trace_field(r), m->entry_count);
        c->caller = known_id(trace_field(r), m->caller_count);
        count = trace_field(r);
        if (has_site)
            open->sites[site] = (uint32_t)m->call_count;
    } else if (has_site && open->sites[site]) {
        const struct trace_call *base = &m->calls[open->sites[site] - 1];
        c->entry = base->entry;
        c->function = base->function;
        c->caller = base->caller;
        c->base = base->arguments;
        c->base_end = base->before.at;
        c->differ = trace_field(r);
        count = base->argument_count;
    }
    c->arguments = r->at;
    c->argument_count = count <= TRACE_ARGUMENTS_MAX ? (uint32_t)count : 0;
    for (uint32_t i = 0; i < c->argument_count; i++)
        if (!repeats || c->differ >> i & 1)
            trace_field(r);
    return has_site ? (uint32_t)site : RF_SITES;
}

bool trace_read_call(struct trace_model *m, uint32_t thread, struct trace_open_calls *open,
                     struct trace_record *r, uint64_t time)
{
    struct trace_call *c = trace_add_call(m);
    if (!c)
        return false;
    if (!(r->flags & RF_CALL_NESTED) || open->count == TRACE_OPEN_MAX)
        open->count = 0;
    c->thread = thread;
    c->depth = open->count;
    c->start = time;
    c->end = TRACE_NEVER;
    c->of_library = r->flags & RF_CALL_OF_LIBRARY;
    c->number = c->of_library ? 0 : trace_number(r, &open->number);
    const uint32_t site = read_arguments(m, open, r, c);
    const uint32_t outer = trace_innermost(open);
    c->in_function =
        outer != TRACE_NONE && m->calls[outer].of_library && m->calls[outer].entry == c->function;
    c->before = (struct trace_blobs){r->at, r->end};
    if (r->flags & RF_CALL_RETURNED) {
        c->before.end = r->at;
        c->end = trace_file_ns(&m->file, r->ticks + trace_field(r));
        if (c->end > m->duration)
            m->duration = c->end;
        return true;
    }
    open->call_sites[open->count] = site;
    open->calls[open->count++] = (uint32_t)(m->call_count - 1);
    return true;
}

// The number of the call that returns.
static uint64_t returned_number(const struct trace_open_calls *open, struct trace_record *r)
{
    uint64_t last = open->number;
    return trace_number(r, &last);
}

void trace_read_return(struct trace_model *m, struct trace_open_calls *open, struct trace_record *r,
                       uint64_t time)
{
    const uint32_t at = r->flags & RF_RETURN_OF_LIBRARY
                            ? find_library(m, open)
                            : trace_find_open(m, open, returned_number(open, r));
    if (at == TRACE_NONE)
        return;
    struct trace_call *c = &m->calls[open->calls[at]];
    c->end = time;
    c->result = (int32_t)trace_field(r);
    c->after = (struct trace_blobs){r->at, r->end};
    open->count = at;
}
