// SPDX-License-Identifier: MIT
// Texts of a recorded run: arguments by field name, results, callers, commands.
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "escape.h"
#include "trace_model.h"

// ---- handles

// cardlessTypes.handle_text has no argument for the model. A program reads one model at a time.
static const struct trace_model *current;
static uint32_t current_stream_type;

static const char *special_text(const struct trace_model *m, uint64_t handle)
{
    size_t low = 0, high = m->text_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (m->texts[middle].handle < handle)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->text_count && m->texts[low].handle == handle ? m->texts[low].text : NULL;
}

bool trace_handle_text(const struct trace_model *m, uint64_t handle, char *out, size_t size)
{
    const char *special = special_text(m, handle);
    if (special) {
        snprintf(out, size, "%s", special);
        return true;
    }
    size_t low = 0, high = m->object_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (m->objects[m->sorted[middle]].handle < handle)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == m->object_count || m->objects[m->sorted[low]].handle != handle)
        return false;
    const struct trace_object *o = &m->objects[m->sorted[low]];
    snprintf(out, size, "%s #%llu", o->type, (unsigned long long)o->number);
    return true;
}

uint32_t trace_object_at(const struct trace_model *m, uint64_t handle, uint64_t time)
{
    size_t low = 0, high = m->object_count; // the last object of this handle that was born by then
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const struct trace_object *o = &m->objects[m->sorted[middle]];
        if (o->handle < handle || (o->handle == handle && o->born <= time))
            low = middle + 1;
        else
            high = middle;
    }
    return low && m->objects[m->sorted[low - 1]].handle == handle ? m->sorted[low - 1] : TRACE_NONE;
}

bool trace_array_level(const struct trace_array *a, uint32_t level, struct trace_level *out)
{
    enum { FIELDS = 14 };
    struct trace_record r = {.at = a->level_fields, .end = a->end};
    uint64_t f[FIELDS];
    if (level >= a->levels)
        return false;
    for (uint32_t i = 0; i <= level; i++)
        for (unsigned k = 0; k < FIELDS; k++)
            f[k] = trace_field(&r);
    *out = (struct trace_level){.offset_B = f[0],
                                .size_B = f[1],
                                .pitch_B = f[2],
                                .slice_B = f[3],
                                .layer_stride_B = f[4],
                                .width_px = (uint32_t)f[5],
                                .height_px = (uint32_t)f[6],
                                .width_el = (uint32_t)f[7],
                                .height_el = (uint32_t)f[8],
                                .depth = (uint32_t)f[9],
                                .width_gob = (uint32_t)f[10],
                                .height_gob = (uint32_t)f[11],
                                .block_height_log2_gob = (uint32_t)f[12],
                                .block_depth_log2_gob = (uint32_t)f[13]};
    return true;
}

const char *trace_special_stream(uint64_t handle)
{
    switch (handle) {
    case 0:
    case 1:
        return "CU_STREAM_LEGACY";
    case 2:
        return "CU_STREAM_PER_THREAD";
    default:
        return NULL;
    }
}

static bool handle_text(unsigned type, uint64_t handle, char *out, size_t size)
{
    const char *special = trace_special_stream(handle);
    if (type == current_stream_type && special) {
        snprintf(out, size, "%s", special);
        return true;
    }
    return trace_handle_text(current, handle, out, size);
}

// ---- memory of the program

static size_t read_blobs(const struct trace_blobs *blobs, uint64_t address, void *out, size_t size)
{
    struct trace_record r = {.at = blobs->at, .end = blobs->end};
    while (r.at < r.end) {
        const uint64_t start = trace_field(&r);
        uint64_t length = trace_field(&r);
        const uint64_t left = (uint64_t)(r.end - r.at);
        length = length < left ? length : left;
        if (address >= start && address - start < length) {
            const uint64_t skip = address - start, there = length - skip;
            const size_t n = there < size ? (size_t)there : size;
            memcpy(out, r.at + skip, n);
            if (n == size)
                return n;
            // A string may be shorter than it was asked for; other blobs may have more of a value.
            struct trace_blobs rest = {r.at + length, r.end};
            const size_t more = read_blobs(&rest, address, out, size);
            if (more)
                return more;
            memcpy(out, r.at + skip, n);
            return n;
        }
        r.at += length;
    }
    return 0;
}

static size_t read_before(const void *call, uint64_t address, void *out, size_t size)
{
    return read_blobs(&((const struct trace_call *)call)->before, address, out, size);
}

static size_t read_after(const void *call, uint64_t address, void *out, size_t size)
{
    const struct trace_call *c = call;
    const size_t got = read_blobs(&c->after, address, out, size);
    return got ? got : read_blobs(&c->before, address, out, size);
}

// ---- calls

const char *trace_call_name(const struct trace_model *m, const struct trace_call *c)
{
    const char *name = c->entry == TRACE_NONE ? NULL : m->entries[c->entry].name;
    return name ? name : "?";
}

const char *trace_call_number(const struct trace_call *c, char out[24])
{
    out[0] = 0;
    if (!c->of_library)
        snprintf(out, 24, "#%llu ", (unsigned long long)c->number);
    return out;
}

const char *trace_call_function(const struct trace_model *m, const struct trace_call *c)
{
    return c->function == TRACE_NONE ? NULL : m->entries[c->function].name;
}

unsigned trace_call_values(const struct trace_call *c, uint64_t out[TRACE_ARGUMENTS_MAX])
{
    struct trace_record r = {.at = c->arguments, .end = c->before.at},
                        base = {.at = c->base, .end = c->base_end};
    for (uint32_t i = 0; i < c->argument_count; i++) {
        const uint64_t old = c->base ? trace_field(&base) : 0;
        out[i] = c->base && !(c->differ >> i & 1) ? old : trace_field(&r);
    }
    return c->argument_count;
}

