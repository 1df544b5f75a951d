// SPDX-License-Identifier: MIT
// Writes a recorded run as Chrome's trace events, which Perfetto (ui.perfetto.dev) and
// chrome://tracing show: calls by thread, commands by stream, arrows for the order, the memory in
// use, and diagnostics.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "trace.h"

enum { HOST = 1, CARD = 2 }; // the processes in the picture

struct writer {
    FILE *out;
    const struct trace_model *model;
    bool more; // an event was written
    uint64_t flows;
};

static void put_text(FILE *out, const struct em_text *text)
{
    json_string(out, text->used ? text->bytes : "", text->used);
}

// Begins an event: `phase` is Chrome's letter for it.
static void begin(struct writer *w, char phase, int process, uint64_t thread, uint64_t ns)
{
    fprintf(w->out, "%s{\"ph\":\"%c\",\"pid\":%d,\"tid\":%llu,\"ts\":%llu.%03llu",
            w->more ? ",\n" : "", phase, process, (unsigned long long)thread,
            (unsigned long long)(ns / 1000), (unsigned long long)(ns % 1000));
    w->more = true;
}

static void put_duration(struct writer *w, uint64_t start, uint64_t end)
{
    const uint64_t last = end == TRACE_NEVER ? w->model->duration : end;
    const uint64_t ns = last > start ? last - start : 0;
    fprintf(w->out, ",\"dur\":%llu.%03llu", (unsigned long long)(ns / 1000),
            (unsigned long long)(ns % 1000));
}

static void put_name(struct writer *w, const char *name)
{
    fputs(",\"name\":", w->out);
    json_string(w->out, name, strlen(name));
}

static void name_track(struct writer *w, const char *what, int process, uint64_t thread,
                       const char *name)
{
    begin(w, 'M', process, thread, 0);
    put_name(w, what);
    fputs(",\"args\":{\"name\":", w->out);
    json_string(w->out, name, strlen(name));
    fputs("}}", w->out);
}

static void name_tracks(struct writer *w)
{
    const struct trace_model *m = w->model;
    name_track(w, "process_name", HOST, 0, m->file.header.program);
    name_track(w, "process_name", CARD, 0, "the card");
    for (size_t i = 0; i < m->thread_count; i++) {
        char name[96];
        snprintf(name, sizeof name, "thread %llu: %s", (unsigned long long)m->threads[i].number,
                 m->threads[i].name);
        name_track(w, "thread_name", HOST, i + 1, name);
    }
    for (size_t i = 0; i < m->stream_count; i++)
        name_track(w, "thread_name", CARD, i + 1, m->streams[i].name);
}

static void put_call(struct writer *w, const struct trace_call *c)
{
    const struct trace_model *m = w->model;
    struct em_text text = {.bytes = NULL};
    char result[128], place[256];
    const char *function = trace_call_function(m, c);
    begin(w, 'X', HOST, (uint64_t)c->thread + 1, c->start);
    put_duration(w, c->start, c->end);
    put_name(w, trace_call_name(m, c));
    fputs(",\"cat\":\"call\",\"args\":{", w->out);
    if (!c->of_library)
        fprintf(w->out, "\"number\":%llu,", (unsigned long long)c->number);
    fputs("\"arguments\":", w->out);
    trace_call_arguments(m, c, &text);
    trace_call_outputs(m, c, &text);
    put_text(w->out, &text);
    em_text_finish(&text);
    trace_call_result(m, c, result, sizeof result);
    trace_call_place(m, c, place, sizeof place);
    fputs(",\"result\":", w->out);
    json_string(w->out, result, strlen(result));
    fputs(",\"caller\":", w->out);
    json_string(w->out, place, strlen(place));
    if (function) {
        fputs(",\"runtime\":", w->out);
        json_string(w->out, function, strlen(function));
    }
    fputs("}}", w->out);
}

// An arrow between two tracks. Both times are inside the slices that it connects.
static void put_arrow(struct writer *w, const char *why, int from_process, uint64_t from,
                      uint64_t from_ns, int to_process, uint64_t to, uint64_t to_ns)
{
    const uint64_t id = ++w->flows;
    begin(w, 's', from_process, from, from_ns);
    put_name(w, why);
    fprintf(w->out, ",\"cat\":\"order\",\"id\":%llu}", (unsigned long long)id);
    begin(w, 'f', to_process, to, to_ns > from_ns ? to_ns : from_ns);
    put_name(w, why);
    fprintf(w->out, ",\"cat\":\"order\",\"bp\":\"e\",\"id\":%llu}", (unsigned long long)id);
}

static bool is_drawn(const struct trace_command *c)
{
    return c->stream != TRACE_NONE && c->start != TRACE_NEVER;
}

