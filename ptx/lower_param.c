// SPDX-License-Identifier: MIT
// Lowering of parameters: ld.param and st.param, which become moves if the parameter is one value,
// and accesses to local memory if it is an array.
#include <string.h>

#include "body.h"

enum { VECTOR_MOST = 8 };

void px_slot_place(struct px_lower *l, struct px_slot *slot)
{
    if (slot->reg != PX_NONE || slot->at_B != UINT32_MAX)
        return;
    const uint32_t alignment_B = slot->formal.alignment_B > 16 ? slot->formal.alignment_B : 16;
    slot->at_B = px_local_take(l, slot->formal.size_B, alignment_B);
}

px_register px_slot_register(struct px_lower *l, struct px_slot *slot)
{
    if (slot->reg == PX_NONE)
        slot->reg = px_temporary(l, px_type_letter(slot->formal.type));
    return slot->reg;
}

// The address of an array: a register, plus a constant that accesses add.
static struct px_address array_base(struct px_lower *l, struct px_slot *slot)
{
    px_slot_place(l, slot);
    if (slot->reg != PX_NONE)
        return (struct px_address){slot->reg, 0};
    if (l->frame != PX_NONE)
        return (struct px_address){l->frame, slot->at_B};
    return (struct px_address){px_constant(l, 'w', slot->at_B), 0};
}

static px_register add(struct px_lower *l, px_register base, uint64_t offset)
{
    const px_register out = px_temporary(l, 'w');
    px_emit(l, "add.32", out, base, px_constant(l, 'w', offset));
    return out;
}

px_register px_slot_address(struct px_lower *l, const struct px_slot *slot, int64_t offset,
                            char letter)
{
    if (slot->kind == PX_SLOT_REGISTER) {
        px_unsupported(l, "the address of a parameter that is one value is not supported");
        return PX_NONE;
    }
    if (slot->kind == PX_SLOT_ARGUMENT)
        return px_constant(l, letter, slot->at_B + (uint64_t)offset);
    const struct px_address a = array_base(l, (struct px_slot *)(uintptr_t)slot);
    offset += a.offset;
    return px_widen(l, offset ? add(l, a.base, (uint64_t)offset) : a.base, letter);
}

px_register px_own_address(struct px_lower *l, const struct px_own *own,
                           const struct px_operand *operand, char letter)
{
    struct px_register_info info = {
        .letter = letter,
        .fill = PX_FILL_WINDOW,
        .index = own->space,
        .generic = operand->generic,
        .own = true,
        .value = own->at_B + (uint64_t)operand->value,
    };
    if (own->space == PX_LOCAL && l->frame != PX_NONE) {
        const px_register at = px_widen(l, add(l, l->frame, info.value), letter);
        if (!operand->generic)
            return at;
        info.value = 0;
        const px_register out = px_temporary(l, 'l');
        px_emit(l, "add.64", out, at, px_filled(l, &info));
        return out;
    }
    return px_filled(l, &info);
}

// Moves a value of `type` to a register that may be wider, as ld does.
static void move_wider(struct px_lower *l, px_register to, px_register from, unsigned type)
{
    static const char *const moves[] = {['p'] = "mov.pred",
                                        ['h'] = "mov.16",
                                        ['w'] = "mov.32",
                                        ['l'] = "mov.64",
                                        ['x'] = "mov.128"};
    static const unsigned widths[] = {['h'] = 16, ['w'] = 32, ['l'] = 64};
    const char want = px_letter(l, to), have = px_letter(l, from);
    if (px_failed(l))
        return;
    const unsigned bits = px_type_bits(type);
    const bool is_signed = px_type_kind(type) == 's';
    if (want == have && (bits != 8 || !is_signed))
        px_emit(l, moves[(int)want], to, from);
    else if (strchr("hwl", want) && strchr("hwl", have))
        px_emit(l,
                px_name(l, "cvt.%c%u.%c%u", is_signed ? 's' : 'u', widths[(int)want],
                        is_signed ? 's' : 'u', bits),
                to, from);
    else
        px_refuse(l, "the register's type does not suit .%s", px_modifier_name(type));
}

// ":32" and such: what is appended to the name of a form for local or param memory.
static const char *memory_name(struct px_lower *l, const char *root, unsigned type, px_register reg,
                               unsigned count)
{
    static const unsigned widths[] = {['h'] = 16, ['w'] = 32, ['l'] = 64, ['x'] = 128};
    const unsigned bits = px_type_bits(type);
    const char letter = px_letter(l, reg);
    const unsigned width = strchr("hwlx", letter) ? widths[(int)letter] : 0;
    const char *kind = bits == width || *root == 's' ? "" : px_type_kind(type) == 's' ? "s" : "u";
    return px_name(l, "%s.%s%u:%u%s", root, kind, bits, width, count > 1 ? ".v" : "");
}

