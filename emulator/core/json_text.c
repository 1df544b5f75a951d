// SPDX-License-Identifier: MIT
// Writes lines of JSON into a buffer.
#include "json_text.h"

#include <stdio.h>
#include <string.h>

// Appends `text` at out[*used] as a part of a JSON string, with escapes.
static void json_escape(char *out, size_t size, size_t *used, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c && *used + 8 < size; c++) {
        if (*c == '"' || *c == '\\')
            *used += (size_t)snprintf(out + *used, size - *used, "\\%c", *c);
        else if (*c < 0x20)
            *used += (size_t)snprintf(out + *used, size - *used, "\\u%04x", *c);
        else
            out[(*used)++] = (char)*c;
    }
    out[*used] = 0;
}

void em_json_member(char *out, size_t size, size_t *used, const char *key, const char *value)
{
    if (*used + strlen(key) + 16 >= size)
        return;
    *used += (size_t)snprintf(out + *used, size - *used, "%s\"%s\":\"", *used > 1 ? "," : "", key);
    json_escape(out, size, used, value);
    if (*used + 2 < size)
        *used += (size_t)snprintf(out + *used, size - *used, "\"");
}

void em_json_number(char *out, size_t size, size_t *used, const char *key, unsigned long long value)
{
    if (*used + strlen(key) + 32 >= size)
        return;
    *used += (size_t)snprintf(out + *used, size - *used, "%s\"%s\":%llu", *used > 1 ? "," : "", key,
                              value);
}
