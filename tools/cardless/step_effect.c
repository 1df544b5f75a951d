// SPDX-License-Identifier: MIT
// Fills in the sentences of step_effects.def.
#include "step_effect.h"

#include <fnmatch.h>
#include <string.h>

static const struct row {
    const char *pattern, *sentence;
} rows[] = {
#define X(pattern, sentence) {pattern, sentence},
#include "step_effects.def"
#undef X
};

// A part of a text.
struct part {
    const char *at;
    size_t size;
};

// The end of a value: the next comma or closing brace that is not inside of braces or quotes.
static size_t value_size(struct part text)
{
    int depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.size; i++) {
        const char c = text.at[i];
        if (c == '"')
            quoted = !quoted;
        else if (quoted)
            continue;
        else if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && !depth--)
            return i;
        else if (c == ',' && !depth)
            return i;
    }
    return text.size;
}

// The value of NAME in "A=1, NAME=2, …", or a part of no bytes.
static struct part find(struct part list, struct part name)
{
    while (list.size) {
        const size_t size = value_size(list);
        if (size > name.size && !memcmp(list.at, name.at, name.size) && list.at[name.size] == '=')
            return (struct part){list.at + name.size + 1, size - name.size - 1};
        const size_t next = size + (size < list.size ? 1 : 0);
        list.at += next;
        list.size -= next;
        while (list.size && *list.at == ' ') {
            list.at++;
            list.size--;
        }
        if (!next)
            break;
    }
    return (struct part){list.at, 0};
}

// Fills in {name} and {name.field}; a value that is not there becomes its name.
static void fill_in(const char *sentence, struct part arguments, struct em_text *out)
{
    for (const char *at = sentence; *at;) {
        const size_t plain = strcspn(at, "{");
        em_text_put(out, "%.*s", (int)plain, at);
        at += plain;
        if (!*at)
            break;
        const struct part name = {at + 1, strcspn(at + 1, ".}")},
                          all = {at + 1, strcspn(at + 1, "}")};
        struct part value = find(arguments, name);
        if (name.size < all.size && value.size > 2)
            value = find((struct part){value.at + 1, value.size - 2},
                         (struct part){all.at + name.size + 1, all.size - name.size - 1});
        if (!value.size)
            value = all;
        em_text_put(out, "%.*s", (int)value.size, value.at);
        at += all.size + 2;
    }
}

static void put_outputs(const struct trace_model *m, const struct trace_call *c,
                        struct em_text *out)
{
    const struct trace_types *types = c->entry == TRACE_NONE ? NULL : m->entries[c->entry].types;
    uint64_t values[TRACE_ARGUMENTS_MAX];
    const unsigned count = trace_call_values(c, values);
    bool any = false;
    if (!types)
        return;
    const cardlessTypes *d = &types->description;
    const struct trace_entry *e = &m->entries[c->entry];
    for (unsigned i = 0; i < count && i < e->argument_count; i++) {
        const cardlessMember *member = &d->members[e->first_argument + i];
        if (!(member->flags & CARDLESS_MEMBER_OUTPUT) || !values[i])
            continue;
        em_text_put(out, "%s*%s", any ? ", " : "stores ", d->names + member->name);
        any = true;
    }
}

void step_effect(const struct trace_model *m, const struct trace_call *c,
                 const struct em_text *arguments, struct em_text *out)
{
    const char *name = trace_call_name(m, c);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!fnmatch(rows[i].pattern, name, 0)) {
            fill_in(rows[i].sentence, (struct part){arguments->bytes, arguments->used}, out);
            return;
        }
    put_outputs(m, c, out);
}
