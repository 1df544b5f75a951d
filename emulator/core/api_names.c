// SPDX-License-Identifier: MIT
// Writes a message in the names of the API that the program uses.
#include "api_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// Compares a name with the word at `at`.
static int compare(const char *name, const char *at, size_t length)
{
    const int r = strncmp(name, at, length);
    return r ? r : name[length];
}

static const char *find(const char *const *names, size_t pairs, const char *at, size_t length)
{
    size_t low = 0, high = pairs;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const int r = compare(names[2 * middle], at, length);
        if (!r)
            return names[2 * middle + 1];
        if (r < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

// Whether a word is the name of an object: "CUstream #1".
static bool is_object(const char *after)
{
    return !strncmp(after, " #", 2);
}

void em_api_names(char *text, size_t size_B, const char *const *names)
{
    size_t pairs = 0;
    while (names[2 * pairs])
        pairs++;
    for (char *at = text; *at;) {
        size_t length = 0;
        while (is_letter(at[length]))
            length++;
        const bool is_drivers = length > 2 && (!strncmp(at, "CU", 2) || !strncmp(at, "cu", 2));
        const char *name =
            is_drivers && !is_object(at + length) ? find(names, pairs, at, length) : NULL;
        const size_t with = name ? strlen(name) : 0, rest = strlen(at + length);
        if (name && (size_t)(at - text) + with + rest + 1 <= size_B) {
            memmove(at + with, at + length, rest + 1);
            memcpy(at, name, with);
            length = with;
        }
        at += length ? length : 1;
    }
}
