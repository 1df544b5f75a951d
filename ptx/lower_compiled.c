// SPDX-License-Identifier: MIT
// Lowering of instructions whose results depend on how NVIDIA's compiler translates them: which of
// two NaNs is the result, and guards that it leaves out (recorded: random_ptx).
#include <string.h>

#include "lower_state.h"

// add, sub, mul, fma, mad, min and max of .f64: see nan_order.h.
void px_lower_double(struct px_lower *l, const struct px_statement *s)
{
    const char *root = strcmp(s->row->root, "mad") ? s->row->root : "fma";
    const bool compares = !strcmp(root, "min") || !strcmp(root, "max");
    const px_register d = px_destination(l, s, 0);
    const px_register a = px_source(l, s, 0);
    px_register b = px_source(l, s, 1);
    const px_register c = !strcmp(root, "fma") ? px_source(l, s, 2) : PX_NONE;

    if (px_failed(l))
        return;
    if (compares && a == b) { // the compiler takes the value as it is
        px_emit(l, "mov.64", d, a);
        return;
    }
    // The compiler adds the negative of a constant, which is another NaN. It computes the
    // difference of two constants itself; a NaN is negative then.
    if (!strcmp(root, "sub") && l->registers[b].fill == PX_FILL_CONSTANT) {
        const uint64_t sign = UINT64_C(0x8000000000000000), value = l->registers[b].value;
        const bool nan = (value & ~sign) > UINT64_C(0x7ff0000000000000);
        const bool both = l->registers[a].fill == PX_FILL_CONSTANT;
        b = px_constant(l, 'l', both && nan ? value | sign : value ^ sign);
        root = "add";
    }
    const char *rounding = px_has(s, PX_MOD_RZ)   ? ".rz"
                           : px_has(s, PX_MOD_RM) ? ".rm"
                           : px_has(s, PX_MOD_RP) ? ".rp"
                                                  : ".rn";
    const char *form = px_name(l, "%s%s.f64", root, compares ? "" : rounding);
    (c == PX_NONE ? px_emit(l, form, d, a, b) : px_emit(l, form, d, a, b, c))->exchanges = true;
    if (c == PX_NONE && !compares && !px_has(s, PX_MOD_RN) && !strcmp(rounding, ".rn") &&
        !px_failed(l))
        px_joins(l, true);
}

// neg and abs of .f64.
void px_lower_sign_double(struct px_lower *l, const struct px_statement *s)
{
    const px_register d = px_destination(l, s, 0), a = px_source(l, s, 0);

    px_emit(l, px_name(l, "%s.f64", s->row->root), d, a);
}

// min and max of .f32 and .f16. Without modifiers, the compiler takes the value of min(a, a) as it
// is, also if it is a NaN.
void px_lower_minmax(struct px_lower *l, const struct px_statement *s)
{
    const char *type = px_modifier_name(s->types[0]);
    const px_register d = px_destination(l, s, 0);
    const px_register a = px_source(l, s, 0), b = px_source(l, s, 1);
    const bool nan = px_has(s, PX_MOD_NaN), ftz = px_has(s, PX_MOD_FTZ);
    const bool sign = px_has(s, PX_MOD_XORSIGN), absolute = px_has(s, PX_MOD_ABS);

    if (a == b && !nan && !ftz && !sign && !absolute && s->types[0] != PX_F16X2)
        px_emit(l, s->types[0] == PX_F32 ? "mov.32" : "mov.16", d, a);
    else
        px_emit(l,
                px_name(l, "%s%s%s%s%s.%s", s->row->root, ftz ? ".ftz" : "", nan ? ".NaN" : "",
                        sign ? ".xorsign" : "", absolute ? ".abs" : "", type),
                d, a, b);
}

// neg and abs of .f32. With a guard, the compiler changes the sign bit only; without one, the
// result of a NaN is the NaN of f32 (but see nan_signs.h).
void px_lower_sign(struct px_lower *l, const struct px_statement *s)
{
    const bool negates = !strcmp(s->row->root, "neg");
    const px_register d = px_destination(l, s, 0), a = px_source(l, s, 0);

    if (px_has(s, PX_MOD_FTZ) || s->guard == PX_NONE)
        px_emit(l, px_name(l, "%s%s.f32", s->row->root, px_has(s, PX_MOD_FTZ) ? ".ftz" : ""), d, a);
    else
        px_emit(l, negates ? "xor.32" : "and.32", d, a,
                px_constant(l, 'w', negates ? 0x80000000 : 0x7fffffff));
}

// An operation with a guard whose result is an .f32 value selects between the result and the old
// value of the destination, unless it reads memory, or makes the result of an integer or of bits.
void px_guard_selects(struct px_lower *l, const struct px_statement *s)
{
    static const char *const others[] = {"ld", "ldu", "atom", "set", "copysign"};

    if (s->guard == PX_NONE || s->types[0] != PX_F32 || s->row->destinations != 1 ||
        s->d[0].kind != PX_OPERAND_REGISTER || l->error || !l->op_count)
        return;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(s->row->root, others[i]))
            return;
    const struct px_op *op = &l->ops[l->op_count - 1];
    if (op->destinations == 1 && op->operands[0] == s->d[0].reg && op->guard != PX_NONE)
        px_selects(l);
}

