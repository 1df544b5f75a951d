// SPDX-License-Identifier: MIT
// Operands as registers: for lowering functions.
#include <string.h>

#include "body.h"
#include "instructions_table.h"

// The type of twice the width: .u64 for .u32.
static unsigned twice(unsigned type)
{
    const unsigned bits = px_type_bits(type) * 2;
    for (unsigned i = 1; i < PX_TYPE_COUNT; i++)
        if (px_modifiers[i].bits == bits && px_modifiers[i].kind == px_type_kind(type))
            return i;
    return 0;
}

static unsigned class_type(const struct px_statement *s, const struct px_class *class)
{
    const unsigned type = class->type_index == 255            ? class->type
                          : class->type_index < s->type_count ? s->types[class->type_index]
                                                              : 0;
    return class->times == 2 ? twice(type) : type;
}

// Types of 16-bit floats, of pairs, and of other formats than .f32 and .f64.
static bool is_packed(unsigned type)
{
    return px_type_kind(type) == 'o' || type == PX_F16;
}

// "Operand types must agree in size, and .f and .s or .u types do not mix; .b types go with all."
// Packed types go with their own and .b registers only.
static bool agrees(unsigned declared, unsigned type, bool wider)
{
    const char a = px_type_kind(declared), b = px_type_kind(type);
    const unsigned have = px_type_bits(declared), need = px_type_bits(type);
    if (!type)
        return true;
    if ((a == 'p') != (b == 'p'))
        return false;
    if ((have != need || px_type_letter(declared) != px_type_letter(type)) &&
        !(wider && have > need))
        return false;
    if (declared == PX_F16X2 && b == 'f')
        return false;
    if (is_packed(type) && !wider)
        return declared == type || a == 'b' ||
               (declared == PX_F16X2 && (type == PX_U16X2 || type == PX_S16X2));
    const bool float_a = a == 'f', float_b = b == 'f';
    if (a == 'b' || b == 'b' || a == 'o' || b == 'o' || wider)
        return true;
    return float_a == float_b;
}

static void register_check(struct px_lower *l, const struct px_operand *o, unsigned type,
                           bool wider)
{
    if (o->length > 1 && !wider)
        px_refuse(l, "\"%.*s\" is a vector", (int)o->text.length, o->text.at);
    else if (!agrees(o->type, type, wider))
        px_refuse(l, "the register %.*s has type .%s, which does not suit .%s",
                  (int)(o->text.length < 60 ? o->text.length : 60), o->text.at,
                  px_modifier_name(o->type), px_modifier_name(type));
}

static px_register negate(struct px_lower *l, px_register reg)
{
    const px_register out = px_temporary(l, 'p');
    px_emit(l, "not.pred", out, reg);
    return out;
}

// %clock and its like, which change while a warp runs.
static px_register clock_read(struct px_lower *l, const struct px_operand *o)
{
    static const struct {
        const char *name;
        char letter;
        enum px_clock clock;
    } clocks[] = {
        {"%clock", 'w', PX_CLOCK_LOW},
        {"%clock_hi", 'w', PX_CLOCK_HIGH},
        {"%clock64", 'l', PX_CLOCK_64},
        {"%globaltimer", 'l', PX_CLOCK_TIMER},
        {"%globaltimer_lo", 'w', PX_CLOCK_TIMER_LOW},
        {"%globaltimer_hi", 'w', PX_CLOCK_TIMER_HIGH},
    };
    for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
        if (strlen(clocks[i].name) == o->text.length &&
            !memcmp(clocks[i].name, o->text.at, o->text.length)) {
            const px_register out = px_temporary(l, clocks[i].letter);
            px_ordered(l);
            px_emit_code(l, PX_CLOCK, clocks[i].clock, &out, 1, NULL, 0);
            return out;
        }
    return PX_NONE;
}

