// SPDX-License-Identifier: MIT
// Tokens of PTX text.
#include "lex.h"

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Classes of characters.
enum {
    LETTER = 1, // may begin a name
    DIGIT = 2,
    HEX = 4,
    NAME = 8,  // may continue a name
    STOP = 16, // may matter where a body is skipped: { } / " and the end of a line
    SPACE = 32,
};
static const uint8_t classes[256] = {
    ['0' ... '9'] = DIGIT | HEX | NAME,
    ['a' ... 'f'] = LETTER | HEX | NAME,
    ['A' ... 'F'] = LETTER | HEX | NAME,
    ['g' ... 'z'] = LETTER | NAME,
    ['G' ... 'Z'] = LETTER | NAME,
    ['_'] = LETTER | NAME,
    ['$'] = LETTER | NAME,
    ['%'] = LETTER,
    ['{'] = STOP,
    ['}'] = STOP,
    ['/'] = STOP,
    ['"'] = STOP,
    ['\n'] = STOP | SPACE,
    [' '] = SPACE,
    ['\t'] = SPACE,
    ['\r'] = SPACE,
    ['\f'] = SPACE,
    ['\v'] = SPACE,
};

static bool is(char c, unsigned which)
{
    return classes[(unsigned char)c] & which;
}

void px_lex_start(struct px_lexer *x, const char *at, const char *end, unsigned line)
{
    *x = (struct px_lexer){.at = at, .end = end, .line = line};
    px_lex_next(x);
}

// At a `/`: skips a comment. Returns false if it is none, or if it has no end (*wrong).
static bool comment_skip(struct px_lexer *x, bool *wrong)
{
    if (x->end - x->at < 2)
        return false;
    if (x->at[1] == '/') {
        const char *line = memchr(x->at, '\n', (size_t)(x->end - x->at));
        x->at = line ? line : x->end;
        return true;
    }
    if (x->at[1] != '*')
        return false;
    for (const char *p = x->at + 2; p + 1 < x->end; p++) {
        x->line += *p == '\n';
        if (p[0] == '*' && p[1] == '/') {
            x->at = p + 2;
            return true;
        }
    }
    *wrong = true;
    return false;
}

static bool space_skip(struct px_lexer *x)
{
    bool wrong = false, fresh = x->token.at == NULL;
    while (x->at < x->end) {
        if (is(*x->at, SPACE)) {
            fresh = fresh || *x->at == '\n';
            x->line += *x->at == '\n';
            x->at++;
        } else if (*x->at == '#' && fresh) { // a line for the preprocessor
            const char *line = memchr(x->at, '\n', (size_t)(x->end - x->at));
            x->at = line ? line : x->end;
        } else if (*x->at != '/' || !comment_skip(x, &wrong)) {
            break;
        }
    }
    return !wrong;
}

// 0f3F800000 and 0d3FF0000000000000.
static bool bits_read(struct px_lexer *x, unsigned digits)
{
    uint64_t value = 0;
    const char *p = x->at + 2;
    for (unsigned i = 0; i < digits; i++, p++) {
        if (p >= x->end || !is(*p, HEX))
            return false;
        value = value << 4 | (unsigned)(*p <= '9' ? *p - '0' : (*p | 32) - 'a' + 10);
    }
    if (p < x->end && is(*p, NAME))
        return false;
    x->token.kind = PX_TOKEN_FLOAT;
    x->token.single = digits == 8;
    x->token.value = value;
    x->at = p;
    return true;
}

// Reads digits with a point, which `point` replaces because strtod expects the locale's own one.
static double decimal_read(const char *text, const char *point, size_t *used)
{
    char other[128], *end;
    const char *dot = strchr(text, '.');
    const size_t before = dot ? (size_t)(dot - text) : strlen(text), more = strlen(point) - 1;
    snprintf(other, sizeof(other), "%.*s%s%s", (int)before, text, dot ? point : "",
             dot ? dot + 1 : "");
    const double value = strtod(other, &end);
    *used = (size_t)(end - other);
    if (*used > before)
        *used -= more;
    return value;
}

static void decimal_float(struct px_lexer *x)
{
    char text[64];
    size_t length = 0, used;
    const char *p = x->at;
    for (; p < x->end && length + 1 < sizeof(text); p++) {
        const bool sign = (*p == '+' || *p == '-') && length && (text[length - 1] | 32) == 'e';
        if (!is(*p, DIGIT) && *p != '.' && (*p | 32) != 'e' && !sign)
            break;
        text[length++] = *p;
    }
    text[length] = 0;
    const double value = decimal_read(text, nl_langinfo(RADIXCHAR), &used);
    x->token.kind = used ? PX_TOKEN_FLOAT : PX_TOKEN_WRONG;
    memcpy(&x->token.value, &value, sizeof(value));
    x->at += used ? used : 1;
}

static void integer_read(struct px_lexer *x, unsigned base, const char *p)
{
    uint64_t value = 0;
    bool wrong = p >= x->end || !is(*p, HEX);
    for (; p < x->end && is(*p, HEX); p++) {
        const unsigned digit = (unsigned)(*p <= '9' ? *p - '0' : (*p | 32) - 'a' + 10);
        wrong = wrong || digit >= base || __builtin_mul_overflow(value, base, &value) ||
                __builtin_add_overflow(value, digit, &value);
    }
    x->token.is_unsigned = value > INT64_MAX;
    if (p < x->end && *p == 'U') {
        x->token.is_unsigned = true;
        p++;
    }
    wrong = wrong || (p < x->end && is(*p, NAME));
    x->token.kind = wrong ? PX_TOKEN_WRONG : PX_TOKEN_INTEGER;
    x->token.value = value;
    x->at = p;
}

