// SPDX-License-Identifier: MIT
// Prints a recorded run: one line for each call, and below it the commands that it has submitted.
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

static void print_time(uint64_t ns, FILE *out)
{
    if (ns == TRACE_NEVER)
        fprintf(out, "%14s", "-");
    else
        fprintf(out, "%10llu.%03llu", (unsigned long long)(ns / 1000),
                (unsigned long long)(ns % 1000));
}

static void print_span(uint64_t start, uint64_t end, FILE *out)
{
    if (start == TRACE_NEVER || end == TRACE_NEVER)
        fprintf(out, "[never ended]");
    else
        fprintf(out, "[%.3f us]", (double)(end - start) / 1000);
}

static void print_call(const struct trace_model *m, const struct trace_call *c, FILE *out)
{
    struct em_text text = {.bytes = NULL};
    char result[128], place[256], number[24];
    const struct trace_thread *thread = &m->threads[c->thread];
    const char *function = c->in_function ? NULL : trace_call_function(m, c);
    print_time(c->start, out);
    fprintf(out, " %*s", (int)(2 * c->depth), "");
    if (m->thread_count > 1)
        fprintf(out, "t%llu ", (unsigned long long)thread->number);
    fprintf(out, "%s", trace_call_number(c, number));
    if (function)
        fprintf(out, "%s: ", function);
    trace_call_arguments(m, c, &text);
    fprintf(out, "%s(%.*s)", trace_call_name(m, c), (int)text.used, text.used ? text.bytes : "");
    em_text_finish(&text);
    trace_call_result(m, c, result, sizeof result);
    trace_call_place(m, c, place, sizeof place);
    trace_call_outputs(m, c, &text);
    fprintf(out, " = %s%.*s ", result, (int)text.used, text.used ? text.bytes : "");
    em_text_finish(&text);
    print_span(c->start, c->end, out);
    fprintf(out, " at %s\n", place);
}

static void print_command(const struct trace_model *m, const struct trace_command *c, FILE *out)
{
    struct em_text text = {.bytes = NULL};
    char result[128];
    print_time(c->start, out);
    trace_command_text(m, c, &text);
    fprintf(out, "     %s: %.*s ", c->stream == TRACE_NONE ? "?" : m->streams[c->stream].name,
            (int)text.used, text.used ? text.bytes : "");
    em_text_finish(&text);
    if (c->end != TRACE_NEVER && c->result) {
        trace_result_name(m, c->result, result, sizeof result);
        fprintf(out, "= %s ", result);
    }
    print_span(c->start, c->end, out);
    if (!c->at_once && c->start != TRACE_NEVER && c->start > c->queued)
        fprintf(out, " after %.3f us in the queue", (double)(c->start - c->queued) / 1000);
    fputc('\n', out);
}

static void print_diagnostic(const struct trace_diagnostic *d, FILE *out)
{
    print_time(d->time, out);
    fprintf(out, "   ! [%s] %s\n", d->id, d->text);
}

// What is printed below a call.
struct below {
    uint32_t call;
    bool is_command;
    uint32_t index;
};

static int compare_below(const void *a, const void *b)
{
    const struct below *x = a, *y = b;
    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    if (x->is_command != y->is_command)
        return x->is_command ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void print_below(const struct trace_model *m, const struct trace_filter *filter,
                        const struct below *b, FILE *out)
{
    if (b->is_command) {
        if (trace_filter_command(filter, m, &m->commands[b->index]))
            print_command(m, &m->commands[b->index], out);
    } else {
        print_diagnostic(&m->diagnostics[b->index], out);
    }
}

static void print_head(const struct trace_model *m, FILE *out)
{
    const struct rf_header *h = &m->file.header;
    fprintf(out, "# %s\n# process %u, policy %s, %s\n", h->program, h->process, h->policy, h->cpu);
    if (h->parent)
        fprintf(out, "# forked from process %u\n", h->parent);
    if (!h->ended)
        fprintf(out, "# the process had not ended by itself\n");
    if (h->failed)
        fprintf(out, "# the file could not grow: %s\n", strerror((int)h->failed));
    if (m->file.lost)
        fprintf(out, "# parts are missing: %u\n", m->file.lost);
    for (size_t i = 0; m->thread_count > 1 && i < m->thread_count; i++)
        fprintf(out, "# thread t%llu: %s (%llu)\n", (unsigned long long)m->threads[i].number,
                m->threads[i].name, (unsigned long long)m->threads[i].system);
    fprintf(out, "#        time   call, in microseconds since the start\n");
}

void trace_print(const struct trace_model *m, const struct trace_filter *filter, FILE *out)
{
    const size_t count = m->command_count + m->diagnostic_count;
    struct below *below = malloc((count + 1) * sizeof *below);
    size_t n = 0, at = 0;
    if (!below) {
        fprintf(stderr, "cardless: out of memory\n");
        return;
    }
    for (uint32_t i = 0; i < m->command_count; i++)
        below[n++] = (struct below){m->commands[i].call, true, i};
    for (uint32_t i = 0; i < m->diagnostic_count; i++)
        below[n++] = (struct below){m->diagnostics[i].call, false, i};
    qsort(below, n, sizeof *below, compare_below);
    print_head(m, out);
    for (uint32_t i = 0; i < m->call_count; i++) {
        const bool shown = trace_filter_call(filter, m, &m->calls[i]);
        if (shown)
            print_call(m, &m->calls[i], out);
        for (; at < n && below[at].call == i; at++)
            if (shown || below[at].is_command)
                print_below(m, filter, &below[at], out);
    }
    for (; at < n; at++) // of no call
        print_below(m, filter, &below[at], out);
    free(below);
}

// ---- summary

struct tally {
    const char *name;
    uint64_t count, failed, ns, longest;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct tally *)a)->name, ((const struct tally *)b)->name);
}

