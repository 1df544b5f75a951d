// SPDX-License-Identifier: MIT
// JSON for the page of `cardless trace --html`.
#include "trace_html_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Returns the length of the valid UTF-8 sequence at `at`, or 0.
static unsigned utf8_length(const unsigned char *at, size_t left)
{
    unsigned length = 1;

    if (at[0] >= 0xc2)
        length = at[0] < 0xe0 ? 2 : 3u + (at[0] >= 0xf0);
    else if (at[0] >= 0x80)
        return 0;
    if (length > left || at[0] > 0xf4)
        return 0;
    for (unsigned i = 1; i < length; i++)
        if (at[i] >> 6 != 2)
            return 0;
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
        (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return length;
}

void html_text(FILE *to, const char *text, size_t size_B)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + (text ? size_B : 0);

    putc('"', to);
    while (at < end) {
        unsigned length = utf8_length(at, (size_t)(end - at));

        if (!length) {
            fputs("\xef\xbf\xbd", to);
            length = 1;
        } else if (*at == '"' || *at == '\\') {
            fprintf(to, "\\%c", *at);
        } else if (*at < 0x20 || *at == '<') {
            fprintf(to, "\\u%04x", *at);
        } else {
            fwrite(at, 1, length, to);
        }
        at += length;
    }
    putc('"', to);
}

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
    html_text(to, text, strlen(text));
}

void html_strings_finish(FILE *to, struct html_strings *s)
{
    putc('[', to);
    for (uint32_t i = 0; i < s->count; i++) {
        fputs(i ? ",\n" : "", to);
        html_text(to, s->texts[i], strlen(s->texts[i]));
        free(s->texts[i]);
    }
    putc(']', to);
    free(s->texts);
    free(s->table);
    *s = (struct html_strings){.count = 0};
}
