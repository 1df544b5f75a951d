// SPDX-License-Identifier: MIT
// Writes the page of `cardless trace --html`: the template of page/, with the run as JSON in it.
// page/model.js says what it reads. Numbers of calls and commands are positions in the lists, plus
// 1, because the numbers of messages count the calls of each thread.
#include "trace_html.h"

#include "escape.h"
#include "trace_html_derive.h"
#include "trace_html_json.h"
#include "trace_html_layout.h"
#include "trace_html_texels.h"
#include "trace_page.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { ARGUMENTS_MOST_B = 4000, ACCESSES_MOST = 64 };

struct html {
    const struct trace_model *m;
    FILE *to;
    const struct trace_contents *contents; // NULL: the file has none
    struct html_derived derived;
    struct html_strings strings;
};

// Prints "null" for TRACE_NONE, else the position plus 1.
static void html_index(const struct html *h, uint32_t index)
{
    if (index == TRACE_NONE)
        fputs("null", h->to);
    else
        fprintf(h->to, "%u", index + 1);
}

static void html_begin_rows(const struct html *h, const char *name, const char *fields)
{
    fprintf(h->to, ",\n\"%s\":{\"fields\":[%s],\"rows\":[", name, fields);
}

static void html_begin_row(const struct html *h, size_t i)
{
    fputs(i ? ",\n[" : "\n[", h->to);
}

static void html_word(const struct html *h, const char *text)
{
    json_string(h->to, text, text ? strlen(text) : 0);
}

static void html_threads(const struct html *h)
{
    fputs(",\n\"threads\":[", h->to);
    for (size_t i = 0; i < h->m->thread_count; i++) {
        const struct trace_thread *t = &h->m->threads[i];
        char name[64];

        snprintf(name, sizeof name, t->name[0] ? "%s" : "thread", t->name);
        if (t->number && h->m->thread_count > 1)
            snprintf(name + strlen(name), sizeof name - strlen(name), " (%llu)",
                     (unsigned long long)t->number);
        fprintf(h->to, "%s{\"id\":%zu,\"name\":", i ? "," : "", i + 1);
        html_word(h, name);
        putc('}', h->to);
    }
    putc(']', h->to);
}

static void html_streams(const struct html *h)
{
    bool unknown = false;

    fputs(",\n\"streams\":[", h->to);
    for (size_t i = 0; i < h->m->stream_count; i++) {
        const struct trace_stream *s = &h->m->streams[i];

        fprintf(h->to, "%s{\"id\":%zu,\"context\":%u,\"name\":", i ? "," : "", i + 1, s->context);
        html_word(h, s->name[0] ? s->name : "NULL stream");
        putc('}', h->to);
    }
    for (size_t i = 0; i < h->m->command_count; i++)
        unknown |= h->m->commands[i].stream == TRACE_NONE;
    if (unknown)
        fprintf(h->to, "%s{\"id\":0,\"name\":\"unknown stream\"}", h->m->stream_count ? "," : "");
    putc(']', h->to);
}

static void html_call(struct html *h, size_t i)
{
    const struct trace_call *c = &h->m->calls[i];
    const char *function = c->in_function ? NULL : trace_call_function(h->m, c);
    struct em_text text = {.bytes = NULL};
    char result[128], place[256], caller[400];
    size_t length;

    html_begin_row(h, i);
    fprintf(h->to, "%zu,%" PRIu64 ",%" PRIu64 ",%u,", i + 1, c->start,
            (c->end == TRACE_NEVER ? h->m->duration : c->end) - c->start, c->thread + 1);
    html_string(h->to, &h->strings, trace_call_name(h->m, c));
    putc(',', h->to);
    html_call_text(h->m, c, &text);
    length = text.bytes ? strlen(text.bytes) : 0;
    json_string(h->to, text.bytes, length < ARGUMENTS_MOST_B ? length : ARGUMENTS_MOST_B);
    em_text_finish(&text);
    putc(',', h->to);
    trace_call_result(h->m, c, result, sizeof result);
    html_string(h->to, &h->strings, result);
    putc(',', h->to);
    trace_call_place(h->m, c, place, sizeof place);
    snprintf(caller, sizeof caller, "%s%s%s", function ? function : "", function ? " at " : "",
             place);
    html_string(h->to, &h->strings, caller);
    putc(']', h->to);
}

// ---- commands