static void load_memory(struct px_lower *l, const struct px_statement *s, const char *root,
                        px_register base, int64_t offset)
{
    px_register operands[VECTOR_MOST + 1];
    const unsigned count = px_destinations(l, s, 0, operands, VECTOR_MOST);
    if (px_failed(l))
        return;
    operands[count] = base;
    px_emit_form(l, memory_name(l, root, s->types[0], operands[0], count), offset, PX_NONE,
                 operands, count + 1);
}

static void load_argument(struct px_lower *l, const struct px_statement *s,
                          const struct px_slot *slot, int64_t offset)
{
    px_register to[VECTOR_MOST];
    const unsigned type = s->types[0], size_B = (px_type_bits(type) + 7) / 8;
    const unsigned count = px_destinations(l, s, 0, to, VECTOR_MOST);
    const struct px_function *kernel = &l->module->functions[l->kernel];
    for (unsigned i = 0; i < count && !px_failed(l); i++) {
        const uint64_t at_B = slot->at_B + (uint64_t)offset + (uint64_t)i * size_B;
        if (at_B > kernel->parameters_B || kernel->parameters_B - at_B < size_B) {
            px_refuse(l, "the access is outside of the parameters (%u bytes)",
                      kernel->parameters_B);
            return;
        }
        move_wider(l, to[i],
                   px_filled(l, &(struct px_register_info){.letter = px_type_letter(type),
                                                           .fill = PX_FILL_ARGUMENT,
                                                           .size_B = size_B,
                                                           .value = at_B}),
                   type);
    }
}

// A value of a parameter that is in a register: the access may be narrower, at its beginning.
static bool fits(struct px_lower *l, const struct px_slot *slot, const struct px_operand *address,
                 unsigned type, unsigned count)
{
    const bool right =
        !address->value && count == 1 && px_type_bits(type) <= px_type_bits(slot->formal.type);
    if (!right)
        px_unsupported(l, "the parameter %.*s is one value and must be accessed whole",
                       (int)slot->formal.name_length, slot->formal.name);
    return right;
}

void px_lower_ld_param(struct px_lower *l, const struct px_statement *s)
{
    const struct px_operand *address = s->a[0].parts;
    const unsigned type = s->types[0];
    if (address->kind != PX_OPERAND_PARAMETER) {
        const struct px_address a = px_address(l, &s->a[0], PX_PARAMETER);
        load_memory(l, s, l->body->caller || l->body->outlined ? "ld.local" : "ld.param", a.base,
                    a.offset);
        return;
    }
    struct px_slot *slot = &l->body->slots[address->symbol];
    struct px_address base;
    px_register to[VECTOR_MOST];
    switch (slot->kind) {
    case PX_SLOT_ARGUMENT:
        load_argument(l, s, slot, address->value);
        return;
    case PX_SLOT_LOCAL:
        base = array_base(l, slot);
        load_memory(l, s, "ld.local", base.base, base.offset + address->value);
        return;
    default:
        if (!fits(l, slot, address, type, px_destinations(l, s, 0, to, VECTOR_MOST)))
            return;
        move_wider(l, to[0], px_widen(l, px_slot_register(l, slot), px_type_letter(type)), type);
        if (!px_failed(l))
            l->ops[l->op_count - 1].parameter = l->body->caller;
    }
}

void px_lower_st_param(struct px_lower *l, const struct px_statement *s)
{
    const struct px_operand *address = s->a[0].parts;
    const unsigned type = s->types[0];
    px_register from[VECTOR_MOST + 1];
    if (address->kind != PX_OPERAND_PARAMETER) {
        px_refuse(l, "the address must be a parameter");
        return;
    }
    struct px_slot *slot = &l->body->slots[address->symbol];
    const unsigned count = px_sources(l, s, 1, from + 1, VECTOR_MOST);
    if (slot->kind == PX_SLOT_ARGUMENT) {
        px_refuse(l, "a kernel's parameter cannot be written");
    } else if (slot->kind == PX_SLOT_LOCAL) {
        const struct px_address base = array_base(l, slot);
        from[0] = base.base;
        px_emit_form(l, memory_name(l, "st.local", type, from[1], count),
                     base.offset + address->value, PX_NONE, from, count + 1);
    } else if (fits(l, slot, address, type, count)) {
        const px_register narrow = px_widen(l, from[1], px_type_letter(type));
        move_wider(l, px_slot_register(l, slot), narrow, type);
    }
}