static px_register special_read(struct px_lower *l, const struct px_operand *o)
{
    if (o->value >= 0)
        return px_special(l, (enum px_special)o->value);
    const px_register clock = clock_read(l, o);
    if (clock != PX_NONE || px_failed(l))
        return clock;
    const struct px_text *t = &o->text;
    // "%envreg<32>: driver-defined read-only registers"; "%pm0 … %pm7: performance counters". Both
    // are 0 except %envreg1 and 2, as is the fourth component of vectors such as %tid.
    if ((t->length > 7 && !memcmp(t->at, "%envreg", 7)) ||
        (t->length > 3 && !memcmp(t->at, "%pm", 3)) ||
        (t->length > 2 && t->at[t->length - 2] == '.'))
        return px_constant(l, memcmp(t->at + t->length - 3, "_64", 3) ? 'w' : 'l', 0);
    px_refuse(l, "\"%.*s\" is not declared", (int)(t->length < 60 ? t->length : 60), t->at);
    return PX_NONE;
}

static px_register symbol_value(struct px_lower *l, const struct px_operand *o, char letter)
{
    if (o->kind == PX_OPERAND_FUNCTION)
        return px_filled(l, &(struct px_register_info){
                                .letter = letter, .fill = PX_FILL_FUNCTION, .index = o->symbol});
    if (o->kind == PX_OPERAND_PARAMETER)
        return px_slot_address(l, &l->body->slots[o->symbol], o->value, letter);
    if (o->kind == PX_OPERAND_OWN)
        return px_own_address(l, &l->body->own[o->symbol], o, letter);
    return px_filled(l, &(struct px_register_info){.letter = letter,
                                                   .fill = PX_FILL_VARIABLE,
                                                   .index = o->symbol,
                                                   .generic = o->generic,
                                                   .value = (uint64_t)o->value});
}

// The value of a special register, which must have the operand's width. .u16 takes the lower half
// of one that has 32 bits, and %gridid has either width.
static px_register special_value(struct px_lower *l, const struct px_operand *o, char letter,
                                 bool wider)
{
    const px_register reg = special_read(l, o);
    if (px_failed(l) || o->value == PX_SPECIAL_IS_EXPLICIT_CLUSTER)
        return reg;
    const char have = px_letter(l, reg);
    const bool suits = have == letter || o->value == PX_SPECIAL_GRIDID ||
                       (have == 'w' && letter == 'h') || (have == 'l' && wider);
    if (!suits)
        px_refuse(l, "the special register %.*s has %d bits", (int)o->text.length, o->text.at,
                  have == 'l' ? 64 : 32);
    return px_widen(l, reg, letter);
}

// Floating-point constants go with .b types of their size; 0f… has 32 bits, all others 64.
static bool holds_float(char letter, char kind, bool single)
{
    return letter != 'p' && (kind != 'b' || letter == (single ? 'w' : 'l'));
}

static px_register value(struct px_lower *l, const struct px_operand *o, unsigned type, bool wider)
{
    const char letter = type ? px_type_letter(type) : 'w';
    struct px_constant c = {.bits = (uint64_t)o->value};
    if (px_failed(l))
        return PX_NONE;
    switch (o->kind) {
    case PX_OPERAND_REGISTER:
        register_check(l, o, type, wider);
        if (o->minus)
            px_refuse(l, "the operand \"%.*s\" cannot be negated",
                      (int)(o->text.length < 60 ? o->text.length : 60), o->text.at);
        return o->negated ? negate(l, o->reg) : o->reg;
    case PX_OPERAND_INTEGER:
    case PX_OPERAND_FLOAT:
        c.is_float = o->kind == PX_OPERAND_FLOAT;
        c.single = o->single;
        c.is_unsigned = o->is_unsigned;
        if (c.is_float ? strchr("su", px_type_kind(type)) != NULL : px_type_kind(type) == 'f')
            px_refuse(l, "%s cannot be a value of type .%s", c.is_float ? "a float" : "an integer",
                      px_modifier_name(type));
        if (is_packed(type))
            px_refuse(l, "a constant cannot be a value of type .%s", px_modifier_name(type));
        if (c.is_float && !holds_float(letter, px_type_kind(type), c.single))
            px_refuse(l, "a constant of type .f%d cannot be a value of type .%s",
                      c.single ? 32 : 64, px_modifier_name(type));
        if (letter == 'p')
            c.bits = (c.bits != 0) != o->negated;
        return px_constant(l, letter, letter == 'p' ? c.bits : px_constant_bits(&c, type));
    case PX_OPERAND_SPECIAL:
        return type ? special_value(l, o, letter, wider) : special_read(l, o);
    case PX_OPERAND_VARIABLE:
    case PX_OPERAND_OWN:
    case PX_OPERAND_PARAMETER:
    case PX_OPERAND_FUNCTION:
        return symbol_value(l, o, letter);
    case PX_OPERAND_LABEL:
        px_refuse(l, "\"%.*s\" is not declared", (int)(o->text.length < 60 ? o->text.length : 60),
                  o->text.at);
        return PX_NONE;
    default:
        px_refuse(l, "an operand must be a register or a constant");
        return PX_NONE;
    }
}

