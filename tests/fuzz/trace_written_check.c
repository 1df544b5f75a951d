// SPDX-License-Identifier: MIT
// The fuzz target `trace`: the model of a recording that it has written. A record
// counts if the file has all of it.
#include "trace_written.h"

enum { HANDLE_SHIFT = 20 };

struct expected {
    struct written_call calls[WRITTEN_EVENTS];
    unsigned call_count, open[WRITTEN_EVENTS], depth;
    struct command {
        uint64_t number, start, end;
        unsigned thread, call; // in `calls`, or WRITTEN_EVENTS
        int32_t result;
        const struct written_submission *submission;
    } commands[WRITTEN_EVENTS];
    struct object {
        uint64_t number, born, died;
    } objects[WRITTEN_EVENTS];
    struct {
        uint64_t time;
        int32_t result;
    } diagnostics[WRITTEN_EVENTS];
    unsigned command_count, object_count, diagnostic_count;
    bool has_gap[WRITTEN_THREADS]; // an earlier block than others of the thread is missing
};

static bool is_there(const struct written *w, const struct written_event *e)
{
    return w->blocks[e->block].at + sizeof(struct rf_block) + e->end_B <= w->size_B;
}

static void find_gaps(const struct written *w, struct expected *x)
{
    for (unsigned i = 0; i < w->event_count; i++) {
        const struct written_event *lost = &w->events[i];
        if (!lost->end_B || is_there(w, lost))
            continue;
        for (unsigned k = i + 1; k < w->event_count; k++)
            x->has_gap[lost->thread] |=
                w->events[k].thread == lost->thread && is_there(w, &w->events[k]);
    }
}

// ---- the meaning of records, in the order of a thread ----

static void take_call(struct expected *x, const struct written_event *e)
{
    if (!e->nested)
        x->depth = 0;
    x->calls[x->call_count] = e->call;
    x->calls[x->call_count].depth = x->depth;
    if (!e->returned)
        x->open[x->depth++] = x->call_count;
    x->call_count++;
}

// Of the innermost call with this number. Those inside of it have not returned.
static void take_return(struct expected *x, const struct written_event *e)
{
    for (unsigned i = x->depth; i; i--) {
        struct written_call *c = &x->calls[x->open[i - 1]];
        if (c->of_library != e->of_library || c->number != e->number)
            continue;
        c->end = e->time;
        c->result = e->result;
        x->depth = i - 1;
        return;
    }
}

static void take_command(struct expected *x, const struct written_event *e)
{
    struct command *c = &x->commands[x->command_count++];
    *c = (struct command){.number = e->number,
                          .start = TRACE_NEVER,
                          .end = e->ended ? e->until : TRACE_NEVER,
                          .thread = e->thread,
                          .submission = &e->submission,
                          .call = x->depth ? x->open[x->depth - 1] : WRITTEN_EVENTS};
    if (e->returns && x->depth)
        x->calls[x->open[--x->depth]].end = e->until;
}

static void take_end(struct expected *x, const struct written_event *e)
{
    if (e->returns && x->depth)
        x->calls[x->open[--x->depth]].end = e->time;
    for (unsigned i = 0; i < x->command_count; i++) {
        if (x->commands[i].number != e->number)
            continue;
        x->commands[i].end = e->time;
        x->commands[i].result = e->result;
    }
}

static void take(struct expected *x, const struct written_event *e)
{
    switch (e->kind) {
    case RF_CALL:
        take_call(x, e);
        break;
    case RF_RETURN:
        take_return(x, e);
        break;
    case RF_SUBMIT:
        take_command(x, e);
        break;
    case RF_END:
        take_end(x, e);
        break;
    default:
        break;
    }
}

// Objects and diagnostics do not depend on the thread. An object ends with the first record of its
// end.
static void take_common(struct expected *x, const struct written_event *e)
{
    if (e->kind == RF_DIAGNOSTIC) {
        x->diagnostics[x->diagnostic_count].time = e->time;
        x->diagnostics[x->diagnostic_count++].result = e->result;
    } else if (e->kind == RF_OBJECT) {
        x->objects[x->object_count++] = (struct object){e->number, e->time, TRACE_NEVER};
    }
    for (unsigned i = 0; e->kind == RF_OBJECT_END && i < x->object_count; i++) {
        if (x->objects[i].number == e->number && x->objects[i].died == TRACE_NEVER)
            x->objects[i].died = e->time;
    }
}

// ---- comparisons ----

static const struct written_call *find_call(const struct expected *x, uint64_t start)
{
    for (unsigned i = 0; i < x->call_count; i++) {
        if (x->calls[i].start == start)
            return &x->calls[i];
    }
    return NULL;
}

