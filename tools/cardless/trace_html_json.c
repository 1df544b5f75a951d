// SPDX-License-Identifier: MIT
// JSON for the page of `cardless trace --html`.
#include "trace_html_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"

void html_time(FILE *to, uint64_t ns)
{
    if (ns == UINT64_MAX)
        fputs("null", to);
    else
        fprintf(to, "%" PRIu64, ns);
}

static uint32_t hash_text(const char *text)
{
    uint32_t hash = 2166136261u;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

// The table is twice as long as the list, and a power of two.
static uint32_t *find_place(const struct html_strings *s, const char *text)
{
    uint32_t mask = 2 * s->capacity - 1, at = hash_text(text) & mask;

    while (s->table[at] && strcmp(s->texts[s->table[at] - 1], text))
        at = (at + 1) & mask;
    return &s->table[at];
}

static bool grow_strings(struct html_strings *s)
{
    uint32_t capacity = s->capacity ? 2 * s->capacity : 256;
    char **texts = realloc(s->texts, capacity * sizeof *texts);
    uint32_t *table = texts ? calloc(2 * (size_t)capacity, sizeof *table) : NULL;

    if (texts)
        s->texts = texts;
    if (!table)
        return false;
    free(s->table);
    s->table = table;
    s->capacity = capacity;
    for (uint32_t i = 0; i < s->count; i++)
        *find_place(s, s->texts[i]) = i + 1;
    return true;
}

void html_string(FILE *to, struct html_strings *s, const char *text)
{
    uint32_t *place;

    text = text ? text : "";
    if (s->count < s->capacity || grow_strings(s)) {
        place = find_place(s, text);
        if (!*place && (s->texts[s->count] = strdup(text)))
            *place = ++s->count;
        if (*place) {
            fprintf(to, "%u", *place - 1);
            return;
        }
    }
    json_string(to, text, strlen(text));
}

void html_strings_finish(FILE *to, struct html_strings *s)
{
    putc('[', to);
    for (uint32_t i = 0; i < s->count; i++) {
        fputs(i ? ",\n" : "", to);
        json_string(to, s->texts[i], strlen(s->texts[i]));
        free(s->texts[i]);
    }
    putc(']', to);
    free(s->texts);
    free(s->table);
    *s = (struct html_strings){.count = 0};
}
