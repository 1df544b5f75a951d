// SPDX-License-Identifier: MIT
// `cardless trace --compare`: the first difference of two runs.
//
// Calls are compared thread by thread, and commands stream by stream, by their texts, in which
// memory has its name (trace_names.c) because its address may differ from run to run.
#include <stdlib.h>
#include <string.h>

#include "trace.h"

enum { SEARCHED = 200, SHOWN_BEFORE = 3, ALIKE = 4 };

// One of the lists that are compared: the calls of a thread, or the commands of a stream.
struct list {
    const struct trace_model *m;
    bool of_commands;
    uint32_t *items;
    size_t count;
    char name[96];
};

static void item_text(const struct list *l, size_t i, struct em_text *out)
{
    struct em_text text = {.bytes = NULL};
    char result[128];
    uint64_t time;
    if (l->of_commands) {
        const struct trace_command *c = &l->m->commands[l->items[i]];
        trace_command_text(l->m, c, &text);
        trace_result_name(l->m, c->end == TRACE_NEVER ? -1 : c->result, result, sizeof result);
        if (c->result || c->end == TRACE_NEVER)
            em_text_put(&text, " = %s", c->end == TRACE_NEVER ? "never ended" : result);
        time = c->queued;
    } else {
        const struct trace_call *c = &l->m->calls[l->items[i]];
        em_text_put(&text, "%s(", trace_call_name(l->m, c));
        trace_call_arguments(l->m, c, &text);
        trace_call_result(l->m, c, result, sizeof result);
        em_text_put(&text, ") = %s", result);
        trace_call_outputs(l->m, c, &text);
        time = c->end == TRACE_NEVER ? c->start : c->end;
    }
    trace_name_addresses(l->m, &text, time, out);
    em_text_finish(&text);
}

static bool items_are_same(const struct list *a, size_t i, const struct list *b, size_t k)
{
    struct em_text x = {.bytes = NULL}, y = {.bytes = NULL};
    item_text(a, i, &x);
    item_text(b, k, &y);
    const bool same = x.used == y.used && (!x.used || !memcmp(x.bytes, y.bytes, x.used));
    em_text_finish(&x);
    em_text_finish(&y);
    return same;
}

static void print_item(const struct list *l, size_t i, const char *before, FILE *out)
{
    struct em_text text = {.bytes = NULL};
    char place[256] = "", number[24];
    item_text(l, i, &text);
    fprintf(out, "%s", before);
    if (!l->of_commands) {
        const struct trace_call *c = &l->m->calls[l->items[i]];
        fprintf(out, "%s", trace_call_number(c, number));
        trace_call_place(l->m, c, place, sizeof place);
    }
    fprintf(out, "%.*s%s%s\n", (int)text.used, text.used ? text.bytes : "", place[0] ? " at " : "",
            place);
    em_text_finish(&text);
}

static const char *item_name(const struct list *l, size_t i)
{
    return l->of_commands ? l->m->commands[l->items[i]].kind
                          : trace_call_name(l->m, &l->m->calls[l->items[i]]);
}

// Whether the next few items of both lists have the same names.
static bool go_on_alike(const struct list *a, size_t i, const struct list *b, size_t k)
{
    unsigned alike = 0;
    while (alike < ALIKE && i + alike < a->count && k + alike < b->count &&
           !strcmp(item_name(a, i + alike), item_name(b, k + alike)))
        alike++;
    return alike == ALIKE || (alike && i + alike == a->count && k + alike == b->count);
}

// How many items of `l` from `from` on precede those that go on as `other` does from item `i` on.
// 0: there are no such items soon.
static size_t missing(const struct list *l, size_t from, const struct list *other, size_t i)
{
    for (size_t k = from + 1; i < other->count && k < l->count && k < from + SEARCHED; k++)
        if (go_on_alike(l, k, other, i))
            return k - from;
    return 0;
}

static bool ends_part(char c)
{
    return c == ',' || c == '(' || c == ')' || c == '{' || c == '}' || c == ';';
}

// Prints the part of a text around a position: an argument, a field or a result.
static void print_part(const struct em_text *text, size_t at, FILE *out)
{
    size_t first = at < text->used ? at : text->used, end = first;
    while (first && !ends_part(text->bytes[first - 1]))
        first--;
    while (end < text->used && !ends_part(text->bytes[end]))
        end++;
    while (first < end && text->bytes[first] == ' ')
        first++;
    fprintf(out, "%.*s", (int)(end - first), text->bytes + first);
}

static void print_difference(const struct list *a, const struct list *b, size_t i, FILE *out)
{
    struct em_text x = {.bytes = NULL}, y = {.bytes = NULL};
    item_text(a, i, &x);
    item_text(b, i, &y);
    size_t at = 0;
    while (at < x.used && at < y.used && x.bytes[at] == y.bytes[at])
        at++;
    if (x.used && y.used) {
        fprintf(out, "  They differ in ");
        print_part(&x, at, out);
        fprintf(out, " and ");
        print_part(&y, at, out);
        fprintf(out, ".\n");
    }
    em_text_finish(&x);
    em_text_finish(&y);
}