// Which calls a call was inside of, and when it returned, is not known if records are missing.
static void check_call(const struct expected *x, const struct trace_model *m, size_t i)
{
    const struct trace_call *got = &m->calls[i];
    const struct written_call *c = find_call(x, got->start);
    uint64_t values[TRACE_ARGUMENTS_MAX];
    char name[16];
    FUZZ_CHECK(c && (!i || got->start > m->calls[i - 1].start), "call %zu at %llu", i,
               (unsigned long long)got->start);
    FUZZ_CHECK(m->threads[got->thread].id == c->thread && got->number == c->number &&
                   got->of_library == c->of_library,
               "call %zu: thread %u, number %llu, expected %u, %llu", i, m->threads[got->thread].id,
               (unsigned long long)got->number, c->thread, (unsigned long long)c->number);
    snprintf(name, sizeof name, "cuEntry%u", c->entry);
    FUZZ_CHECK(c->entry ? got->entry == c->entry && !strcmp(trace_call_name(m, got), name)
                        : got->entry == TRACE_NONE,
               "call %zu: entry point %u, expected %u", i, got->entry, c->entry);
    const unsigned count = trace_call_values(got, values);
    FUZZ_CHECK(count == c->count && !memcmp(values, c->arguments, count * sizeof *values),
               "call %zu: %u arguments, expected %u", i, count, c->count);
    if (!x->has_gap[c->thread - 1])
        FUZZ_CHECK(got->depth == c->depth && got->end == c->end && got->result == c->result,
                   "call %zu: depth %u, end %llu, result %d, expected %u, %llu, %d", i, got->depth,
                   (unsigned long long)got->end, got->result, c->depth, (unsigned long long)c->end,
                   c->result);
}

static void check_submission(const struct trace_command *got, uint64_t number,
                             const struct written_submission *s)
{
    struct trace_record r = {.at = got->accesses, .end = got->accesses_end};
    char name[16];
    snprintf(name, sizeof name, "name %u", s->name);
    FUZZ_CHECK(!strcmp(got->kind, name) && got->access_count == s->accesses,
               "command %llu: kind %s, %u accesses, expected %s, %u", (unsigned long long)number,
               got->kind, got->access_count, name, s->accesses);
    for (unsigned i = 0; i < 3 * s->accesses; i++) {
        const uint64_t field = trace_field(&r);
        FUZZ_CHECK(field == s->access[i / 3][i % 3], "command %llu: field %u is %llu",
                   (unsigned long long)number, i, (unsigned long long)field);
    }
}

static void check_command(const struct expected *x, const struct trace_model *m,
                          const struct command *c)
{
    const struct trace_command *got = NULL;
    for (size_t i = 0; i < m->command_count; i++)
        got = m->commands[i].id == c->number ? &m->commands[i] : got;
    FUZZ_CHECK(got && got->end == c->end && got->result == c->result,
               "command %llu ended at %llu, expected %llu", (unsigned long long)c->number,
               got ? (unsigned long long)got->end : 0, (unsigned long long)c->end);
    if (x->has_gap[c->thread])
        return;
    FUZZ_CHECK(c->call == WRITTEN_EVENTS ? got->call == TRACE_NONE
                                         : got->call != TRACE_NONE &&
                                               m->calls[got->call].start == x->calls[c->call].start,
               "command %llu: call %u", (unsigned long long)c->number, got->call);
    check_submission(got, c->number, c->submission);
}

static void check_object(const struct trace_model *m, const struct object *o)
{
    const struct trace_object *got = NULL;
    for (size_t i = 0; i < m->object_count; i++)
        got = m->objects[i].handle == o->number << HANDLE_SHIFT ? &m->objects[i] : got;
    FUZZ_CHECK(got && got->born == o->born && got->died == o->died,
               "object %llu died at %llu, expected %llu", (unsigned long long)o->number,
               got ? (unsigned long long)got->died : 0, (unsigned long long)o->died);
}

void written_check(const struct written *w, const struct trace_model *m)
{
    static struct expected x;
    memset(&x, 0, sizeof x);
    find_gaps(w, &x);
    for (unsigned thread = 0; thread < WRITTEN_THREADS; thread++) {
        x.depth = 0;
        for (unsigned i = 0; i < w->event_count; i++) {
            if (w->events[i].thread == thread && is_there(w, &w->events[i]))
                take(&x, &w->events[i]);
        }
    }
    for (unsigned i = 0; i < w->event_count; i++) {
        if (is_there(w, &w->events[i]))
            take_common(&x, &w->events[i]);
    }
    FUZZ_CHECK(m->call_count == x.call_count && m->command_count == x.command_count &&
                   m->object_count == x.object_count && m->diagnostic_count == x.diagnostic_count,
               "%zu calls, %zu commands, %zu objects, %zu diagnostics, expected %u, %u, %u, %u",
               m->call_count, m->command_count, m->object_count, m->diagnostic_count, x.call_count,
               x.command_count, x.object_count, x.diagnostic_count);
    for (size_t i = 0; i < m->call_count; i++)
        check_call(&x, m, i);
    for (unsigned i = 0; i < x.command_count; i++)
        check_command(&x, m, &x.commands[i]);
    for (unsigned i = 0; i < x.object_count; i++)
        check_object(m, &x.objects[i]);
    for (unsigned i = 0; i < x.diagnostic_count; i++)
        FUZZ_CHECK(m->diagnostics[i].time == x.diagnostics[i].time &&
                       m->diagnostics[i].result == x.diagnostics[i].result,
                   "diagnostic %u: result %d", i, m->diagnostics[i].result);
    FUZZ_CHECK(!w->is_whole || !m->file.lost, "%u blocks of a whole file are lost", m->file.lost);
    FUZZ_CHECK(!w->is_cut || m->file.lost, "a cut file of %zu bytes is not told", w->size_B);
}
