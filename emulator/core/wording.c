// SPDX-License-Identifier: MIT
// The last change to a message before it is written: grammar.
#include "wording.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// Whether `before` ends at `at`.
static bool follows(const char *text, const char *at, const char *before)
{
    const size_t length = strlen(before);
    return (size_t)(at - text) >= length && !strncmp(at - length, before, length);
}

void em_wording_singular(char *text)
{
    static const char *const units[] = {
        "bytes", "elements",   "rows",    "levels",  "layers", "threads", "blocks", "texels",
        "nodes", "parameters", "kernels", "devices", "pages",  "slices",  "planes", "seconds"};
    bool quoted = false;
    for (char *at = text; *at; at++) {
        quoted ^= *at == '"';
        if (quoted || strncmp(at, "1 ", 2))
            continue;
        if (at > text && (is_letter(at[-1]) || at[-1] == '.' || at[-1] == ','))
            continue;
        if (follows(text, at, " x ") || follows(text, at, " are ")) // a shape; a verb in the plural
            continue;
        for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
            const size_t length = strlen(units[i]);
            char *end = at + 2 + length;
            if (!strncmp(at + 2, units[i], length) && !is_letter(*end))
                memmove(end - 1, end, strlen(end) + 1);
        }
    }
}

const char *em_wording_article(const char *noun)
{
    return *noun && strchr("aeiouAEIOU", *noun) ? "an" : "a";
}