static void put_command(struct writer *w, const struct trace_command *c)
{
    const struct trace_model *m = w->model;
    struct em_text text = {.bytes = NULL};
    const uint64_t track = (uint64_t)c->stream + 1;
    begin(w, 'X', CARD, track, c->start);
    put_duration(w, c->start, c->end);
    put_name(w, c->kind);
    fputs(",\"cat\":\"command\",\"args\":{\"text\":", w->out);
    trace_command_text(m, c, &text);
    put_text(w->out, &text);
    em_text_finish(&text);
    fprintf(w->out, ",\"queued\":%.3f}}", (double)c->queued / 1000);
    if (c->call != TRACE_NONE && c->launch == TRACE_NONE)
        put_arrow(w, "submit", HOST, (uint64_t)m->calls[c->call].thread + 1, c->queued, CARD, track,
                  c->start);
}

static void put_edge(struct writer *w, const struct trace_edge *e)
{
    const struct trace_model *m = w->model;
    const struct trace_command *from = e->from == TRACE_NONE ? NULL : &m->commands[e->from],
                               *to = e->to == TRACE_NONE ? NULL : &m->commands[e->to];
    if (!from || !is_drawn(from) || !strcmp(e->why, "stream"))
        return;
    const uint64_t from_ns = from->end == TRACE_NEVER ? from->start : from->end;
    if (to && is_drawn(to))
        put_arrow(w, e->why, CARD, (uint64_t)from->stream + 1, from_ns, CARD,
                  (uint64_t)to->stream + 1, to->start > from_ns ? to->start : to->end);
    else if (e->call != TRACE_NONE)
        put_arrow(w, e->why, CARD, (uint64_t)from->stream + 1, from_ns, HOST,
                  (uint64_t)m->calls[e->call].thread + 1, m->calls[e->call].end);
}

// ---- memory

struct change {
    uint64_t time;
    int64_t bytes;
};

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time;
}

static void put_memory(struct writer *w)
{
    const struct trace_model *m = w->model;
    struct change *changes = malloc((2 * m->memory_count + 1) * sizeof *changes);
    size_t count = 0;
    int64_t bytes = 0;
    for (size_t i = 0; changes && i < m->memory_count; i++) {
        const struct trace_memory *a = &m->memories[i];
        if (!a->address || a->of != TRACE_NONE || !strcmp(a->kind, "reservation"))
            continue;
        changes[count++] = (struct change){a->born, (int64_t)(a->size_B & INT64_MAX)};
        if (a->died != TRACE_NEVER)
            changes[count++] = (struct change){a->died, -(int64_t)(a->size_B & INT64_MAX)};
    }
    if (count)
        qsort(changes, count, sizeof *changes, compare_changes);
    for (size_t i = 0; i < count; i++) {
        bytes = (int64_t)((uint64_t)bytes + (uint64_t)changes[i].bytes);
        begin(w, 'C', CARD, 0, changes[i].time);
        put_name(w, "memory");
        fprintf(w->out, ",\"args\":{\"bytes\":%lld}}", (long long)bytes);
    }
    free(changes);
}

static void put_diagnostic(struct writer *w, const struct trace_diagnostic *d)
{
    const uint64_t thread =
        d->call == TRACE_NONE ? 1 : (uint64_t)w->model->calls[d->call].thread + 1;
    begin(w, 'i', HOST, thread, d->time);
    put_name(w, d->id);
    fputs(",\"cat\":\"diagnostic\",\"s\":\"t\",\"args\":{\"text\":", w->out);
    json_string(w->out, d->text, strlen(d->text));
    fputs("}}", w->out);
}

bool trace_write_perfetto(const struct trace_model *m, const char *path)
{
    struct writer w = {.out = fopen(path, "we"), .model = m};
    if (!w.out) {
        fprintf(stderr, "cardless trace: cannot write %s: %s\n", path, strerror(errno));
        return false;
    }
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", w.out);
    name_tracks(&w);
    for (size_t i = 0; i < m->call_count; i++)
        put_call(&w, &m->calls[i]);
    for (size_t i = 0; i < m->command_count; i++)
        if (is_drawn(&m->commands[i]))
            put_command(&w, &m->commands[i]);
    for (size_t i = 0; i < m->edge_count; i++)
        put_edge(&w, &m->edges[i]);
    for (size_t i = 0; i < m->diagnostic_count; i++)
        put_diagnostic(&w, &m->diagnostics[i]);
    put_memory(&w);
    fputs("\n]}\n", w.out);
    const bool failed = ferror(w.out);
    if (fclose(w.out) || failed) {
        fprintf(stderr, "cardless trace: cannot write %s: %s\n", path, strerror(errno));
        return false;
    }
    return true;
}