static int compare_times(const void *a, const void *b)
{
    const struct tally *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

// Adds up the rows of the same name. Returns how many are left.
static size_t add_up(struct tally *rows, size_t count)
{
    size_t kept = 0;
    qsort(rows, count, sizeof *rows, compare_names);
    for (size_t i = 0; i < count; i++) {
        struct tally *last = kept ? &rows[kept - 1] : NULL;
        if (!last || strcmp(last->name, rows[i].name)) {
            rows[kept++] = rows[i];
            continue;
        }
        last->count += rows[i].count;
        last->failed += rows[i].failed;
        last->ns += rows[i].ns;
        last->longest = rows[i].longest > last->longest ? rows[i].longest : last->longest;
    }
    qsort(rows, kept, sizeof *rows, compare_times);
    return kept;
}

static struct tally tally_of(const char *name, int32_t result, uint64_t start, uint64_t end)
{
    const uint64_t ns = end == TRACE_NEVER || end < start ? 0 : end - start;
    return (struct tally){name, 1, result != 0, ns, ns};
}

static void print_tallies(struct tally *rows, size_t count, const char *title, FILE *out)
{
    count = add_up(rows, count);
    fprintf(out, "\n%12s %10s %8s %12s  %s\n", "total us", "count", "failed", "longest us", title);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%12.1f %10llu %8llu %12.1f  %s\n", (double)rows[i].ns / 1000,
                (unsigned long long)rows[i].count, (unsigned long long)rows[i].failed,
                (double)rows[i].longest / 1000, rows[i].name);
}

static void print_count(size_t count, const char *one, const char *many, const char *end, FILE *out)
{
    fprintf(out, "%zu %s%s", count, count == 1 ? one : many, end);
}

void trace_print_summary(const struct trace_model *m, FILE *out)
{
    const size_t most = m->call_count + m->command_count;
    struct tally *rows = malloc((most + 1) * sizeof *rows);
    size_t count = 0;
    if (!rows) {
        fprintf(stderr, "cardless: out of memory\n");
        return;
    }
    print_head(m, out);
    fputc('\n', out);
    print_count(m->call_count, "call", "calls", " of ", out);
    print_count(m->thread_count, "thread", "threads", ", ", out);
    print_count(m->command_count, "command", "commands", " in ", out);
    print_count(m->stream_count, "stream", "streams", ", ", out);
    print_count(m->memory_count, "piece of memory", "pieces of memory", ", ", out);
    print_count(m->object_count, "object", "objects", ", ", out);
    print_count(m->diagnostic_count, "diagnostic", "diagnostics", " in ", out);
    fprintf(out, "%.3f ms\n", (double)m->duration / 1e6);
    for (size_t i = 0; i < m->call_count; i++) {
        const struct trace_call *c = &m->calls[i];
        rows[count++] = tally_of(trace_call_name(m, c), c->result, c->start, c->end);
    }
    print_tallies(rows, count, "call", out);
    count = 0;
    for (size_t i = 0; i < m->command_count; i++) {
        const struct trace_command *c = &m->commands[i];
        rows[count++] = tally_of(c->kind, c->result, c->start, c->end);
    }
    if (count)
        print_tallies(rows, count, "command", out);
    free(rows);
}
