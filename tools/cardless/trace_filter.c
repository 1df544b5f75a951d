// SPDX-License-Identifier: MIT
// `cardless trace --filter`: which calls and commands are shown.
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

static bool wrong(const char *part)
{
    fprintf(stderr,
            "cardless trace: --filter takes name=PATTERN, stream=PATTERN, result=PATTERN, "
            "thread=N, depth=N, address=A or address=A-B, and time=A-B in microseconds, with "
            "commas between them, not %s\n",
            part);
    return false;
}

// Reads "A-B". An address alone is a range of one byte.
static bool read_range(const char *text, double unit, uint64_t *first, uint64_t *end)
{
    char *rest;
    const int base = unit == 1 ? 0 : 10;
    *first = (uint64_t)((double)strtoull(text, &rest, base) * unit);
    if (unit == 1)
        *first = strtoull(text, &rest, base);
    if (rest == text)
        return false;
    if (!*rest) {
        *end = *first + 1;
        return unit == 1;
    }
    if (*rest != '-')
        return false;
    text = rest + 1;
    const uint64_t last = strtoull(text, &rest, base);
    *end = unit == 1 ? last : (uint64_t)((double)last * unit);
    return rest != text && !*rest && *end > *first;
}

// read_part has ended the part before its value.
static bool wrong_value(char *part, char *value)
{
    value[-1] = '=';
    return wrong(part);
}

static bool read_part(struct trace_filter *f, char *part)
{
    char *value = strchr(part, '=');
    if (!value)
        return wrong(part);
    *value++ = 0;
    char *rest = value;
    if (!strcmp(part, "name"))
        f->name = value;
    else if (!strcmp(part, "stream"))
        f->stream = value;
    else if (!strcmp(part, "result"))
        f->result = value;
    else if (!strcmp(part, "thread") && (f->thread = (uint32_t)strtoul(value, &rest, 10), !*rest))
        return f->thread || wrong_value(part, value);
    else if (!strcmp(part, "depth") && *value >= '0' && *value <= '9' &&
             (f->depth_end = (uint32_t)strtoul(value, &rest, 10) + 1, !*rest))
        return true;
    else if (!strcmp(part, "address") && read_range(value, 1, &f->first, &f->end))
        return true;
    else if (!strcmp(part, "time") && read_range(value, 1000, &f->from, &f->until))
        return true;
    else
        return wrong_value(part, value);
    return true;
}

bool trace_filter_read(struct trace_filter *f, char *text)
{
    f->any = true;
    for (char *next; text; text = next) {
        next = strchr(text, ',');
        if (next)
            *next++ = 0;
        if (!read_part(f, text))
            return false;
    }
    return true;
}

static bool meets(const struct trace_filter *f, uint64_t address, uint64_t size_B)
{
    return address < f->end && address + (size_B ? size_B : 1) > f->first;
}

static bool is_in_time(const struct trace_filter *f, uint64_t start, uint64_t end)
{
    return !f->until || (start < f->until && end >= f->from);
}

bool trace_filter_call(const struct trace_filter *f, const struct trace_model *m,
                       const struct trace_call *c)
{
    if (!f->any)
        return true;
    const char *function = trace_call_function(m, c);
    if (f->stream)
        return false; // calls are not in streams, but their commands are
    if (f->name && fnmatch(f->name, trace_call_name(m, c), 0) &&
        (!function || fnmatch(f->name, function, 0)))
        return false;
    if (f->thread && m->threads[c->thread].number != f->thread)
        return false;
    if (f->depth_end && c->depth >= f->depth_end)
        return false;
    char result[128];
    trace_call_result(m, c, result, sizeof result);
    if ((f->result && fnmatch(f->result, result, 0)) || !is_in_time(f, c->start, c->end))
        return false;
    if (f->first == f->end)
        return true;
    uint64_t values[TRACE_ARGUMENTS_MAX];
    const unsigned count = trace_call_values(c, values);
    for (unsigned i = 0; i < count; i++)
        if (meets(f, values[i], 1))
            return true;
    return false;
}

bool trace_filter_command(const struct trace_filter *f, const struct trace_model *m,
                          const struct trace_command *c)
{
    if (!f->any)
        return true;
    if (f->stream && (c->stream == TRACE_NONE || fnmatch(f->stream, m->streams[c->stream].name, 0)))
        return false;
    if (!is_in_time(f, c->queued, c->end))
        return false;
    if (f->first != f->end) {
        struct trace_access accesses[64];
        const unsigned count = trace_command_accesses(c, accesses, 64);
        bool found = false;
        for (unsigned i = 0; i < count && !found; i++)
            found = meets(f, accesses[i].address, accesses[i].size_B);
        if (!found)
            return false;
    }
    // The name, the thread and the result are those of its call.
    struct trace_filter rest = *f;
    rest.stream = NULL;
    rest.depth_end = 0;
    rest.first = rest.end = rest.until = 0;
    return c->call == TRACE_NONE ? !f->name && !f->thread && !f->result
                                 : trace_filter_call(&rest, m, &m->calls[c->call]);
}