static px_register target(struct px_lower *l, const struct px_operand *o, unsigned type, bool wider)
{
    if (o->kind == PX_OPERAND_SINK || o->kind == PX_OPERAND_NONE)
        return px_temporary(l, type ? px_type_letter(type) : 'w');
    if (o->kind == PX_OPERAND_LABEL || (o->kind == PX_OPERAND_SPECIAL && o->value < 0))
        px_refuse(l, "\"%.*s\" is not declared", (int)(o->text.length < 60 ? o->text.length : 60),
                  o->text.at);
    if (o->kind != PX_OPERAND_REGISTER || o->negated) {
        px_refuse(l, "the destination must be a register");
        return PX_NONE;
    }
    register_check(l, o, type, wider);
    return o->reg;
}

px_register px_value(struct px_lower *l, const struct px_operand *operand, unsigned type)
{
    return value(l, operand, type, false);
}

px_register px_target(struct px_lower *l, const struct px_operand *operand, unsigned type)
{
    return target(l, operand, type, false);
}

px_register px_source(struct px_lower *l, const struct px_statement *s, unsigned n)
{
    const struct px_class *class = &s->row->a[n];
    return value(l, &s->a[n], class_type(s, class), class->wider);
}

px_register px_destination(struct px_lower *l, const struct px_statement *s, unsigned n)
{
    const struct px_class *class = &s->row->d[n];
    return target(l, &s->d[n], class_type(s, class), class->wider);
}

static unsigned elements(struct px_lower *l, const struct px_operand *o,
                         const struct px_class *class, unsigned type, px_register *out,
                         unsigned most, bool is_target)
{
    if (o->kind == PX_OPERAND_REGISTER && o->length > 1 && o->length <= most) {
        for (unsigned i = 0; i < o->length; i++)
            out[i] = o->reg + i;
        return o->length;
    }
    const struct px_operand *parts = o->kind == PX_OPERAND_VECTOR ? o->parts : o;
    const unsigned count = o->kind == PX_OPERAND_VECTOR ? o->count : 1;
    if (count > most || !count) {
        px_refuse(l, "a vector of %u elements is not possible here", count);
        return 0;
    }
    for (unsigned i = 0; i < count; i++)
        out[i] = is_target ? target(l, &parts[i], type, class->wider)
                           : value(l, &parts[i], type, class->wider);
    return px_failed(l) ? 0 : count;
}

unsigned px_sources(struct px_lower *l, const struct px_statement *s, unsigned n, px_register *out,
                    unsigned most)
{
    return elements(l, &s->a[n], &s->row->a[n], class_type(s, &s->row->a[n]), out, most, false);
}

unsigned px_destinations(struct px_lower *l, const struct px_statement *s, unsigned n,
                         px_register *out, unsigned most)
{
    return elements(l, &s->d[n], &s->row->d[n], class_type(s, &s->row->d[n]), out, most, true);
}

int64_t px_integer(struct px_lower *l, const struct px_operand *operand, int64_t otherwise)
{
    if (operand->kind == PX_OPERAND_NONE)
        return otherwise;
    if (operand->kind != PX_OPERAND_INTEGER)
        px_refuse(l, "the operand \"%.*s\" must be an integer constant",
                  (int)(operand->text.length < 60 ? operand->text.length : 60), operand->text.at);
    return operand->value;
}