static void html_accesses(const struct html *h, const struct trace_command *c, bool writes)
{
    struct trace_access accesses[ACCESSES_MOST];
    unsigned count = trace_command_accesses(c, accesses, ACCESSES_MOST), printed = 0;

    for (unsigned i = 0; i < count; i++)
        if (accesses[i].writes == writes && accesses[i].size_B)
            fprintf(h->to, "%s[%" PRIu64 ",%" PRIu64 "]", printed++ ? "," : "[",
                    accesses[i].address, accesses[i].size_B);
    fputs(printed ? "]," : "null,", h->to);
}

// The text of a command without its kind, or null if there is no more.
static void html_command_text(const struct html *h, const struct trace_command *c)
{
    struct em_text text = {.bytes = NULL};
    size_t skip = strlen(c->kind);

    trace_command_text(h->m, c, &text);
    if (text.used > skip)
        skip += strspn(text.bytes + skip, ": ");
    if (c->start == TRACE_NEVER || c->end == TRACE_NEVER)
        em_text_put(&text, "%s%s", text.used > skip ? ", " : "",
                    c->start == TRACE_NEVER ? "never started" : "never ended");
    if (text.used > skip)
        json_string(h->to, text.bytes + skip, text.used - skip);
    else
        fputs("null", h->to);
    em_text_finish(&text);
}

// The semaphore that a command signals or waits for, and the value, from the arguments of its call.
static void html_semaphore(const struct html *h, const struct trace_command *c)
{
    struct em_text text = {.bytes = NULL};
    uint64_t value;
    size_t i = h->m->object_count;

    if (c->call != TRACE_NONE && strstr(c->kind, "semaphore")) {
        html_call_text(h->m, &h->m->calls[c->call], &text);
        for (i = 0; i < h->m->object_count; i++)
            if (!strcmp(h->m->objects[i].type, "CUexternalSemaphore") && text.bytes &&
                html_names_object(text.bytes, &h->m->objects[i]))
                break;
    }
    if (i == h->m->object_count) {
        fputs("null,null", h->to);
    } else {
        value = html_number(text.bytes, "value", 0);
        // Numbers in JavaScript are exact up to 2^53.
        fprintf(h->to, value >> 53 ? "%zu,\"%" PRIu64 "\"" : "%zu,%" PRIu64, i + 1, value);
    }
    em_text_finish(&text);
}

static void html_command(struct html *h, size_t i)
{
    const struct trace_command *c = &h->m->commands[i];
    uint64_t start = c->start == TRACE_NEVER ? c->queued : c->start, end = c->end;

    if (end == TRACE_NEVER)
        end = c->start == TRACE_NEVER ? start : h->m->duration;
    html_begin_row(h, i);
    fprintf(h->to, "%zu,", i + 1);
    html_index(h, c->call);
    fprintf(h->to, ",%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
            c->stream == TRACE_NONE ? 0 : c->stream + 1, c->queued, start, end);
    html_string(h->to, &h->strings, c->kind);
    putc(',', h->to);
    html_command_text(h, c);
    putc(',', h->to);
    html_accesses(h, c, false);
    html_accesses(h, c, true);
    html_semaphore(h, c);
    putc(']', h->to);
}

// ---- edges

static void html_edges(struct html *h)
{
    size_t printed = 0;

    html_begin_rows(h, "edges", "\"from\",\"to\",\"why\"");
    for (size_t i = 0; i < h->m->edge_count; i++) {
        const struct trace_edge *e = &h->m->edges[i];

        if (e->from == TRACE_NONE || (e->to == TRACE_NONE && e->call == TRACE_NONE))
            continue;
        html_begin_row(h, printed++);
        fprintf(h->to, "%u,", e->from + 1);
        if (e->to == TRACE_NONE)
            fprintf(h->to, "-%u,", e->call + 1);
        else
            fprintf(h->to, "%u,", e->to + 1);
        html_string(h->to, &h->strings, e->why);
        putc(']', h->to);
    }
    fputs("]}", h->to);
}

// ---- memory

struct html_memory_row {
    const char *kind, *text;
    uint64_t address, size_B, born, died, offset;
    uint32_t born_call, of; // `of`: the number of the memory below, or 0
};

