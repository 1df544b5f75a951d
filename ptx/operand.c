// SPDX-License-Identifier: MIT
// Reads the operands of statements.
#include <errno.h>
#include <string.h>

#include "body.h"

enum { NEST_MOST = 4 };

// A component of a vector (.x), or the selector of a video instruction (.b0, .h1).
static void register_suffix(struct px_body *b, struct px_operand *out)
{
    struct px_reader *r = &b->r;
    if (r->x.token.kind != PX_TOKEN_DOTTED)
        return;
    const char *text = r->x.token.at + 1;
    const size_t length = r->x.token.length - 1;
    static const char components[] = "xyzwrgba";
    const char *component = length == 1 ? strchr(components, *text) : NULL;
    if (component && (unsigned)(component - components) % 4 < out->length && out->length > 1) {
        out->reg += (px_register)((component - components) % 4);
        out->length = 1;
    } else if (length < sizeof(out->selector) && out->length == 1 &&
               (*text == 'b' || *text == 'h')) {
        memcpy(out->selector, text, length);
    } else {
        px_reader_fail(r, -EINVAL, "the register has no \"%.*s\"", PX_TOKEN_ARGUMENTS(r));
        return;
    }
    px_lex_next(&r->x);
}

static bool special_read(struct px_body *b, struct px_operand *out, const struct px_token *name)
{
    struct px_lexer *x = &b->r.x;
    char text[48];
    if (*name->at != '%' || name->length > 30)
        return false;
    memcpy(text, name->at, name->length);
    size_t length = name->length;
    if (x->token.kind == PX_TOKEN_DOTTED && x->token.length == 2 &&
        x->token.at == name->at + name->length) {
        memcpy(text + length, x->token.at, 2);
        if (px_special_find(text, length + 2) >= 0 ||
            (length > 1 && text[length + 1] == 'w')) { // %tid.w is 0
            length += 2;
            px_lex_next(x);
        }
    }
    out->kind = PX_OPERAND_SPECIAL;
    out->value = px_special_find(text, length);
    out->text = (struct px_text){name->at, (uint32_t)length};
    return true;
}

static void symbol_read(struct px_body *b, struct px_operand *out, const struct px_token *name)
{
    const struct px_name *own = px_names_find(&b->names, name->at, name->length);
    const struct px_name *symbol =
        own && (own->kind == PX_NAME_PARAMETER || own->kind == PX_NAME_VARIABLE)
            ? own
            : px_symbol_find(&b->r, name->at, name->length);
    if (own && symbol == own && own->kind == PX_NAME_VARIABLE &&
        (b->own[own->value].space == PX_GLOBAL || b->own[own->value].space == PX_CONSTANT)) {
        out->kind = PX_OPERAND_VARIABLE;
        out->symbol = b->own[own->value].symbol;
    } else if (own && symbol == own) {
        out->kind = own->kind == PX_NAME_PARAMETER ? PX_OPERAND_PARAMETER : PX_OPERAND_OWN;
        out->symbol = (uint32_t)own->value;
    } else if (symbol) {
        out->kind = symbol->kind == PX_NAME_FUNCTION ? PX_OPERAND_FUNCTION : PX_OPERAND_VARIABLE;
        out->symbol = (uint32_t)symbol->value;
    } else if (!special_read(b, out, name)) {
        out->kind = PX_OPERAND_LABEL;
    }
}

// A constant that is added to a register or a symbol: +4, -4, +-4.
static void offset_read(struct px_body *b, struct px_operand *out)
{
    struct px_reader *r = &b->r;
    const bool minus = px_lex_is(&r->x, "-");
    if (!minus && !px_lex_is(&r->x, "+"))
        return;
    out->is_sum = true;
    px_lex_next(&r->x);
    struct px_constant c;
    if (!px_constant_read(r, &c))
        return;
    if (c.is_float)
        px_reader_fail(r, -EINVAL, "a float cannot be added to an address");
    out->value = minus ? (int64_t)-c.bits : (int64_t)c.bits;
}

// The element of a variable: A[5], whose address is the operand's value.
static void index_read(struct px_body *b, struct px_operand *out)
{
    struct px_reader *r = &b->r;
    struct px_constant c;
    if (!px_lex_take(&r->x, "[") || !px_constant_read(r, &c))
        return;
    if (c.is_float)
        px_reader_fail(r, -EINVAL, "the number of an element cannot be a float");
    px_reader_expect(r, "]");
    if (!r->error)
        out->value = (int64_t)c.bits * (out->kind == PX_OPERAND_OWN
                                            ? b->own[out->symbol].element_B
                                            : r->module->variables[out->symbol].element_B);
}

