// SPDX-License-Identifier: MIT
// Constant expressions.
#include <errno.h>
#include <string.h>

#include "module_state.h"
#include "statement.h"

enum { DEPTH_MOST = 100 };

static bool expression(struct px_reader *r, struct px_constant *out, unsigned level,
                       unsigned depth);

static double as_double(const struct px_constant *c)
{
    double value;
    if (!c->is_float)
        return c->is_unsigned ? (double)c->bits : (double)(int64_t)c->bits;
    if (c->single) {
        float narrow;
        const uint32_t bits = (uint32_t)c->bits;
        memcpy(&narrow, &bits, sizeof(narrow));
        return (double)narrow;
    }
    memcpy(&value, &c->bits, sizeof(value));
    return value;
}

static void set_double(struct px_constant *c, double value)
{
    *c = (struct px_constant){.is_float = true};
    memcpy(&c->bits, &value, sizeof(value));
}

uint64_t px_constant_bits(const struct px_constant *c, unsigned type)
{
    const unsigned bits = px_type_bits(type);
    const bool is_float = px_type_kind(type) == 'f';
    if (c->is_float || (is_float && bits >= 32)) {
        if (bits == 32 && !(c->is_float && c->single)) {
            const float narrow = (float)as_double(c);
            uint32_t out;
            memcpy(&out, &narrow, sizeof(out));
            return out;
        }
        // As recorded: mov.f64 of 0f3fc00000 writes these 32 bits, not 1.5.
        struct px_constant wide;
        set_double(&wide, as_double(c));
        return bits == 64 && !(c->is_float && c->single) ? wide.bits : c->bits;
    }
    return bits < 64 ? c->bits & ((UINT64_C(1) << bits) - 1) : c->bits;
}

static bool primary(struct px_reader *r, struct px_constant *out, unsigned depth)
{
    const struct px_token token = r->x.token;
    if (px_lex_take(&r->x, "(")) {
        const bool is_signed = px_lex_is(&r->x, ".s64");
        if (is_signed || px_lex_is(&r->x, ".u64")) { // a cast
            px_lex_next(&r->x);
            if (!px_reader_expect(r, ")") || !expression(r, out, 10, depth + 1))
                return false;
            if (out->is_float)
                out->bits = is_signed ? (uint64_t)(int64_t)as_double(out) : out->bits;
            out->is_float = false;
            out->is_unsigned = !is_signed;
            return true;
        }
        return expression(r, out, 0, depth + 1) && px_reader_expect(r, ")");
    }
    if (token.kind == PX_TOKEN_INTEGER || token.kind == PX_TOKEN_FLOAT) {
        *out = (struct px_constant){token.kind == PX_TOKEN_FLOAT, token.single, token.is_unsigned,
                                    token.value};
        px_lex_next(&r->x);
        return true;
    }
    if (px_lex_take(&r->x, "WARP_SZ")) {
        *out = (struct px_constant){.bits = 32};
        return true;
    }
    px_reader_fail(r, -EINVAL, "\"%.*s\" is not a constant", PX_TOKEN_ARGUMENTS(r));
    return false;
}

static bool unary(struct px_reader *r, struct px_constant *out, unsigned depth)
{
    static const char signs[] = "+-!~";
    const char sign =
        r->x.token.kind == PX_TOKEN_SIGN && r->x.token.length == 1 ? *r->x.token.at : ' ';
    if (!strchr(signs, sign))
        return primary(r, out, depth);
    px_lex_next(&r->x);
    if (depth >= DEPTH_MOST) {
        px_reader_fail(r, -EINVAL, "the constant expression is nested too deeply");
        return false;
    }
    if (!unary(r, out, depth + 1))
        return false;
    if (out->is_float && sign == '-')
        out->bits ^= out->single ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    else if (out->is_float && sign != '+')
        px_reader_fail(r, -EINVAL, "the operator %c is not defined for floats", sign);
    else if (sign == '-')
        *out = (struct px_constant){.bits = -out->bits, .is_unsigned = false};
    else if (sign == '~')
        out->bits = ~out->bits;
    else if (sign == '!')
        *out = (struct px_constant){.bits = !out->bits};
    return !r->error;
}

