// SPDX-License-Identifier: MIT
// Reads values of a JSON text.
#include "json_read.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { NESTING_MAX = 1000, NAME_MAX_B = 64 };

static const char *json_value_end(const char *p, unsigned depth);

static const char *json_space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

static const char *json_string_end(const char *p)
{
    if (*p++ != '"')
        return NULL;
    for (; *p != '"'; p++) {
        if ((unsigned char)*p < ' ')
            return NULL;
        if (*p != '\\')
            continue;
        if (!*++p || !strchr("\"\\/bfnrtu", *p))
            return NULL;
        for (int digits = *p == 'u' ? 4 : 0; digits; digits--) {
            if (!isxdigit((unsigned char)*++p))
                return NULL;
        }
    }
    return p + 1;
}

static const char *json_digits_end(const char *p)
{
    size_t count = strspn(p, "0123456789");
    return count ? p + count : NULL;
}

static const char *json_number_end(const char *p)
{
    p += *p == '-';
    p = *p == '0' ? p + 1 : json_digits_end(p);
    if (p && *p == '.')
        p = json_digits_end(p + 1);
    if (p && (*p == 'e' || *p == 'E')) {
        p++;
        p = json_digits_end(p + (*p == '+' || *p == '-'));
    }
    return p;
}

static const char *json_word_end(const char *p)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if (!strncmp(p, words[i], length))
            return p + length;
    }
    return NULL;
}

// Returns the first character of a member's value.
static const char *json_member_value(const char *name)
{
    const char *p = json_string_end(name);
    p = p ? json_space(p) : NULL;
    return p && *p == ':' ? json_space(p + 1) : NULL;
}

// Of an object or an array.
static const char *json_list_end(const char *p, unsigned depth)
{
    const bool object = *p == '{';
    const char close = object ? '}' : ']';
    p = json_space(p + 1);
    if (*p == close)
        return p + 1;
    for (;;) {
        p = object ? json_member_value(p) : p;
        p = p ? json_value_end(p, depth) : NULL;
        if (!p)
            return NULL;
        p = json_space(p);
        if (*p == close)
            return p + 1;
        if (*p != ',')
            return NULL;
        p = json_space(p + 1);
    }
}

static const char *json_value_end(const char *p, unsigned depth)
{
    if (*p == '{' || *p == '[')
        return depth < NESTING_MAX ? json_list_end(p, depth + 1) : NULL;
    if (*p == '"')
        return json_string_end(p);
    return *p == '-' || isdigit((unsigned char)*p) ? json_number_end(p) : json_word_end(p);
}

const char *em_json_end(const char *text)
{
    return json_value_end(json_space(text), 0);
}

const char *em_json_find(const char *value, const char *name)
{
    value = json_space(value);
    if (*value != '{')
        return NULL;
    const char *p = json_space(value + 1);
    while (*p == '"') {
        char key[NAME_MAX_B];
        const char *found = json_member_value(p);
        if (em_json_string(p, key, sizeof key) && !strcasecmp(key, name))
            return found;
        p = json_space(json_value_end(found, 0));
        p = json_space(p + (*p == ','));
    }
    return NULL;
}

static unsigned json_hex(const char *p)
{
    unsigned number = 0;
    for (int i = 0; i < 4; i++) {
        const int c = tolower((unsigned char)p[i]);
        number = number << 4 | (unsigned)(isdigit(c) ? c - '0' : c - 'a' + 10);
    }
    return number;
}

// Reads the number of a character from the digits after \u. Returns 0 if it is half of a surrogate
// pair.
static unsigned json_code(const char **digits)
{
    const char *p = *digits;
    const unsigned first = json_hex(p);
    *digits = p + 4;
    if (first < 0xd800 || first > 0xdfff)
        return first;
    const bool pair = first < 0xdc00 && p[4] == '\\' && p[5] == 'u';
    const unsigned second = pair ? json_hex(p + 6) : 0;
    if (second < 0xdc00 || second > 0xdfff)
        return 0;
    *digits = p + 10;
    return 0x10000 + ((first & 0x3ff) << 10 | (second & 0x3ff));
}

// Encodes a character in UTF-8. Returns the number of its bytes.
static size_t json_encode(unsigned code, char out[4])
{
    const size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(lead[more] | code >> 6 * more);
    for (size_t i = 1; i <= more; i++)
        out[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3f));
    return more + 1;
}

// Decodes a character, or one byte of it, and moves on. Returns the number of bytes in `out`, or 0
// if the string must not contain it.
static size_t json_character(const char **text, char out[4])
{
    static const char letters[] = "bfnrt", controls[] = "\b\f\n\r\t";
    const char *p = *text;
    const bool escape = *p == '\\';
    p += escape;
    out[0] = *p++;
    size_t count = 1;
    if (escape && out[0] == 'u') {
        const unsigned code = json_code(&p);
        count = code ? json_encode(code, out) : 0;
    } else if (escape && strchr(letters, out[0])) {
        out[0] = controls[strchr(letters, out[0]) - letters];
    }
    *text = p;
    return count;
}

bool em_json_string(const char *value, char *out, size_t out_B)
{
    size_t used = 0;
    const char *p = json_space(value);
    if (*p++ != '"')
        return false;
    while (*p != '"') {
        char bytes[4];
        const size_t count = json_character(&p, bytes);
        if (!count || count >= out_B - used)
            return false;
        for (size_t i = 0; i < count; i++)
            out[used++] = bytes[i];
    }
    out[used] = 0;
    return true;
}

bool em_json_is_true(const char *value)
{
    return !strncmp(json_space(value), "true", 4);
}