static void html_memory_row(struct html *h, size_t i, const struct html_memory_row *r)
{
    html_begin_row(h, i);
    fprintf(h->to, "%zu,", i + 1);
    html_string(h->to, &h->strings, r->kind);
    fprintf(h->to, ",%" PRIu64 ",%" PRIu64 ",", r->address, r->size_B);
    html_index(h, r->born_call);
    fprintf(h->to, ",%" PRIu64 ",", r->born);
    html_time(h->to, r->died);
    fprintf(h->to, r->of ? ",%u," : ",null,", r->of);
    fprintf(h->to, "%" PRIu64 ",", r->offset);
    html_string(h->to, &h->strings, r->text);
    putc(']', h->to);
}

// The model's memories, then those that several of them share.
static void html_memories(struct html *h)
{
    const struct html_derived *d = &h->derived;
    size_t count = h->m->memory_count;

    html_begin_rows(h, "memory",
                    "\"id\",\"kind\",\"address\",\"size\",\"born_call\",\"born\",\"died\","
                    "\"of\",\"offset\",\"text\"");
    for (size_t i = 0; i < count; i++) {
        const struct trace_memory *a = &h->m->memories[i];
        bool shared = d->below[i] != TRACE_NONE;

        html_memory_row(h, i,
                        &(struct html_memory_row){
                            .kind = a->kind,
                            .text = "",
                            .address = a->address,
                            .size_B = a->size_B,
                            .born = a->born,
                            .died = a->died,
                            .offset = shared ? a->offset : 0,
                            .born_call = a->born_call,
                            .of = shared ? d->below[i] + 1 : 0,
                        });
    }
    for (size_t i = 0; i < d->shared_count; i++) {
        const struct html_shared *s = &d->shared[i];

        html_memory_row(h, count + i,
                        &(struct html_memory_row){
                            .kind = "shared memory",
                            .text = "",
                            .size_B = s->size_B,
                            .born = s->born,
                            .died = s->died,
                            .born_call = s->born_call,
                        });
    }
    fputs("]}", h->to);
}

static void html_arrays(const struct html *h)
{
    uint64_t left_B = HTML_TEXELS_MOST_B;

    fputs(",\n\"arrays\":[", h->to);
    for (size_t i = 0; i < h->derived.array_count; i++) {
        const struct html_array *a = &h->derived.arrays[i];
        const struct dm_layout_level *v = &a->layout.level[0];
        const struct trace_array *t = &h->m->arrays[a->array];
        const struct trace_object *o = &h->m->objects[t->object];
        uint64_t base = t->memory == TRACE_NONE ? 0 : h->m->memories[t->memory].address;

        fprintf(h->to,
                "%s\n{\"id\":%zu,\"width\":%u,\"height\":%u,\"depth\":%u,\"memory\":", i ? "," : "",
                i + 1, v->width_px, a->layout.dimensions > 1 ? v->height_px : 0,
                a->layout.dimensions > 2 ? v->depth : 0);
        html_index(h, t->memory);
        fprintf(h->to, ",\"offset\":%" PRIu64 ",\"call\":", base ? t->address - base : 0);
        html_index(h, o->born_call);
        fprintf(h->to, ",\"born\":%" PRIu64 ",\"died\":", o->born);
        html_time(h->to, o->died);
        fprintf(h->to, ",\"format\":");
        html_word(h, a->format);
        fprintf(h->to, ",\"name\":\"%s #%llu\",\"layout\":", o->type,
                (unsigned long long)o->number);
        trace_html_layout(h->to, &a->layout);
        html_texels(h->to, h->m, h->contents, t, &left_B);
        putc('}', h->to);
    }
    putc(']', h->to);
}

// ---- objects that have lanes

// The times in which a graphics resource is mapped.
static void html_mapped(const struct html *h, const struct trace_object *o)
{
    size_t printed = 0;
    uint64_t from = TRACE_NEVER;

    fputs(",\"spans\":[", h->to);
    for (size_t i = 0; i < h->m->mapping_count; i++) {
        const struct trace_mapping *a = &h->m->mappings[i];

        if (a->handle != o->handle || a->time < o->born || a->time > o->died)
            continue;
        if (!a->is_mapped && from != TRACE_NEVER)
            fprintf(h->to, "%s[%" PRIu64 ",%" PRIu64 "]", printed++ ? "," : "", from, a->time);
        from = a->is_mapped ? a->time : TRACE_NEVER;
    }
    if (from != TRACE_NEVER) { // a resource may end while it is mapped
        fprintf(h->to, "%s[%" PRIu64 ",", printed ? "," : "", from);
        html_time(h->to, o->died);
        putc(']', h->to);
    }
    putc(']', h->to);
}

