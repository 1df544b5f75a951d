// SPDX-License-Identifier: MIT
// The last changes to a message before it is written: grammar, and the names that the program
// knows.
#include "wording.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// ---- grammar ----

// Whether `before` ends at `at`.
static bool follows(const char *text, const char *at, const char *before)
{
    const size_t length = strlen(before);
    return (size_t)(at - text) >= length && !strncmp(at - length, before, length);
}

void em_wording_singular(char *text)
{
    static const char *const units[] = {"bytes",   "elements", "rows",   "levels", "layers",
                                        "threads", "blocks",   "texels", "nodes",  "parameters",
                                        "kernels", "devices",  "pages",  "slices"};
    for (char *at = strstr(text, "1 "); at; at = strstr(at + 1, "1 ")) {
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

// ---- arguments ----

enum { NAME_MOST = 64, TYPE_MOST = 96 };

struct argument {
    char name[NAME_MOST];
    char type[TYPE_MOST]; // in lower case, without prefixes, suffixes and blanks: "stream*"
    bool is_enum;
};

static void remove_word(char *text, const char *word)
{
    const size_t length = strlen(word);
    for (char *at = strstr(text, word); at; at = strstr(at, word)) {
        if ((at == text || !is_letter(at[-1])) && !is_letter(at[length]))
            memset(at, ' ', length);
        at += length;
    }
}

static bool is_number(const char *type)
{
    static const char *const numbers[] = {"size_t",
                                          "int",
                                          "unsigned int",
                                          "unsigned",
                                          "unsigned char",
                                          "unsigned short",
                                          "unsigned long long",
                                          "cuuint32_t",
                                          "cuuint64_t",
                                          "CUdevice",
                                          "uint64_t",
                                          "uint32_t"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(type, numbers[i]))
            return true;
    return false;
}

// Brings a type into the form that both APIs have in common: cudaStream_t and CUstream are
// "stream", and CUdeviceptr is "void*".
static void normalise(struct argument *a, char *type)
{
    unsigned stars = 0;
    a->is_enum = !strncmp(type, "enum ", 5);
    remove_word(type, "const");
    remove_word(type, "struct");
    remove_word(type, "enum");
    for (char *star = strchr(type, '*'); star; star = strchr(star, '*')) {
        *star = ' ';
        stars++;
    }
    while (isspace((unsigned char)*type))
        type++;
    size_t length = strlen(type);
    while (length && isspace((unsigned char)type[length - 1]))
        type[--length] = 0;
    const char *tag = type;
    if (!strcmp(type, "CUdeviceptr")) {
        tag = "void";
        stars++;
    } else if (is_number(type)) {
        tag = "number";
    } else if (!strncmp(type, "cuda", 4)) {
        tag = type + 4;
    } else if (!strncmp(type, "CU", 2)) {
        tag = type + 2;
    }
    size_t n = 0;
    for (const char *c = tag; *c && n + stars + 1 < sizeof a->type; c++) {
        if (c[0] == '_' && c[1] == 't' && !c[2])
            break;
        if (is_letter(*c) && *c != '_')
            a->type[n++] = (char)tolower((unsigned char)*c);
    }
    while (stars-- && n + 1 < sizeof a->type)
        a->type[n++] = '*';
    a->type[n] = 0;
}

// Reads the next argument of a list. Returns the rest of the list, or NULL after the last one.
static const char *next_argument(const char *list, struct argument *a)
{
    char text[NAME_MOST + TYPE_MOST];
    while (*list == ' ' || *list == ',')
        list++;
    size_t length = strcspn(list, ",");
    if (!length || length >= sizeof text)
        return NULL;
    snprintf(text, sizeof text, "%.*s", (int)length, list);
    size_t end = length;
    if (end && text[end - 1] == ']')
        end = (size_t)(strchr(text, '[') - text);
    size_t start = end;
    while (start && is_letter(text[start - 1]))
        start--;
    if (start == end || !start)
        return NULL;
    snprintf(a->name, sizeof a->name, "%.*s", (int)(end - start), text + start);
    text[start] = 0;
    normalise(a, text);
    return list + length;
}

// The types of some enumerations are abbreviated in one of the APIs. The runtime API names a kernel
// by the address of its host function.
static bool same_type(const struct argument *a, const struct argument *b)
{
    const size_t n = strlen(a->type), m = strlen(b->type);
    if (b->is_enum)
        return !strncmp(a->type, b->type, n < m ? n : m);
    if (!strcmp(b->type, "void*") && (!strcmp(a->type, "function") || !strcmp(a->type, "kernel")))
        return true;
    return !strcmp(a->type, b->type);
}

// Whether the word at `at` is meant as the name of an argument and not as an English word.
static bool is_named(const char *text, const char *at, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!islower((unsigned char)at[i]))
            return true;
    return !strncmp(at + length, " (", 2) || (at == text && at[length] == ':') ||
           (at - text >= 9 && !strncmp(at - 9, "argument ", 9));
}

static void replace(char *text, size_t size_B, const char *from, const char *to)
{
    const size_t length = strlen(from), with = strlen(to);
    for (char *at = strstr(text, from); at; at = strstr(at + 1, from)) {
        const size_t rest = strlen(at + length);
        if ((at > text && (is_letter(at[-1]) || at[-1] == '.' || at[-1] == '>')) ||
            is_letter(at[length]) || !is_named(text, at, length) ||
            (size_t)(at - text) + with + rest + 1 > size_B)
            continue;
        memmove(at + with, at + length, rest + 1);
        memcpy(at, to, with);
        at += with ? with - 1 : 0;
    }
}

void em_wording_arguments(char *text, size_t size_B, const char *ours, const char *theirs)
{
    struct argument a, b;
    for (;;) {
        ours = next_argument(ours, &a);
        do
            theirs = next_argument(theirs, &b);
        while (ours && theirs && b.is_enum && !same_type(&a, &b));
        if (!ours || !theirs || !same_type(&a, &b))
            return;
        replace(text, size_B, a.name, b.name);
    }
}
