// SPDX-License-Identifier: MIT
// A small reader of flat JSON objects. It writes the decoded strings over the line.
#include "line_json.h"

#include <stdlib.h>
#include <string.h>

static char *skip_space(char *at)
{
    return at + strspn(at, " \t\r\n");
}

// Writes a code point as UTF-8. Returns the end.
static char *put_utf8(char *out, unsigned code)
{
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    }
    return out;
}

// Decodes the string whose first character is at `at`. Returns the place after its end, or NULL.
// The text ends with a null character.
static char *read_string(char *at)
{
    static const char escapes[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
    char *out = at;
    while (*at && *at != '"') {
        if (*at != '\\') {
            *out++ = *at++;
            continue;
        }
        const char *known = at[1] ? strchr(escapes, at[1]) : NULL;
        if (known) {
            *out++ = meaning[known - escapes];
            at += 2;
        } else if (at[1] == 'u' && strspn(at + 2, "0123456789abcdefABCDEF") >= 4) {
            const char digits[5] = {at[2], at[3], at[4], at[5], 0};
            const unsigned code = (unsigned)strtoul(digits, NULL, 16);
            out = put_utf8(out, code ? code : 0xfffd);
            at += 6;
        } else {
            return NULL;
        }
    }
    if (!*at)
        return NULL;
    *out = 0;
    return at + 1;
}

int json_split(char *line, struct json_member members[JSON_MEMBERS_MOST])
{
    int count = 0;
    char *at = skip_space(line);
    if (*at++ != '{')
        return -1;
    for (at = skip_space(at); *at == '"' && count < JSON_MEMBERS_MOST; at = skip_space(at)) {
        struct json_member *m = &members[count++];
        m->key = at + 1;
        at = read_string(at + 1);
        at = at ? skip_space(at) : NULL;
        if (!at || *at != ':')
            return -1;
        at = skip_space(at + 1);
        if (*at == '"') {
            m->value = at + 1;
            at = read_string(at + 1);
            if (!at)
                return -1;
        } else {
            m->value = at;
            at += strspn(at, "0123456789");
            if (at == m->value)
                return -1;
        }
        char *end = at;
        at = skip_space(at);
        const char next = *at;
        if (next != ',' && next != '}')
            return -1;
        at++;
        *end = 0; // of a number
        if (next == '}')
            return *skip_space(at) ? -1 : count;
    }
    return -1;
}

const char *json_value(const struct json_member *members, int count, const char *key)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(members[i].key, key))
            return members[i].value;
    return "";
}