static void explain(const struct list *a, const struct list *b, size_t i, FILE *out)
{
    const char *what = a->of_commands ? "command" : "call";
    fprintf(out, "%s: the runs differ first at %s %zu\n", *a->name ? a->name : b->name, what,
            i + 1);
    for (size_t k = i > SHOWN_BEFORE ? i - SHOWN_BEFORE : 0; k < i; k++)
        print_item(a, k, "  both   ", out);
    if (i < a->count)
        print_item(a, i, "  first  ", out);
    else
        fprintf(out, "  first  ends here\n");
    if (i < b->count)
        print_item(b, i, "  second ", out);
    else
        fprintf(out, "  second ends here\n");
    if (i < a->count && i < b->count && !strcmp(item_name(a, i), item_name(b, i))) {
        print_difference(a, b, i, out);
        return;
    }
    const size_t in_second = missing(b, i, a, i), in_first = missing(a, i, b, i);
    if (in_second && (!in_first || in_second <= in_first))
        fprintf(out, "  The second run makes %zu more %ss here, and then goes on as the first.\n",
                in_second, what);
    else if (in_first)
        fprintf(out, "  The first run makes %zu more %ss here, and then goes on as the second.\n",
                in_first, what);
}

// ---- lists

// The calls of thread `index`, or the commands of stream `index` that no graph launched. An index
// of TRACE_NONE is a thread or stream that the run does not have: it gives an empty list.
static bool make_list(const struct trace_model *m, bool of_commands, uint32_t index,
                      struct list *out)
{
    const size_t most = of_commands ? m->command_count : m->call_count;
    *out = (struct list){m, of_commands, malloc((most + 1) * sizeof *out->items), 0, ""};
    if (!out->items)
        return false;
    for (uint32_t i = 0; i < most; i++)
        if (of_commands ? m->commands[i].stream == index && m->commands[i].launch == TRACE_NONE
                        : m->calls[i].thread == index)
            out->items[out->count++] = i;
    if (index == TRACE_NONE)
        out->count = 0;
    else if (of_commands)
        snprintf(out->name, sizeof out->name, "%s", m->streams[index].name);
    else
        snprintf(out->name, sizeof out->name, "thread %llu",
                 (unsigned long long)m->threads[index].number);
    return true;
}

// When an item began, for the choice among several differences.
static uint64_t time_of(const struct list *l, size_t i)
{
    if (i >= l->count)
        return TRACE_NEVER;
    return l->of_commands ? l->m->commands[l->items[i]].queued : l->m->calls[l->items[i]].start;
}

struct difference {
    bool found, of_commands;
    uint32_t a, b; // thread or stream in each run
    size_t at;
    uint64_t time;
};

static bool compare_pair(const struct trace_model *a, const struct trace_model *b, bool of_commands,
                         uint32_t ia, uint32_t ib, struct difference *first)
{
    struct list x, y;
    bool works = make_list(a, of_commands, ia, &x);
    if (!works)
        return false;
    works = make_list(b, of_commands, ib, &y);
    size_t i = 0;
    while (works && i < x.count && i < y.count && items_are_same(&x, i, &y, i))
        i++;
    if (works && (i < x.count || i < y.count)) {
        const uint64_t t = time_of(&x, i), u = time_of(&y, i), time = t < u ? t : u;
        if (!first->found || time < first->time)
            *first = (struct difference){true, of_commands, ia, ib, i, time};
    }
    free(x.items);
    free(y.items);
    return works;
}

static uint32_t same_thread(const struct trace_model *m, const struct trace_thread *t)
{
    for (uint32_t i = 0; i < m->thread_count; i++)
        if (m->threads[i].number == t->number)
            return i;
    return TRACE_NONE;
}

static uint32_t same_stream(const struct trace_model *m, const struct trace_stream *s)
{
    for (uint32_t i = 0; i < m->stream_count; i++)
        if (m->streams[i].id == s->id && !strcmp(m->streams[i].name, s->name))
            return i;
    return TRACE_NONE;
}

// Threads of the driver's own have the number 0.
static bool compare_threads(const struct trace_model *a, const struct trace_model *b,
                            struct difference *first)
{
    bool works = true;
    for (uint32_t i = 0; i < a->thread_count && works; i++)
        if (a->threads[i].number)
            works = compare_pair(a, b, false, i, same_thread(b, &a->threads[i]), first);
    for (uint32_t i = 0; i < b->thread_count && works; i++)
        if (b->threads[i].number && same_thread(a, &b->threads[i]) == TRACE_NONE)
            works = compare_pair(a, b, false, TRACE_NONE, i, first);
    return works;
}

static bool compare_streams(const struct trace_model *a, const struct trace_model *b,
                            struct difference *first)
{
    bool works = true;
    for (uint32_t i = 0; i < a->stream_count && works; i++)
        works = compare_pair(a, b, true, i, same_stream(b, &a->streams[i]), first);
    for (uint32_t i = 0; i < b->stream_count && works; i++)
        if (same_stream(a, &b->streams[i]) == TRACE_NONE)
            works = compare_pair(a, b, true, TRACE_NONE, i, first);
    return works;
}

int trace_compare(const struct trace_model *a, const struct trace_model *b, FILE *out)
{
    struct difference first = {.found = false};
    if (a->file.lost || b->file.lost)
        fprintf(out, "Parts of the recordings are missing: %u of the first, %u of the second.\n",
                a->file.lost, b->file.lost);
    bool works = compare_threads(a, b, &first);
    if (works && !first.found)
        works = compare_streams(a, b, &first);
    if (!works) {
        fprintf(stderr, "cardless: out of memory\n");
        return 3;
    }
    if (!first.found) {
        fprintf(out, "The runs do not differ: %zu calls, %zu commands.\n", a->call_count,
                a->command_count);
        return a->file.lost || b->file.lost ? 3 : 0;
    }
    struct list x, y;
    if (make_list(a, first.of_commands, first.a, &x)) {
        if (make_list(b, first.of_commands, first.b, &y)) {
            explain(&x, &y, first.at, out);
            free(y.items);
        }
        free(x.items);
    }
    return 1;
}
