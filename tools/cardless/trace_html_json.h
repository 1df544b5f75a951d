// SPDX-License-Identifier: MIT
// Writes JSON inside of an HTML page, and collects texts that are repeated.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// A time, or null if it has not come (UINT64_MAX).
void html_time(FILE *to, uint64_t ns);

// Texts that many rows repeat: rows have their numbers. All zero is an empty list.
struct html_strings {
    char **texts;
    uint32_t *table; // numbers + 1 by hash
    uint32_t count, capacity;
};
// Prints the number of a text, or the text itself if memory runs out.
void html_string(FILE *to, struct html_strings *strings, const char *text);
// Prints the list, and frees it.
void html_strings_finish(FILE *to, struct html_strings *strings);