// The address of a constant whose lower 32 bits are in a register: "mov.u32" may have taken it. It
// is near the module's first constant variable.
static px_register constant_address(struct px_lower *l, px_register low)
{
    for (uint32_t i = 0; i < l->module->variable_count; i++) {
        if (l->module->variables[i].space != PX_CONSTANT)
            continue;
        struct px_register_info first = {.letter = 'w', .fill = PX_FILL_VARIABLE, .index = i};
        const px_register distance = px_temporary(l, 'w'), out = px_temporary(l, 'l');
        px_emit(l, "sub.32", distance, low, px_filled(l, &first));
        px_emit(l, "cvt.s64.s32", out, distance);
        first.letter = 'l';
        px_emit(l, "add.64", out, out, px_filled(l, &first));
        return out;
    }
    return px_widen(l, low, 'l');
}

struct px_address px_address(struct px_lower *l, const struct px_operand *operand,
                             enum px_space space)
{
    const bool wide = space == PX_GLOBAL || space == PX_CONSTANT || space == PX_GENERIC;
    const char letter = wide ? 'l' : 'w';
    struct px_address out = {.base = PX_NONE};
    const struct px_operand *o = operand->kind == PX_OPERAND_ADDRESS ? operand->parts : operand;
    if (o->kind == PX_OPERAND_REGISTER) {
        if (strchr("phx", px_letter(l, o->reg)))
            px_refuse(l, "the register %.*s cannot hold an address", (int)o->text.length,
                      o->text.at);
        out.base = space == PX_CONSTANT && px_letter(l, o->reg) == 'w'
                       ? constant_address(l, o->reg)
                       : px_widen(l, o->reg, letter);
        out.offset = o->value;
    } else if (o->kind == PX_OPERAND_FUNCTION) {
        px_refuse(l, "the memory of the function %.*s cannot be accessed", (int)o->text.length,
                  o->text.at);
    } else if (o->kind == PX_OPERAND_INTEGER) {
        out.base = px_constant(l, letter, (uint64_t)o->value);
    } else {
        struct px_operand symbol = *o;
        symbol.generic = symbol.generic || space == PX_GENERIC;
        out.base = value(l, &symbol, wide ? PX_U64 : PX_U32, false);
    }
    return out;
}

// The text of a form's name with $n and %n replaced: see instructions.def.
static void template_name(const struct px_statement *s, char *out, size_t size)
{
    size_t length = 0;
    for (const char *c = s->row->form; *c && length + 24 < size; c++) {
        const bool whole = *c == '$', width = *c == '%';
        if (!whole && !width) {
            out[length++] = *c;
            continue;
        }
        const unsigned modifier = s->choice[(unsigned)(*++c - '0') % PX_GROUPS_MOST];
        if (!modifier)
            continue;
        const char *name = px_modifier_name(modifier);
        if (width && modifier == PX_PRED)
            length += (size_t)__builtin_sprintf(out + length, ".pred");
        else if (width)
            length += (size_t)__builtin_sprintf(out + length, ".%u", px_type_bits(modifier));
        else if (strlen(name) < 24)
            length += (size_t)__builtin_sprintf(out + length, ".%s", name);
    }
    out[length] = 0;
}

void px_lower_template(struct px_lower *l, const struct px_statement *s)
{
    char name[96];
    px_register operands[4 * PX_OPERANDS_MOST];
    unsigned count = 0;
    for (unsigned i = 0; i < s->row->destinations; i++)
        if (s->d[i].kind != PX_OPERAND_NONE || !s->row->d[i].optional)
            operands[count++] = px_destination(l, s, i);
    for (unsigned i = 0; i < s->row->sources; i++)
        if (s->a[i].kind != PX_OPERAND_NONE)
            operands[count++] = px_source(l, s, i);
    template_name(s, name, sizeof(name));
    px_emit_form(l, name, 0, PX_NONE, operands, count);
}
