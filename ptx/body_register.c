// SPDX-License-Identifier: MIT
// Registers of bodies: declarations, ranges and vectors.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "body.h"
#include "alloc.h"

static void declare(struct px_body *b, const struct px_token *name,
                    const struct px_declared *declared)
{
    struct px_declared *grown =
        px_grow(b->declared, b->declared_count, &b->declared_capacity, sizeof(*grown));
    int rc = -ENOMEM;
    if (grown) {
        b->declared = grown;
        rc = declared->count
                 ? px_names_add(&b->range_names, name->at, name->length, PX_NAME_REGISTER,
                                b->declared_count)
                 : px_body_name(b, name->at, name->length, PX_NAME_REGISTER, b->declared_count);
    }
    if (rc == -EEXIST)
        px_reader_fail(&b->r, -EINVAL, "\"%.*s\" is declared twice",
                       (int)(name->length < 60 ? name->length : 60), name->at);
    else if (rc)
        px_reader_fail(&b->r, -ENOMEM, "out of host memory");
    else
        grown[b->declared_count++] = *declared;
}

void px_registers_read(struct px_body *b)
{
    struct px_reader *r = &b->r;
    struct px_declared declared = {.length = 1, .first = PX_NONE};
    while (!r->error && r->x.token.kind == PX_TOKEN_DOTTED) {
        if (px_lex_is(&r->x, ".v2") || px_lex_is(&r->x, ".v4"))
            declared.length = (uint8_t)(r->x.token.at[2] - '0');
        else if (px_lex_take(&r->x, ".align")) {
            px_constant_integer(r, 1 << 20, "an alignment");
            continue;
        } else {
            declared.type = (uint16_t)px_type_read(r);
            if (!px_type_is_fundamental(declared.type) ||
                px_type_bits(declared.type) < (declared.type == PX_PRED ? 1 : 8))
                px_reader_fail(r, -EINVAL, "\"%.*s\" is not a type of registers",
                               PX_TOKEN_ARGUMENTS(r));
        }
        px_lex_next(&r->x);
    }
    if (!r->error && !declared.type)
        px_reader_fail(r, -EINVAL, "the registers have no type");
    do {
        const struct px_token name = r->x.token;
        if (!r->error && name.kind != PX_TOKEN_NAME)
            px_reader_fail(r, -EINVAL, "\"%.*s\" is not a register's name", PX_TOKEN_ARGUMENTS(r));
        px_lex_next(&r->x);
        declared.count = 0;
        bool empty = false; // %r<0>
        if (!r->error && px_lex_take(&r->x, "<")) {
            const struct px_token count = r->x.token; // not an expression: > would be an operator
            if (count.kind != PX_TOKEN_INTEGER || count.value > INT32_MAX)
                px_reader_fail(r, -EINVAL, "the number of registers must be from 0 to 2^31 - 1");
            declared.count = (uint32_t)count.value;
            empty = !count.value;
            px_lex_next(&r->x);
            px_reader_expect(r, ">");
        }
        if (!r->error && !empty)
            declare(b, &name, &declared);
    } while (!r->error && px_lex_take(&r->x, ","));
    px_reader_expect(r, ";");
}

// Makes the register, or the vector's registers one after another.
static px_register make(struct px_body *b, const struct px_declared *d, const char *name)
{
    px_register first = PX_NONE;
    for (unsigned i = 0; i < d->length; i++) {
        const px_register reg = px_temporary(b->l, px_type_letter(d->type));
        if (reg != PX_NONE) {
            b->l->registers[reg].name = name;
            b->l->registers[reg].real = d->type == PX_F32 || d->type == PX_F64;
        }
        first = i ? first : reg;
    }
    return first;
}

// The slot of a key in the hash table of ranges' registers; a free one if it is not there.
static size_t range_slot(const struct px_body *b, uint64_t key)
{
    size_t i = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (b->range_capacity - 1);
    while (b->range_keys[i] && b->range_keys[i] != key)
        i = (i + 1) & (b->range_capacity - 1);
    return i;
}

static bool range_grow(struct px_body *b)
{
    if (b->range_count * 2 < b->range_capacity)
        return true;
    struct px_body old = *b;
    b->range_capacity = old.range_capacity ? old.range_capacity * 2 : 64;
    b->range_keys = dm_calloc(b->range_capacity, sizeof(*b->range_keys));
    b->range_registers = dm_calloc(b->range_capacity, sizeof(*b->range_registers));
    if (!b->range_keys || !b->range_registers) {
        dm_free(b->range_keys);
        dm_free(b->range_registers);
        b->range_keys = old.range_keys;
        b->range_registers = old.range_registers;
        b->range_capacity = old.range_capacity;
        px_lower_no_memory(b->l);
        return false;
    }
    for (size_t i = 0; i < old.range_capacity; i++)
        if (old.range_keys[i]) {
            const size_t slot = range_slot(b, old.range_keys[i]);
            b->range_keys[slot] = old.range_keys[i];
            b->range_registers[slot] = old.range_registers[i];
        }
    dm_free(old.range_keys);
    dm_free(old.range_registers);
    return true;
}

static px_register range_register(struct px_body *b, size_t index, uint32_t number,
                                  const char *text, size_t length)
{
    const uint64_t key = ((uint64_t)index + 1) << 32 | number;
    if (!range_grow(b))
        return PX_NONE;
    const size_t slot = range_slot(b, key);
    if (!b->range_keys[slot]) {
        char *name = px_arena_text(&b->l->arena, text, length);
        if (!name)
            px_lower_no_memory(b->l);
        const px_register reg = make(b, &b->declared[index], name);
        if (reg == PX_NONE)
            return PX_NONE;
        b->range_keys[slot] = key;
        b->range_registers[slot] = reg;
        b->range_count++;
    }
    return b->range_registers[slot];
}

// %r12 of a range %r<100>: every way to cut off the number is tried, because %r1<100> is a name
// too.
static bool range_find(struct px_body *b, const char *text, size_t length, struct px_operand *out)
{
    uint64_t number = 0, unit = 1;
    for (size_t at = length; at > 1 && length - at < 10; at--) {
        const char digit = text[at - 1];
        if (digit < '0' || digit > '9')
            return false;
        number += (uint64_t)(digit - '0') * unit;
        unit *= 10;
        if (digit == '0' && length - at > 0)
            continue; // %r01 is not a name of %r<100>
        const struct px_name *name = px_names_find(&b->range_names, text, at - 1);
        if (!name || number >= b->declared[name->value].count)
            continue;
        const size_t index = (size_t)name->value;
        out->reg = range_register(b, index, (uint32_t)number, text, length);
        out->type = b->declared[index].type;
        out->length = b->declared[index].length;
        return true;
    }
    return false;
}

bool px_register_find(struct px_body *b, const char *text, size_t length, struct px_operand *out)
{
    const struct px_name *name = px_names_find(&b->names, text, length);
    if (!name)
        return range_find(b, text, length, out);
    if (name->kind != PX_NAME_REGISTER)
        return false;
    const size_t index = (size_t)name->value;
    struct px_declared *d = &b->declared[index];
    if (d->first == PX_NONE) {
        char *copy = px_arena_text(&b->l->arena, text, length);
        if (!copy)
            px_lower_no_memory(b->l);
        d->first = make(b, d, copy);
    }
    out->reg = d->first;
    out->type = d->type;
    out->length = d->length;
    return true;
}