static void number_read(struct px_lexer *x)
{
    const char *p = x->at;
    const char second = x->end - p > 1 ? p[1] : ' ';
    if (*p == '0' && (second | 32) == 'f' && bits_read(x, 8))
        return;
    if (*p == '0' && (second | 32) == 'd' && bits_read(x, 16))
        return;
    if (*p == '0' && (second | 32) == 'x') {
        integer_read(x, 16, p + 2);
        return;
    }
    if (*p == '0' && (second | 32) == 'b') {
        integer_read(x, 2, p + 2);
        return;
    }
    while (p < x->end && is(*p, DIGIT))
        p++;
    if (p < x->end && (*p == '.' || (*p | 32) == 'e'))
        decimal_float(x);
    else
        integer_read(x, *x->at == '0' ? 8 : 10, x->at);
}

static void name_read(struct px_lexer *x)
{
    const char *p = x->at + 1;
    while (p < x->end && is(*p, NAME))
        p++;
    x->token.kind = PX_TOKEN_NAME;
    x->at = p;
}

static void dotted_read(struct px_lexer *x)
{
    const char *p = x->at + 1;
    while (p < x->end &&
           (is(*p, NAME) || (*p == ':' && x->end - p > 2 && p[1] == ':' && is(p[2], NAME))))
        p += *p == ':' ? 2 : 1;
    x->token.kind = p > x->at + 1 ? PX_TOKEN_DOTTED : PX_TOKEN_WRONG;
    x->at = p;
}

static void string_read(struct px_lexer *x)
{
    const char *p = x->at + 1;
    while (p < x->end && *p != '"' && *p != '\n')
        p += *p == '\\' && x->end - p > 1 && p[1] != '\n' ? 2 : 1;
    x->token.kind = p < x->end && *p == '"' ? PX_TOKEN_STRING : PX_TOKEN_WRONG;
    x->token.at = x->at + 1;
    x->token.length = (uint32_t)(p - x->at - 1);
    x->at = p < x->end ? p + 1 : p;
}

static void sign_read(struct px_lexer *x)
{
    static const char *const pairs[] = {"<<", ">>", "==", "!=", "<=", ">=", "&&", "||"};
    x->token.kind =
        *x->at && strchr("+-*/%&|^~!<>=()[]{},;:?@", *x->at) ? PX_TOKEN_SIGN : PX_TOKEN_WRONG;
    size_t length = 1;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
        if (x->end - x->at > 1 && !memcmp(x->at, pairs[i], 2))
            length = 2;
    x->at += length;
}

void px_lex_next(struct px_lexer *x)
{
    const bool right = space_skip(x);
    x->token = (struct px_token){.at = x->at, .line = x->line};
    if (!right) {
        x->token.kind = PX_TOKEN_WRONG;
        x->token.length = 2;
        x->at = x->end;
        return;
    }
    if (x->at >= x->end) {
        x->token.kind = PX_TOKEN_END;
        return;
    }
    const char c = *x->at;
    const char second = x->end - x->at > 1 ? x->at[1] : ' ';
    if (is(c, DIGIT))
        number_read(x);
    else if (c == '%' ? is(second, LETTER | DIGIT) && second != '%' : is(c, LETTER))
        name_read(x);
    else if (c == '.' && !(is(second, DIGIT)))
        dotted_read(x);
    else if (c == '.')
        dotted_read(x);
    else if (c == '"')
        string_read(x);
    else
        sign_read(x);
    if (x->token.kind != PX_TOKEN_STRING)
        x->token.length = (uint32_t)(x->at - x->token.at);
}

bool px_lex_is(const struct px_lexer *x, const char *text)
{
    const size_t length = strlen(text);
    return x->token.kind != PX_TOKEN_STRING && x->token.length == length &&
           !memcmp(x->token.at, text, length);
}

bool px_lex_take(struct px_lexer *x, const char *text)
{
    if (!px_lex_is(x, text))
        return false;
    px_lex_next(x);
    return true;
}

// Skips text without { } / and ", in whole steps. The loop inside becomes a few vector
// instructions.
static void plain_skip(struct px_lexer *x)
{
    enum { STEP_B = 64 };
    while (x->end - x->at >= STEP_B) {
        uint8_t stops = 0, lines = 0;
        for (size_t k = 0; k < STEP_B; k++) {
            const char c = x->at[k];
            stops |= (uint8_t)((c == '{') | (c == '}') | (c == '/') | (c == '"'));
            lines = (uint8_t)(lines + (c == '\n'));
        }
        if (stops)
            return;
        x->line += lines;
        x->at += STEP_B;
    }
}

bool px_lex_skip_body(struct px_lexer *x)
{
    unsigned depth = 1;
    bool wrong = false;
    while (x->at < x->end && !wrong) {
        plain_skip(x);
        while (x->at < x->end && !is(*x->at, STOP))
            x->at++;
        if (x->at >= x->end)
            break;
        if (*x->at == '/') {
            if (!comment_skip(x, &wrong))
                x->at++;
            continue;
        }
        if (*x->at == '"') {
            const struct px_token held = x->token;
            string_read(x);
            x->token = held;
            continue;
        }
        x->line += *x->at == '\n';
        depth += *x->at == '{';
        depth -= *x->at == '}';
        x->at++;
        if (!depth) {
            px_lex_next(x);
            return true;
        }
    }
    return false;
}
