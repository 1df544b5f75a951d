// SPDX-License-Identifier: MIT
// Expands the rows of form_table.h to forms, and writes them as PTX.
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "form_table.h"

enum { FORM_GROUPS = 10, FORM_TEXT_B = 1200 };

struct form {
    char text[FORM_TEXT_B]; // a template
    char results[8], operands[8];
};

// Reads the group that begins at `p` (behind its bracket): its alternatives, and what follows it.
static const char *form_group(const char *p, char end, const char *alternatives[], int lengths[],
                              int *count)
{
    *count = 0;
    for (;;) {
        const char *from = p;
        while (*p != ',' && *p != end)
            p++;
        alternatives[*count] = from;
        lengths[(*count)++] = (int)(p - from);
        if (*p++ == end)
            break;
    }
    if (end == ']') {
        alternatives[*count] = p;
        lengths[(*count)++] = 0;
    }
    return p;
}

static inline uint64_t form_count(const struct form_row *row)
{
    const char *alternatives[16];
    int lengths[16], count;
    uint64_t all = 1;
    for (const char *p = row->pattern; *p;) {
        const char c = *p++;
        if (c != '{' && c != '[')
            continue;
        p = form_group(p, c == '{' ? '}' : ']', alternatives, lengths, &count);
        all *= (uint64_t)count;
    }
    return all;
}

static inline char form_class(const char *type)
{
    static const char *const names[] = {".u8",  ".s8",  ".b8",  ".u16",  ".s16",   ".b16",
                                        ".u32", ".s32", ".b32", ".u64",  ".s64",   ".b64",
                                        ".f32", ".f64", ".f16", ".bf16", ".f16x2", ".bf16x2"};
    static const char classes[] = "hhhhhhwwwlllFDHBPQ";
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(type, names[i]))
            return classes[i];
    return '?';
}

// The classes of operands, with digits replaced.
static const char *form_classes(const char *p, char end, char to[], char types[][16])
{
    int n = 0;
    for (; *p != end; p++)
        to[n++] = *p >= '0' && *p <= '9' ? form_class(types[*p - '0']) : *p;
    to[n] = 0;
    return p + 1;
}

// The form of a row with this number (0 to form_count - 1).
static inline void form_make(const struct form_row *row, uint64_t number, struct form *f)
{
    char types[FORM_GROUPS][16] = {{0}};
    int groups = 0;
    size_t n = 0;
    for (const char *p = row->pattern; *p;) {
        const char *alternatives[16];
        int lengths[16], count;
        const char c = *p++;
        if (c == '$' && *p >= '0' && *p <= '9') {
            n += (size_t)snprintf(f->text + n, FORM_TEXT_B - n, "%s", types[*p++ - '0']);
            continue;
        }
        if (c != '{' && c != '[') {
            f->text[n++] = c;
            continue;
        }
        p = form_group(p, c == '{' ? '}' : ']', alternatives, lengths, &count);
        const int pick = (int)(number % (uint64_t)count);
        number /= (uint64_t)count;
        snprintf(types[groups], sizeof types[groups], "%.*s", lengths[pick], alternatives[pick]);
        n += (size_t)snprintf(f->text + n, FORM_TEXT_B - n, "%s", types[groups++]);
    }
    f->text[n] = 0;
    form_classes(form_classes(row->operands, ':', f->results, types), 0, f->operands, types);
    if (strchr(f->text, '$'))
        return;
    const char *separator = " ";
    for (size_t i = 0; f->results[i]; i++, separator = ",")
        n += (size_t)snprintf(f->text + n, FORM_TEXT_B - n, "%s$%c", separator, "defg"[i]);
    for (size_t i = 0; f->operands[i]; i++, separator = ",")
        n += (size_t)snprintf(f->text + n, FORM_TEXT_B - n, "%s$%c", separator, "abck"[i]);
    snprintf(f->text + n, FORM_TEXT_B - n, ";");
}

// Writes a form's text with the names of its results and operands. `constant` draws the
// numbers of $# and the parts of $x and $y.
static inline size_t form_write(char *to, const struct form *f, char names[8][24],
                                uint32_t (*constant)(void))
{
    static const char *const selectors[] = {"", "", "", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
    char *const from = to;
    for (const char *p = f->text; *p; p++) {
        if (*p != '$') {
            *to++ = *p == '<' ? '{' : *p == '>' ? '}' : *p;
            continue;
        }
        const char letter = *++p;
        if (letter == '#')
            to += sprintf(to, "%u", constant() & 255);
        else if (letter == 'y')
            to += sprintf(to, "%s", selectors[3 + constant() % 6]);
        else if (letter == 'x')
            to += sprintf(to, "%s", selectors[constant() % 9]);
        else
            to += sprintf(to, "%s", names[strchr("defgabck", letter) - "defgabck"]);
    }
    *to = 0;
    return (size_t)(to - from);
}
