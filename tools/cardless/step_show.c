// SPDX-License-Identifier: MIT
// Prints the state of a program that has stopped before a call or a command.
#include "step_show.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "step_effect.h"

static const char *const headings[] = {
    [STEP_MAP] = "memory", [STEP_OBJECTS] = "objects", [STEP_QUEUES] = "queued"};

// Adds the line and frees the text.
static void add_line(struct step_lines *l, enum step_part part, struct em_text *text,
                     const char *state)
{
    if (l->count == l->capacity) {
        const size_t capacity = 2 * l->capacity + 16;
        struct step_line *lines = realloc(l->lines, capacity * sizeof *lines);
        l->lines = lines ? lines : l->lines;
        l->capacity = lines ? capacity : l->capacity;
    }
    char *copy = l->count < l->capacity ? strndup(text->used ? text->bytes : "", text->used) : NULL;
    if (copy)
        l->lines[l->count++] = (struct step_line){part, copy, state};
    em_text_finish(text);
}

// "1 MiB" if that is exact, else bytes.
static void put_size(struct em_text *text, uint64_t size_B)
{
    const uint64_t mib = 1 << 20;
    if (size_B >= mib && size_B % mib == 0)
        em_text_put(text, "%llu MiB", (unsigned long long)(size_B / mib));
    else
        em_text_put(text, "%llu bytes", (unsigned long long)size_B);
}

static bool shares(const struct trace_model *m, uint32_t older, uint32_t memory)
{
    return m->memories[older].died == TRACE_NEVER &&
           trace_memory_overlaps(&m->memories[older], &m->memories[memory]);
}

// The memory of which this one shows a part: the newest one that lives and has no address, such as
// an import, else the oldest mapping. TRACE_NONE: no other memory has any of these bytes.
static uint32_t below(const struct trace_model *m, uint32_t memory)
{
    uint32_t oldest = TRACE_NONE;
    for (uint32_t i = memory; i-- && m->memories[memory].physical;) {
        if (!shares(m, i, memory))
            continue;
        if (!m->memories[i].address)
            return i;
        oldest = i;
    }
    return oldest;
}

// "memory 2, imported memory: 64 bytes at 0x…; the bytes of memory 1 from 4096 on; overlaps …".
static void add_memory(struct step_lines *l, const struct trace_model *m, uint32_t memory)
{
    const struct trace_memory *a = &m->memories[memory];
    struct em_text text = {.bytes = NULL};
    char handle[128];
    const char *name = a->kind;
    if (!a->address && trace_handle_text(m, a->id, handle, sizeof handle))
        name = handle;
    em_text_put(&text, "memory %u, %s: ", memory + 1, name);
    put_size(&text, a->size_B);
    if (a->address)
        em_text_put(&text, " at 0x%llx", (unsigned long long)a->address);
    else
        em_text_put(&text, " without an address");
    const uint32_t of = below(m, memory);
    if (of != TRACE_NONE) {
        em_text_put(&text, "; the bytes of memory %u", of + 1);
        if (a->offset != m->memories[of].offset)
            em_text_put(&text, " from %lld on", (long long)(a->offset - m->memories[of].offset));
    }
    bool any = false;
    for (uint32_t i = 0; i < memory && of != TRACE_NONE; i++) {
        if (i == of || !m->memories[i].address || !shares(m, i, memory))
            continue;
        em_text_put(&text, "%s memory %u", any ? "," : "; overlaps", i + 1);
        any = true;
    }
    add_line(l, STEP_MAP, &text, "");
}

// Whether the object is memory without an address, which has a line of its own.
static bool is_memory(const struct trace_model *m, uint64_t handle)
{
    for (size_t i = 0; i < m->memory_count; i++)
        if (m->memories[i].id == handle && !m->memories[i].address &&
            m->memories[i].died == TRACE_NEVER)
            return true;
    return false;
}