static bool describe(const struct trace_model *m, const struct trace_call *c,
                     uint64_t values[TRACE_ARGUMENTS_MAX], cardlessTypes *d, struct em_arguments *a)
{
    const struct trace_entry *e = c->entry == TRACE_NONE ? NULL : &m->entries[c->entry];
    const unsigned count = trace_call_values(c, values);
    if (!e || !e->argument_count || e->argument_count != count)
        return false;
    current = m;
    current_stream_type = e->types->stream_type;
    *d = e->types->description;
    d->handle_text = handle_text;
    *a = (struct em_arguments){d, e->first_argument, count, values, read_before, c};
    return true;
}

void trace_call_arguments(const struct trace_model *m, const struct trace_call *c,
                          struct em_text *text)
{
    uint64_t values[TRACE_ARGUMENTS_MAX];
    cardlessTypes d;
    struct em_arguments a;
    if (describe(m, c, values, &d, &a)) {
        em_describe_arguments(text, &a);
        return;
    }
    for (uint32_t i = 0; i < c->argument_count; i++)
        em_text_put(text, "%s0x%llx", i ? ", " : "", (unsigned long long)values[i]);
}

void trace_call_outputs(const struct trace_model *m, const struct trace_call *c,
                        struct em_text *text)
{
    uint64_t values[TRACE_ARGUMENTS_MAX];
    cardlessTypes d;
    struct em_arguments a;
    if (c->end == TRACE_NEVER || !describe(m, c, values, &d, &a))
        return;
    a.read = read_after;
    em_describe_outputs(text, &a, c->result != 0);
}

static void result_name(const struct trace_types *types, int32_t result, char *out, size_t size)
{
    struct em_text text = {.bytes = NULL};
    if (types)
        em_describe_result(&text, &types->description, result);
    if (text.used)
        snprintf(out, size, "%.*s", (int)text.used, text.bytes);
    else
        snprintf(out, size, "%d", result);
    em_text_finish(&text);
}

void trace_result_name(const struct trace_model *m, int32_t result, char *out, size_t size)
{
    result_name(trace_types_of(&m->file, 0), result, out, size);
}

void trace_call_result(const struct trace_model *m, const struct trace_call *c, char *out,
                       size_t size)
{
    if (c->end == TRACE_NEVER)
        snprintf(out, size, "never returned");
    else
        result_name(c->entry == TRACE_NONE ? trace_types_of(&m->file, 0)
                                           : m->entries[c->entry].types,
                    c->result, out, size);
}

void trace_call_place(const struct trace_model *m, const struct trace_call *c, char *out,
                      size_t size)
{
    if (c->caller == TRACE_NONE) {
        snprintf(out, size, "?");
        return;
    }
    const struct trace_caller *by = &m->callers[c->caller];
    const struct trace_module *module = by->module == TRACE_NONE ? NULL : &m->modules[by->module];
    const char *path = module && module->path ? module->path : NULL;
    const char *slash = path ? strrchr(path, '/') : NULL;
    char name[256];
    if (path) // names of files may have control characters
        escape_line(slash ? slash + 1 : path, PATH_MAX, name, sizeof name);
    if (by->place)
        escape_line(by->place, size, out, size);
    else if (path)
        snprintf(out, size, "%s+0x%llx", name, (unsigned long long)(by->address - module->first));
    else
        snprintf(out, size, "0x%llx", (unsigned long long)by->address);
}

// ---- commands

unsigned trace_command_accesses(const struct trace_command *c, struct trace_access *out,
                                unsigned most)
{
    struct trace_record r = {.at = c->accesses, .end = c->accesses_end};
    unsigned count = 0;
    for (uint32_t i = 0; i < c->access_count && count < most && r.at < r.end; i++) {
        const uint64_t what = trace_field(&r);
        struct trace_access *a = &out[count++];
        a->writes = (what & 15) != 0;
        a->is_box = what >> 4 == RF_ACCESS_BOX;
        a->address = trace_field(&r);
        a->size_B = trace_field(&r);
    }
    return count;
}

// The kernel of a launch: the name of the function among the arguments.
static const char *kernel_of(const struct trace_model *m, const struct trace_command *c)
{
    uint64_t values[TRACE_ARGUMENTS_MAX];
    const unsigned count =
        c->call == TRACE_NONE ? 0 : trace_call_values(&m->calls[c->call], values);
    for (unsigned i = 0; i < count; i++) {
        const char *text = special_text(m, values[i]);
        if (text)
            return text;
    }
    return NULL;
}

void trace_command_text(const struct trace_model *m, const struct trace_command *c,
                        struct em_text *text)
{
    enum { SHOWN = 8 };
    struct trace_access accesses[SHOWN];
    const unsigned count = trace_command_accesses(c, accesses, SHOWN);
    const char *kernel = strstr(c->kind, "kernel") ? kernel_of(m, c) : NULL;
    em_text_put(text, "%s", c->kind);
    if (kernel)
        em_text_put(text, " %s", kernel);
    for (unsigned i = 0; i < count; i++) {
        const struct trace_access *a = &accesses[i];
        em_text_put(text, "%s%s 0x%llx+%llu", i ? ", " : ": ", a->writes ? "writes" : "reads",
                    (unsigned long long)a->address, (unsigned long long)a->size_B);
    }
    if (c->access_count > count)
        em_text_put(text, ", … %u in all", c->access_count);
}