// selp.f32 and slct.f32.s32.
void px_lower_select(struct px_lower *l, const struct px_statement *s)
{
    px_emit(l, !strcmp(s->row->root, "selp") ? "selp.32" : "slct.32.s32", px_destination(l, s, 0),
            px_source(l, s, 0), px_source(l, s, 1), px_source(l, s, 2));
    px_selects(l);
}

// testp. The compiler leaves its guard out: the predicate is written also if the guard is false.
void px_lower_testp(struct px_lower *l, const struct px_statement *s)
{
    px_guard_set(l, (struct px_guard){.predicate = PX_NONE});
    px_emit(
        l, px_name(l, "testp.%s.%s", px_modifier_name(s->choice[0]), px_modifier_name(s->types[0])),
        px_destination(l, s, 0), px_source(l, s, 0));
}

// The result of set, where `p` is that of its comparison; `yes` is the value of true. The compiler
// makes floats in two steps: an integer of the compared type's width (-1 or 0), and the float of
// its absolute value. A guard concerns the first step only, so the old value of the destination is
// converted if the guard is false. The same is true for the extension to 32 bits.
void px_set_result(struct px_lower *l, const struct px_statement *s, px_register p, uint64_t yes)
{
    const unsigned to = s->types[0];
    const char letter = px_type_letter(to), width = px_type_letter(s->types[1]) == 'h' ? 'h' : 'w';
    const unsigned bits = width == 'h' ? 16 : 32;
    const bool is_integer = px_type_kind(to) == 's' || px_type_kind(to) == 'u';
    const px_register d = px_destination(l, s, 0);
    const struct px_guard guard = {l->guard, l->guard_not};

    if (guard.predicate == PX_NONE || (is_integer && letter == width)) {
        px_emit(l, letter == 'h' ? "selp.16" : "selp.32", d, px_constant(l, letter, yes),
                px_constant(l, letter, 0), p);
        return;
    }
    const px_register value = px_temporary(l, width);
    px_guard_set(l, (struct px_guard){.predicate = PX_NONE});
    px_emit(l, bits == 16 ? "mov.16" : "mov.32", value, px_widen(l, d, width));
    px_guard_set(l, guard);
    px_emit(l, bits == 16 ? "selp.16" : "selp.32", value, px_constant(l, width, UINT32_MAX),
            px_constant(l, width, 0), p);
    px_guard_set(l, (struct px_guard){.predicate = PX_NONE});
    if (is_integer) {
        px_emit(l, "cvt.s32.s16", d, value);
        return;
    }
    px_emit(l, px_name(l, "abs.s%u", bits), value, value);
    px_emit(l, px_name(l, "cvt.rn.%s.s%u", px_modifier_name(to), bits), d, value);
}

// A constant from `least` to 255, which is the greatest position or length.
static bool constant_from(const struct px_operand *o, int64_t least)
{
    return o->kind == PX_OPERAND_INTEGER && o->value >= least && o->value <= 255;
}

// bfe and bfi. The compiler replaces those of 32-bit registers whose position and length are
// constants: bfe.s32 gives -1 for positions above 31, and bfi takes lengths modulo 32.
void px_lower_field(struct px_lower *l, const struct px_statement *s)
{
    for (unsigned i = 1; i < s->row->sources; i++) {
        const bool is_place = !strcmp(s->row->root, "bfe") || i > 1;
        if (is_place && s->a[i].kind == PX_OPERAND_INTEGER && !constant_from(&s->a[i], 0))
            px_refuse(l, "a position or length of %lld is not in the range 0 to 255",
                      (long long)s->a[i].value);
    }
    const bool inserts = !strcmp(s->row->root, "bfi"), wide = px_type_bits(s->types[0]) == 64;
    const struct px_operand *at = &s->a[inserts ? 2 : 1], *length = &s->a[inserts ? 3 : 2];
    const bool constants = constant_from(at, 0) && constant_from(length, 0) && !wide &&
                           s->a[0].kind == PX_OPERAND_REGISTER;
    const px_register d = px_destination(l, s, 0), a = px_source(l, s, 0), b = px_source(l, s, 1);
    const px_register c = px_source(l, s, 2);

    if (!inserts) {
        if (constants && px_type_kind(s->types[0]) == 's' && constant_from(at, 32) &&
            constant_from(length, 1))
            px_emit(l, "mov.32", d, px_constant(l, 'w', UINT32_MAX));
        else
            px_emit(l, px_name(l, "bfe.%s", px_modifier_name(s->types[0])), d, a, b, c);
        return;
    }
    px_register n = px_source(l, s, 3);
    if (constants && s->a[1].kind == PX_OPERAND_REGISTER && !constant_from(at, 32) &&
        constant_from(length, 32))
        n = px_constant(l, 'w', (uint64_t)length->value & 31);
    px_emit(l, wide ? "bfi.64" : "bfi.32", d, a, b, c, n);
}