static void html_objects(const struct html *h)
{
    size_t printed = 0;

    fputs(",\n\"objects\":[", h->to);
    for (size_t i = 0; i < h->m->object_count; i++) {
        const struct trace_object *o = &h->m->objects[i];
        bool graphics = !strcmp(o->type, "CUgraphicsResource");

        if (!graphics && strcmp(o->type, "CUexternalSemaphore") != 0)
            continue;
        fprintf(h->to, "%s\n{\"id\":%zu,\"kind\":\"%s\",\"name\":\"%s #%llu\",\"born_call\":",
                printed++ ? "," : "", i + 1, graphics ? "graphics resource" : "semaphore", o->type,
                (unsigned long long)o->number);
        html_index(h, o->born_call);
        fprintf(h->to, ",\"born\":%" PRIu64 ",\"died\":", o->born);
        html_time(h->to, o->died);
        if (graphics)
            html_mapped(h, o);
        putc('}', h->to);
    }
    putc(']', h->to);
}

static void html_diagnostics(const struct html *h)
{
    fputs(",\n\"diagnostics\":[", h->to);
    for (size_t i = 0; i < h->m->diagnostic_count; i++) {
        const struct trace_diagnostic *d = &h->m->diagnostics[i];

        fprintf(h->to, "%s\n{\"t\":%" PRIu64 ",\"call\":", i ? "," : "", d->time);
        html_index(h, d->call);
        fputs(",\"id\":", h->to);
        html_word(h, d->id);
        fputs(",\"text\":", h->to);
        html_word(h, d->text);
        fputs(",\"memory\":", h->to);
        html_index(h, html_memory_in_text(h->m, d->text, d->time));
        putc('}', h->to);
    }
    putc(']', h->to);
}

static void html_data(struct html *h)
{
    const struct rf_header *header = &h->m->file.header;

    fputs("{\"version\":1,\"program\":", h->to);
    html_word(h, header->program);
    fputs(",\"cpu\":", h->to);
    html_word(h, header->cpu);
    fputs(",\"policy\":", h->to);
    html_word(h, header->policy);
    fprintf(h->to, ",\"duration_ns\":%" PRIu64 ",\"lost\":%u", h->m->duration, h->m->file.lost);
    html_threads(h);
    html_streams(h);
    html_begin_rows(h, "calls",
                    "\"n\",\"t\",\"d\",\"thread\",\"name\",\"args\",\"result\",\"caller\"");
    for (size_t i = 0; i < h->m->call_count; i++)
        html_call(h, i);
    fputs("]}", h->to);
    html_begin_rows(h, "commands",
                    "\"id\",\"call\",\"stream\",\"queued\",\"start\",\"end\",\"kind\",\"text\","
                    "\"reads\",\"writes\",\"object\",\"value\"");
    for (size_t i = 0; i < h->m->command_count; i++)
        html_command(h, i);
    fputs("]}", h->to);
    html_edges(h);
    html_memories(h);
    html_arrays(h);
    html_objects(h);
    html_diagnostics(h);
    fputs(",\n\"strings\":", h->to);
    html_strings_finish(h->to, &h->strings);
    fputs("}\n", h->to);
}

bool trace_write_html(const struct trace_model *m, const char *path)
{
    struct trace_contents contents = {.bytes = NULL};
    struct html h = {.m = m};
    bool works = html_derive(&h.derived, m);

    if (works && m->file.header.contents_most_B) {
        works = trace_contents_read(m, &contents);
        h.contents = &contents;
    }
    errno = ENOMEM; // if that failed
    h.to = works ? fopen(path, "w") : NULL;
    works = h.to != NULL;
    if (works) {
        fwrite(trace_page_before, 1, sizeof trace_page_before, h.to);
        if (!fflush(h.to))
            html_data(&h);
        fwrite(trace_page_after, 1, sizeof trace_page_after, h.to);
        works = !fflush(h.to) && !ferror(h.to);
        works = !fclose(h.to) && works;
    }
    if (!works)
        fprintf(stderr, "cardless trace: cannot write %s: %s\n", path, strerror(errno));
    html_derived_finish(&h.derived);
    trace_contents_free(&contents);
    return works;
}
