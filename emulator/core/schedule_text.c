// SPDX-License-Identifier: MIT
// Reads schedules: lists of departures from the usual order.
#include "schedule_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "number.h"

static void skip_blanks(const char **text)
{
    while (isspace((unsigned char)**text))
        ++*text;
}

// Reads "NUMBER=OPTION". Returns false if the text does not begin so.
static bool read_departure(const char **text, struct em_departure *out)
{
    if (!dm_parse_u32(text, &out->number) || **text != '=')
        return false;
    ++*text;
    return dm_parse_u32(text, &out->option);
}

// Reads the list into `list`, which is long enough.
static bool fill(const char *text, struct em_departure *list, size_t *count)
{
    *count = 0;
    skip_blanks(&text);
    while (*text) {
        struct em_departure *d = &list[*count];
        if (!read_departure(&text, d) || (*count && d->number <= d[-1].number))
            return false;
        ++*count;
        skip_blanks(&text);
        if (!*text)
            return true;
        if (*text++ != ',')
            return false;
        skip_blanks(&text);
        if (!*text)
            return false;
    }
    return true;
}

bool em_schedule_read(const char *text, struct em_departure **list, size_t *count)
{
    size_t most = 1; // one more than there are, so that malloc(0) is no failure
    for (const char *c = text; *c; c++)
        most += *c == '=';
    *list = malloc(most * sizeof **list);
    if (*list && fill(text, *list, count))
        return true;
    free(*list);
    *list = NULL;
    *count = 0;
    return false;
}

bool em_schedule_read_file(const char *path, struct em_departure **list, size_t *count)
{
    char *text = NULL;
    size_t capacity = 0;
    FILE *f = fopen(path, "re");
    *list = NULL;
    *count = 0;
    if (!f)
        return false;
    errno = 0;
    // All of the file, unless it has a byte 0.
    const ssize_t size = getdelim(&text, &capacity, 0, f);
    const bool empty = size < 0 && feof(f) && !errno, whole = size > 0 && text[size - 1];
    const bool read = (empty || whole) && em_schedule_read(empty ? "" : text, list, count);
    fclose(f);
    free(text);
    return read;
}
