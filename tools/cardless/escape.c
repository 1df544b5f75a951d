// SPDX-License-Identifier: MIT
// Escapes for XML, JSON and URIs.
#include "escape.h"

#include <stdbool.h>
#include <string.h>

enum { REPLACEMENT = 0xfffd };

// Decodes one character of UTF-8 before `end` and moves *at after it. A byte that does not begin a
// character is a replacement.
static unsigned next_character(const unsigned char **at, const unsigned char *end)
{
    const unsigned char *c = *at;
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned length = 1, code = *c;
    if (*c >= 0xf0 && *c < 0xf8)
        length = 4;
    else if (*c >= 0xe0)
        length = 3;
    else if (*c >= 0xc0)
        length = 2;
    *at = c + 1;
    if (length == 1)
        return code < 0x80 ? code : REPLACEMENT;
    code &= 0x7fu >> length;
    for (unsigned i = 1; i < length; i++) {
        if (c + i == end || (c[i] & 0xc0) != 0x80)
            return REPLACEMENT;
        code = code << 6 | (c[i] & 0x3f);
    }
    if (*c >= 0xf8 || code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return REPLACEMENT;
    *at = c + length;
    return code;
}

static void put_character(FILE *to, unsigned code)
{
    if (code < 0x80) {
        putc((int)code, to);
        return;
    }
    if (code >= 0x10000) {
        putc((int)(0xf0 | code >> 18), to);
        putc((int)(0x80 | (code >> 12 & 0x3f)), to);
    } else if (code >= 0x800) {
        putc((int)(0xe0 | code >> 12), to);
    } else {
        putc((int)(0xc0 | code >> 6), to);
    }
    if (code >= 0x800)
        putc((int)(0x80 | (code >> 6 & 0x3f)), to);
    putc((int)(0x80 | (code & 0x3f)), to);
}

// XML 1.0, 2.2: "Char ::= #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]"
static unsigned allowed_in_xml(unsigned code)
{
    const bool control = code < 0x20 && code != '\t' && code != '\n' && code != '\r';
    return control || code == 0xfffe || code == 0xffff ? REPLACEMENT : code;
}

void xml_text(FILE *to, const char *text)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
    while (at < end) {
        const unsigned code = allowed_in_xml(next_character(&at, end));
        switch (code) {
        case '&':
            fputs("&amp;", to);
            break;
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        case '\t':
        case '\n':
        case '\r':
            fprintf(to, "&#%u;", code);
            break;
        default:
            put_character(to, code);
        }
    }
}

static void put_json(FILE *to, const char *text, size_t size_B)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + size_B;
    while (at < end) {
        const unsigned code = next_character(&at, end);
        if (code == '"' || code == '\\')
            fprintf(to, "\\%c", (int)code);
        else if (code == '\n')
            fputs("\\n", to);
        else if (code < 0x20 || code == 0x7f || code == '<')
            fprintf(to, "\\u%04x", code);
        else
            put_character(to, code);
    }
}

void json_text(FILE *to, const char *text)
{
    put_json(to, text, strlen(text));
}

void json_string(FILE *to, const char *text, size_t size_B)
{
    putc('"', to);
    if (text)
        put_json(to, text, size_B);
    putc('"', to);
}

void uri_path(FILE *to, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~/+@";
    for (const unsigned char *c = (const unsigned char *)path; *c; c++) {
        if (strchr(plain, *c))
            putc(*c, to);
        else
            fprintf(to, "%%%02X", *c);
    }
}

void escape_line(const char *text, size_t size_B, char *out, size_t out_B)
{
    enum { ESCAPED_B = 4 };
    const unsigned char *at = (const unsigned char *)text, *end = at + strnlen(text, size_B);
    size_t used = 0;
    while (at < end) {
        const unsigned char *const from = at;
        const unsigned code = next_character(&at, end);
        const size_t length = (size_t)(at - from);
        const bool is_plain =
            code >= ' ' && (code < 0x7f || code >= 0xa0) && !(code == REPLACEMENT && length == 1);
        if (used + (is_plain ? length : ESCAPED_B * length) >= out_B)
            break;
        if (is_plain)
            memcpy(out + used, from, length);
        for (size_t i = 0; i < length && !is_plain; i++)
            snprintf(out + used + ESCAPED_B * i, ESCAPED_B + 1, "\\x%02x", from[i]);
        used += is_plain ? length : ESCAPED_B * length;
    }
    out[used] = 0;
}