// "CUarray #1: 64 x 64 x 0 texels of 4 bytes …" as far as the recording says.
static void add_object(struct step_lines *l, const struct trace_model *m, uint32_t object)
{
    const struct trace_object *o = &m->objects[object];
    struct em_text text = {.bytes = NULL}, address = {.bytes = NULL};
    em_text_put(&text, "%s #%llu", o->type, (unsigned long long)o->number);
    for (size_t i = 0; i < m->array_count; i++) {
        const struct trace_array *a = &m->arrays[i];
        struct trace_level level;
        if (a->object != object || !trace_array_level(a, a->level, &level))
            continue;
        em_text_put(&text, ": %u x %u texels", level.width_px, level.height_px);
        if (a->dimensions == 3)
            em_text_put(&text, " x %u slices", level.depth);
        if (a->layered)
            em_text_put(&text, ", %u layers", a->layers);
        if (a->levels > 1)
            em_text_put(&text, ", level %u of %u", a->level, a->levels);
        em_text_put(&address, "0x%llx", (unsigned long long)(a->address + level.offset_B));
        em_text_put(&text, ", in ");
        trace_name_addresses(m, &address, m->duration, &text);
        em_text_finish(&address);
        break;
    }
    add_line(l, STEP_OBJECTS, &text, "");
}

// "CUstream #1: memcpy: reads 64 bytes at memory 1, writes 64 bytes at address".
static void put_command(const struct trace_model *m, const struct trace_command *c,
                        struct em_text *out)
{
    enum { SHOWN = 8 };
    struct trace_access accesses[SHOWN];
    struct em_text text = {.bytes = NULL}, named = {.bytes = NULL};
    const unsigned count = trace_command_accesses(c, accesses, SHOWN);
    em_text_put(out, "%s: ", c->stream == TRACE_NONE ? "?" : m->streams[c->stream].name);
    trace_command_text(m, c, &text); // which has the accesses after a colon
    const char *colon = text.used ? memchr(text.bytes, ':', text.used) : NULL;
    em_text_put(out, "%.*s", (int)(count && colon ? (size_t)(colon - text.bytes) : text.used),
                text.used ? text.bytes : "");
    em_text_finish(&text);
    for (unsigned i = 0; i < count; i++) {
        const struct trace_access *a = &accesses[i];
        em_text_put(&text, "%s %s %llu bytes at 0x%llx", i ? "," : ":",
                    a->writes ? "writes" : "reads", (unsigned long long)a->size_B,
                    (unsigned long long)a->address);
    }
    if (c->access_count > count)
        em_text_put(&text, ", … %u in all", c->access_count);
    trace_name_addresses(m, &text, m->duration, &named);
    if (named.used)
        em_text_append(out, &named);
    em_text_finish(&text);
    em_text_finish(&named);
}

static void add_command(struct step_lines *l, const struct trace_model *m, uint32_t command,
                        uint64_t next)
{
    const struct trace_command *c = &m->commands[command];
    struct em_text text = {.bytes = NULL};
    const char *state = ", waits";
    if (c->id == next)
        state = ", runs next";
    else if (c->at_once || c->start != TRACE_NEVER)
        state = ", runs";
    em_text_put(&text, "command %u, ", command + 1);
    put_command(m, c, &text);
    add_line(l, STEP_QUEUES, &text, state);
}

void step_lines_of(struct step_lines *l, const struct trace_model *m, uint64_t next)
{
    for (uint32_t i = 0; i < m->memory_count; i++)
        if (m->memories[i].died == TRACE_NEVER)
            add_memory(l, m, i);
    for (uint32_t i = 0; i < m->object_count; i++)
        if (m->objects[i].died == TRACE_NEVER && !is_memory(m, m->objects[i].handle))
            add_object(l, m, i);
    for (uint32_t i = 0; i < m->command_count; i++)
        if (m->commands[i].end == TRACE_NEVER)
            add_command(l, m, i, next);
}