static void name_operand(struct px_body *b, struct px_operand *out, unsigned depth)
{
    struct px_reader *r = &b->r;
    if (depth > NEST_MOST) {
        px_reader_fail(r, -EINVAL, "the operand is nested too deeply");
        return;
    }
    const struct px_token name = r->x.token;
    out->text = (struct px_text){name.at, name.length};
    px_lex_next(&r->x);
    if (name.length == 1 && *name.at == '_') {
        out->kind = PX_OPERAND_SINK;
        return;
    }
    if (name.length == 7 && !memcmp(name.at, "generic", 7) && px_lex_take(&r->x, "(")) {
        name_operand(b, out, depth + 1);
        out->generic = true;
        px_reader_expect(r, ")");
        return;
    }
    if (px_register_find(b, name.at, name.length, out)) {
        out->kind = PX_OPERAND_REGISTER;
        register_suffix(b, out);
        return;
    }
    symbol_read(b, out, &name);
    if (out->kind == PX_OPERAND_VARIABLE || out->kind == PX_OPERAND_OWN ||
        out->kind == PX_OPERAND_PARAMETER)
        offset_read(b, out);
    if (out->kind == PX_OPERAND_VARIABLE || out->kind == PX_OPERAND_OWN)
        index_read(b, out);
}

// {a, b}, [a, b] or (a, b): the token is after the bracket.
static void list_read(struct px_body *b, struct px_operand *out, const char *end, unsigned depth)
{
    struct px_operand *list = NULL;
    size_t count = 0, capacity = 0;
    while (!b->r.error && !px_lex_is(&b->r.x, end)) {
        if (count == capacity) {
            capacity = capacity ? capacity * 2 : 4;
            struct px_operand *more = px_arena_array(&b->scratch, capacity, sizeof(*more));
            if (!more) {
                px_reader_fail(&b->r, -ENOMEM, "out of host memory");
                return;
            }
            if (count)
                memcpy(more, list, count * sizeof(*list));
            list = more;
        }
        px_operand_read(b, &list[count], depth + 1);
        if (out->kind == PX_OPERAND_ADDRESS && list[count].kind == PX_OPERAND_REGISTER)
            offset_read(b, &list[count]);
        count++;
        if (!px_lex_take(&b->r.x, ","))
            break;
    }
    px_reader_expect(&b->r, end);
    out->parts = list;
    out->count = (unsigned)count;
    if (out->kind == PX_OPERAND_ADDRESS && count)
        out->value = list[0].value;
}

void px_operand_read(struct px_body *b, struct px_operand *out, unsigned depth)
{
    struct px_reader *r = &b->r;
    *out = (struct px_operand){
        .text = {r->x.token.at, r->x.token.length}, .reg = PX_NONE, .length = 1};
    if (depth > NEST_MOST) {
        px_reader_fail(r, -EINVAL, "the operand is nested too deeply");
        return;
    }
    const struct px_lexer held = r->x;
    if (px_lex_take(&r->x, "!") && r->x.token.kind == PX_TOKEN_NAME &&
        !px_lex_is(&r->x, "WARP_SZ")) {
        name_operand(b, out, depth);
        out->negated = true;
        return;
    }
    r->x = held;
    if (px_lex_take(&r->x, "-") && px_register_find(b, r->x.token.at, r->x.token.length, out)) {
        name_operand(b, out, depth);
        out->minus = true;
        return;
    }
    r->x = held;
    if (px_lex_take(&r->x, "{")) {
        out->kind = PX_OPERAND_VECTOR;
        list_read(b, out, "}", depth);
    } else if (px_lex_take(&r->x, "[")) {
        out->kind = PX_OPERAND_ADDRESS;
        list_read(b, out, "]", depth);
        if (!r->error && !out->count)
            px_reader_fail(r, -EINVAL, "the address is empty");
    } else if (r->x.token.kind == PX_TOKEN_NAME && !px_lex_is(&r->x, "WARP_SZ")) {
        name_operand(b, out, depth);
    } else if (!depth && b->reading_call && px_lex_is(&r->x, "(")) {
        px_lex_next(&r->x);
        out->kind = PX_OPERAND_LIST;
        list_read(b, out, ")", depth);
    } else {
        struct px_constant c;
        if (!px_constant_read(r, &c))
            return;
        out->kind = c.is_float ? PX_OPERAND_FLOAT : PX_OPERAND_INTEGER;
        out->single = c.single;
        out->is_unsigned = c.is_unsigned;
        out->value = (int64_t)c.bits;
    }
}