// Operators by level, the weakest first. ?: is level 0.
static const char *const levels[][5] = {
    {0},          {"||"},     {"&&"},         {"|"},
    {"^"},        {"&"},      {"==", "!="},   {"<", ">", "<=", ">="},
    {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
enum { LEVELS = sizeof(levels) / sizeof(*levels) };

static bool apply_float(const char *sign, struct px_constant *a, const struct px_constant *b)
{
    const double x = as_double(a), y = as_double(b);
    int compared;
    if (!strcmp(sign, "+"))
        set_double(a, x + y);
    else if (!strcmp(sign, "-"))
        set_double(a, x - y);
    else if (!strcmp(sign, "*"))
        set_double(a, x * y);
    else if (!strcmp(sign, "/"))
        set_double(a, x / y);
    else {
        compared = !strcmp(sign, "==")   ? x == y
                   : !strcmp(sign, "!=") ? x != y
                   : !strcmp(sign, "<")  ? x < y
                   : !strcmp(sign, ">")  ? x > y
                   : !strcmp(sign, "<=") ? x <= y
                   : !strcmp(sign, ">=") ? x >= y
                                         : -1;
        if (compared < 0)
            return false;
        *a = (struct px_constant){.bits = (uint64_t)compared};
    }
    return true;
}

static bool apply_compare(const char *sign, struct px_constant *a, uint64_t y, bool is_unsigned)
{
    const uint64_t flip = is_unsigned ? 0 : UINT64_C(1) << 63;
    const uint64_t x = a->bits ^ flip;
    y ^= flip;
    const int result = !strcmp(sign, "<")    ? x < y
                       : !strcmp(sign, ">")  ? x > y
                       : !strcmp(sign, "<=") ? x <= y
                       : !strcmp(sign, ">=") ? x >= y
                       : !strcmp(sign, "==") ? x == y
                       : !strcmp(sign, "!=") ? x != y
                       : !strcmp(sign, "&&") ? x != flip && y != flip
                       : !strcmp(sign, "||") ? x != flip || y != flip
                                             : -1;
    if (result >= 0)
        *a = (struct px_constant){.bits = (uint64_t)result};
    return result >= 0;
}

static void apply_integer(struct px_reader *r, const char *sign, struct px_constant *a,
                          const struct px_constant *b)
{
    const bool is_unsigned = a->is_unsigned || b->is_unsigned;
    const uint64_t x = a->bits, y = b->bits;
    if (apply_compare(sign, a, y, is_unsigned))
        return;
    const bool shift = sign[0] == sign[1];
    const bool was_unsigned = a->is_unsigned;
    a->is_unsigned = shift ? was_unsigned : is_unsigned;
    if ((*sign == '/' || *sign == '%') && !y) {
        px_reader_fail(r, -EINVAL, "the constant expression divides by 0");
        return;
    }
    switch (*sign) {
    case '+':
        a->bits = x + y;
        break;
    case '-':
        a->bits = x - y;
        break;
    case '*':
        a->bits = x * y;
        break;
    case '/':
        a->bits = is_unsigned ? x / y : y == UINT64_MAX ? -x : (uint64_t)((int64_t)x / (int64_t)y);
        break;
    case '%':
        a->bits = is_unsigned ? x % y : y == UINT64_MAX ? 0 : (uint64_t)((int64_t)x % (int64_t)y);
        break;
    case '&':
        a->bits = x & y;
        break;
    case '|':
        a->bits = x | y;
        break;
    case '^':
        a->bits = x ^ y;
        break;
    case '<':
        a->bits = y > 63 ? 0 : x << y;
        break;
    default: // >>
        a->bits =
            was_unsigned ? (y > 63 ? 0 : x >> y) : (uint64_t)((int64_t)x >> (y > 63 ? 63 : y));
        break;
    }
}

static bool conditional(struct px_reader *r, struct px_constant *out, unsigned depth)
{
    if (!px_lex_take(&r->x, "?"))
        return true;
    struct px_constant yes, no;
    if (!expression(r, &yes, 0, depth + 1) || !px_reader_expect(r, ":") ||
        !expression(r, &no, 0, depth + 1))
        return false;
    *out = out->bits ? yes : no;
    return true;
}

static bool expression(struct px_reader *r, struct px_constant *out, unsigned level, unsigned depth)
{
    if (depth > DEPTH_MOST) {
        px_reader_fail(r, -EINVAL, "the constant expression is nested too deeply");
        return false;
    }
    if (level >= LEVELS)
        return unary(r, out, depth);
    if (!expression(r, out, level + 1, depth))
        return false;
    if (!level)
        return conditional(r, out, depth);
    for (;;) {
        const char *sign = NULL;
        for (unsigned i = 0; i < 5 && levels[level][i]; i++)
            if (px_lex_is(&r->x, levels[level][i]))
                sign = levels[level][i];
        struct px_constant right;
        if (!sign)
            return true;
        px_lex_next(&r->x);
        if (!expression(r, &right, level + 1, depth))
            return false;
        if (!out->is_float && !right.is_float)
            apply_integer(r, sign, out, &right);
        else if (!apply_float(sign, out, &right))
            px_reader_fail(r, -EINVAL, "the operator %s is not defined for floats", sign);
        if (r->error)
            return false;
    }
}

bool px_constant_read(struct px_reader *r, struct px_constant *out)
{
    *out = (struct px_constant){0};
    return expression(r, out, 0, 0);
}

uint64_t px_constant_integer(struct px_reader *r, uint64_t most, const char *name)
{
    struct px_constant c;
    if (!px_constant_read(r, &c))
        return 0;
    if (c.is_float || c.bits > most) {
        px_reader_fail(r, -EINVAL, "%s must be an integer from 0 to %llu", name,
                       (unsigned long long)most);
        return 0;
    }
    return c.bits;
}