void step_lines_finish(struct step_lines *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->lines[i].text);
    free(l->lines);
    *l = (struct step_lines){.lines = NULL};
}

void step_lines_print(const struct step_lines *l, unsigned parts, FILE *out)
{
    for (unsigned part = STEP_MAP; part <= STEP_QUEUES; part <<= 1) {
        bool any = false;
        if (!(parts & part))
            continue;
        fprintf(out, "  %s:\n", headings[part]);
        for (size_t i = 0; i < l->count; i++) {
            if (l->lines[i].part != part)
                continue;
            fprintf(out, "    %s%s\n", l->lines[i].text, l->lines[i].state);
            any = true;
        }
        if (!any)
            fprintf(out, "    nothing\n");
    }
}

static bool has(const struct step_lines *l, const char *line)
{
    for (size_t i = 0; i < l->count; i++)
        if (!strcmp(l->lines[i].text, line))
            return true;
    return false;
}

void step_lines_compare(const struct step_lines *before, const struct step_lines *now, FILE *out)
{
    for (size_t i = 0; i < before->count; i++)
        if (!has(now, before->lines[i].text))
            fprintf(out, "  - %s\n", before->lines[i].text);
    for (size_t i = 0; i < now->count; i++)
        if (!has(before, now->lines[i].text))
            fprintf(out, "  + %s\n", now->lines[i].text);
}

// ---- calls and commands

// The arguments, in which memory has its name.
static void named_arguments(const struct trace_model *m, const struct trace_call *c,
                            struct em_text *out)
{
    struct em_text text = {.bytes = NULL};
    trace_call_arguments(m, c, &text);
    trace_name_addresses(m, &text, m->duration, out);
    em_text_finish(&text);
}

// As in messages: "thread 2 ", and nothing for the first one.
static void print_thread(const struct trace_model *m, const struct trace_call *c, FILE *out)
{
    if (m->threads[c->thread].number > 1)
        fprintf(out, "thread %llu ", (unsigned long long)m->threads[c->thread].number);
}

void step_show_call(const struct trace_model *m, const struct trace_call *c, FILE *out)
{
    struct em_text arguments = {.bytes = NULL}, effect = {.bytes = NULL};
    char place[256];
    char number[24];
    const char *function = c->in_function ? NULL : trace_call_function(m, c);
    named_arguments(m, c, &arguments);
    trace_call_place(m, c, place, sizeof place);
    print_thread(m, c, out);
    fprintf(out, "%s%s%s%s(%.*s) at %s\n", trace_call_number(c, number), function ? function : "",
            function ? ": " : "", trace_call_name(m, c), (int)arguments.used,
            arguments.used ? arguments.bytes : "", place);
    step_effect(m, c, &arguments, &effect);
    if (effect.used)
        fprintf(out, "  next: %.*s.\n", (int)effect.used, effect.bytes);
    em_text_finish(&arguments);
    em_text_finish(&effect);
}

void step_show_return(const struct trace_model *m, const struct trace_call *c, FILE *out)
{
    struct em_text text = {.bytes = NULL}, named = {.bytes = NULL};
    char result[128], number[24];
    trace_call_result(m, c, result, sizeof result);
    trace_call_outputs(m, c, &text);
    trace_name_addresses(m, &text, m->duration, &named);
    fprintf(out, "  ");
    print_thread(m, c, out);
    fprintf(out, "%s%s = %s%.*s\n", trace_call_number(c, number), trace_call_name(m, c), result,
            (int)named.used, named.used ? named.bytes : "");
    em_text_finish(&text);
    em_text_finish(&named);
}

void step_show_command(const struct trace_model *m, const struct trace_command *c, FILE *out)
{
    struct em_text text = {.bytes = NULL};
    put_command(m, c, &text);
    fprintf(out, "command %zu, %.*s\n", (size_t)(c - m->commands) + 1, (int)text.used,
            text.used ? text.bytes : "");
    em_text_finish(&text);
}
