// SPDX-License-Identifier: MIT
// Builds the lists of a recorded run from its records.
#include "trace_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_build.h"

// ---- lists

// Makes place for one more element. Returns false if memory runs out.
static bool grow(void **list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    const size_t more = *capacity ? 2 * *capacity : 64;
    void *bigger = realloc(*list, more * size);
    if (!bigger)
        return false;
    memset((char *)bigger + count * size, 0, (more - count) * size);
    *list = bigger;
    *capacity = more;
    return true;
}

#define X(name, list)                                                                              \
    struct trace_##name *trace_add_##name(struct trace_model *m)                                   \
    {                                                                                              \
        if (!grow((void **)&m->list, m->name##_count, &m->name##_capacity, sizeof *m->list))       \
            return NULL;                                                                           \
        struct trace_##name *added = &m->list[m->name##_count++];                                  \
        memset(added, 0, sizeof *added);                                                           \
        return added;                                                                              \
    }
TRACE_LISTS(X)
#undef X

static void fill_text(struct trace_record *r, char *out, size_t size)
{
    char *text = trace_copy_text(r);
    snprintf(out, size, "%s", text ? text : "");
    free(text);
}

// ---- definitions

enum { IDS_MAX = 1 << 20 };

// Lists whose positions are ids have all positions up to the highest id.
#define EXTEND(model, name, id)                                                                    \
    while ((model)->name##_count <= (id))                                                          \
        if (!trace_add_##name(model))                                                              \
            return false;

static bool define(struct trace_model *m, const struct trace_block *b, struct trace_record *r)
{
    uint64_t id;
    switch (r->kind) {
    case RF_ENTRY:
        id = trace_field(r);
        if (id >= IDS_MAX)
            return true;
        EXTEND(m, entry, id)
        m->entries[id].first_argument = (uint32_t)trace_field(r);
        m->entries[id].argument_count = (uint32_t)trace_field(r);
        free(m->entries[id].name);
        m->entries[id].name = trace_copy_text(r);
        m->entries[id].types_id = trace_field(r);
        return true;
    case RF_NAME:
        id = trace_field(r);
        if (id >= IDS_MAX)
            return true;
        EXTEND(m, name, id)
        free(m->names[id].text);
        m->names[id].text = trace_copy_text(r);
        return true;
    case RF_CALLER:
        id = trace_field(r);
        if (id >= IDS_MAX)
            return true;
        EXTEND(m, caller, id)
        m->callers[id].address = trace_field(r);
        return true;
    case RF_MODULE: {
        struct trace_module *module = trace_add_module(m);
        if (!module)
            return false;
        module->first = trace_field(r);
        module->end = trace_field(r);
        module->path = trace_copy_text(r);
        return true;
    }
    case RF_THREAD: {
        struct trace_thread *thread = trace_add_thread(m);
        if (!thread)
            return false;
        thread->id = b->thread;
        thread->number = trace_field(r);
        thread->system = trace_field(r);
        fill_text(r, thread->name, sizeof thread->name);
        return true;
    }
    case RF_STREAM: {
        struct trace_stream *stream = trace_add_stream(m);
        if (!stream)
            return false;
        stream->id = trace_field(r);
        trace_field(r);
        trace_field(r);
        stream->context_handle = trace_field(r);
        fill_text(r, stream->name, sizeof stream->name);
        stream->order = trace_field(r);
        return true;
    }
    case RF_HANDLE: {
        if (!grow((void **)&m->texts, m->text_count, &m->text_capacity, sizeof *m->texts))
            return false;
        struct trace_text_of *t = &m->texts[m->text_count++];
        t->handle = trace_field(r);
        t->text = trace_copy_text(r);
        return true;
    }
    default:
        return true;
    }
}

static int compare_texts(const void *a, const void *b)
{
    const struct trace_text_of *x = a, *y = b;
    return x->handle < y->handle ? -1 : x->handle > y->handle;
}

static int compare_streams(const void *a, const void *b)
{
    const struct trace_stream *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static bool read_definitions(struct trace_model *m)
{
    for (size_t i = 0; i < m->file.block_count; i++) {
        const struct trace_block *b = &m->file.blocks[i];
        size_t position = 0;
        uint64_t ticks = b->ticks;
        struct trace_record r;
        while (trace_next(b, &position, &ticks, &r))
            if (!define(m, b, &r))
                return false;
    }
    for (size_t i = 0; i < m->entry_count; i++) {
        struct trace_entry *e = &m->entries[i];
        e->types = trace_types_of(&m->file, e->types_id);
        if (!e->types || !trace_arguments_are_valid(e->types, e->first_argument, e->argument_count))
            e->argument_count = 0;
    }
    for (size_t i = 0; i < m->caller_count; i++) {
        struct trace_caller *c = &m->callers[i];
        c->module = TRACE_NONE;
        for (size_t k = 0; k < m->module_count; k++)
            if (c->address >= m->modules[k].first && c->address < m->modules[k].end)
                c->module = (uint32_t)k;
    }
    if (m->text_count)
        qsort(m->texts, m->text_count, sizeof *m->texts, compare_texts);
    if (m->stream_count)
        qsort(m->streams, m->stream_count, sizeof *m->streams, compare_streams);
    return true;
}

// ---- the whole

static bool build(struct trace_model *m)
{
    return read_definitions(m) && trace_read_events(m) && trace_relate(m);
}

bool trace_open(struct trace_model *m, const char *path)
{
    *m = (struct trace_model){.duration = 0};
    if (!trace_file_open(&m->file, path))
        return false;
    if (build(m))
        return true;
    fprintf(stderr, "cardless: out of memory for the trace %s\n", path);
    trace_close(m);
    return false;
}

bool trace_open_bytes(struct trace_model *m, uint8_t *bytes, size_t size_B)
{
    *m = (struct trace_model){.duration = 0};
    if (trace_file_read(&m->file, bytes, size_B, NULL) && build(m))
        return true;
    trace_close(m);
    return false;
}

void trace_close(struct trace_model *m)
{
    for (size_t i = 0; i < m->entry_count; i++)
        free(m->entries[i].name);
    for (size_t i = 0; i < m->name_count; i++)
        free(m->names[i].text);
    for (size_t i = 0; i < m->module_count; i++)
        free(m->modules[i].path);
    for (size_t i = 0; i < m->caller_count; i++)
        free(m->callers[i].place);
    for (size_t i = 0; i < m->text_count; i++)
        free(m->texts[i].text);
    for (size_t i = 0; i < m->diagnostic_count; i++) {
        free(m->diagnostics[i].id);
        free(m->diagnostics[i].text);
    }
#define X(name, list) free(m->list);
    TRACE_LISTS(X)
#undef X
    free(m->texts);
    free(m->sorted);
    trace_file_close(&m->file);
    *m = (struct trace_model){.duration = 0};
}
