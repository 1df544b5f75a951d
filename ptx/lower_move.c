// SPDX-License-Identifier: MIT
// Lowering of mov, cvta and other instructions that move data without a calculation.
#include <stdio.h>

#include "lower_state.h"

// A copy of a register, by its width.
static void move(struct px_lower *l, px_register to, px_register from)
{
    static const char *const forms[] = {['p'] = "mov.pred",
                                        ['h'] = "mov.16",
                                        ['w'] = "mov.32",
                                        ['l'] = "mov.64",
                                        ['x'] = "mov.128"};
    if (px_failed(l))
        return;
    px_emit(l, forms[(int)px_letter(l, to)], to, from);
}

// "mov.b32 {a, b}, c" takes c apart, and "mov.b32 c, {a, b}" puts it together; the first element is
// in the lower bits. The form is unpack.32.16x2 or pack.32.16x2.
static void move_vector(struct px_lower *l, const struct px_statement *s)
{
    const bool packs = s->a[0].kind == PX_OPERAND_VECTOR;
    const struct px_operand *vector = packs ? &s->a[0] : &s->d[0];
    const struct px_operand *whole = packs ? &s->d[0] : &s->a[0];
    const unsigned type = s->types[0], bits = px_type_bits(type), count = vector->count;
    static const unsigned types[] = {[8] = PX_B8, [16] = PX_B16, [32] = PX_B32, [64] = PX_B64};
    px_register operands[5];

    if (px_type_kind(type) != 'b' || whole->kind == PX_OPERAND_VECTOR) {
        px_refuse(l, "mov of a vector needs a type .b16 to .b128 and one vector");
        return;
    }
    if ((count != 2 && count != 4) || bits / count < 8 || bits / count > 64) {
        px_refuse(l, "a .%s value does not have %u elements", px_modifier_name(type), count);
        return;
    }
    const unsigned part = types[bits / count];
    for (unsigned i = 0; i < count; i++)
        operands[packs + i] =
            packs ? px_value(l, &vector->parts[i], part) : px_target(l, &vector->parts[i], part);
    operands[packs ? 0 : count] = packs ? px_target(l, whole, type) : px_value(l, whole, type);
    px_emit_form(l, px_name(l, "%s.%u.%ux%u", packs ? "pack" : "unpack", bits, bits / count, count),
                 0, PX_NONE, operands, count + 1);
}

// A component of %tid and its like. "The fourth component is 0."
static px_register component(struct px_lower *l, const struct px_operand *o, unsigned n)
{
    char name[24];
    const int length =
        snprintf(name, sizeof name, "%.*s.%c", (int)o->text.length, o->text.at, "xyzw"[n]);
    const int special = length < (int)sizeof name ? px_special_find(name, (size_t)length) : -1;
    if (special >= 0)
        return px_special(l, (enum px_special)special);
    if (n < 3)
        px_refuse(l, "\"%.*s\" is not declared", (int)(o->text.length < 60 ? o->text.length : 60),
                  o->text.at);
    return px_constant(l, 'w', 0);
}

// mov.v4.u32 v, %tid: between vectors, one of which may be a special register.
void px_lower_mov_wide(struct px_lower *l, const struct px_statement *s)
{
    enum { MOST = 4 };
    px_register to[MOST], from[MOST], copies[MOST];
    const struct px_operand *o = &s->a[0];
    const unsigned needed = px_has(s, PX_MOD_V4) ? 4 : 2;
    unsigned count = needed;
    if (px_destinations(l, s, 0, to, MOST) != needed)
        px_refuse(l, "the destination must be a vector of %u elements", needed);
    if (o->kind == PX_OPERAND_SPECIAL && o->value < 0)
        for (unsigned i = 0; i < needed; i++)
            from[i] = component(l, o, i);
    else
        count = px_sources(l, s, 0, from, MOST);
    if (count != needed)
        px_refuse(l, "the source must be a vector of %u elements", needed);
    if (px_failed(l))
        return;
    for (unsigned i = 0; i < needed; i++) { // a destination may be a source
        copies[i] = px_temporary(l, 'w');
        move(l, copies[i], px_widen(l, from[i], 'w'));
    }
    for (unsigned i = 0; i < needed; i++)
        move(l, to[i], copies[i]);
}

void px_lower_mov(struct px_lower *l, const struct px_statement *s)
{
    const unsigned type = s->types[0];

    if (s->d[0].kind == PX_OPERAND_VECTOR || s->a[0].kind == PX_OPERAND_VECTOR)
        move_vector(l, s);
    else
        move(l, px_target(l, &s->d[0], type), px_value(l, &s->a[0], type));
}
