// SPDX-License-Identifier: MIT
// Lowering of cvt between integers and floating-point types. (Packed conversions are forms by
// name.)
#include "lower.h"

static bool is_integer(unsigned type)
{
    return px_type_kind(type) == 's' || px_type_kind(type) == 'u';
}

// Whether every value of `from` is one of `to`.
static bool holds(unsigned to, unsigned from)
{
    const bool negative = px_type_kind(from) == 's', is_signed = px_type_kind(to) == 's';
    return negative == is_signed ? px_type_bits(to) >= px_type_bits(from)
                                 : is_signed && px_type_bits(to) > px_type_bits(from);
}

// "If the destination register is wider than the type, the result is extended: sign-extended for
// signed types, else zero-extended."
static void extend(struct px_lower *l, px_register d, px_register value, unsigned type)
{
    static const unsigned bits[] = {['h'] = 16, ['w'] = 32, ['l'] = 64};
    const char letter = px_letter(l, d), kind = px_type_kind(type) == 's' ? 's' : 'u';
    if (px_failed(l))
        return;
    if (letter != 'h' && letter != 'w' && letter != 'l') {
        px_refuse(l, "the destination has another width");
        return;
    }
    px_emit(l, px_name(l, "cvt.%c%u.%c%u", kind, bits[(int)letter], kind, px_type_bits(type)), d,
            value);
}

// "A register may be wider than the operand's type if both are integers or one is untyped." With
// .bf16, the compiler wants the exact width, and takes no 8-bit integers.
static void check(struct px_lower *l, const struct px_operand *o, unsigned type, bool exact)
{
    if (o->kind != PX_OPERAND_REGISTER || px_failed(l))
        return;
    const char declared = px_type_kind(o->type);
    const bool untyped = declared == 'b' || o->type == PX_F16X2;
    const bool suits =
        is_integer(type) ? untyped || is_integer(o->type) : declared == 'b' || o->type == type;
    if (!suits || (exact && px_type_bits(o->type) != px_type_bits(type)))
        px_refuse(l, "the register %.*s has type .%s, which does not suit .%s",
                  (int)(o->text.length < 60 ? o->text.length : 60), o->text.at,
                  px_modifier_name(o->type), px_modifier_name(type));
}

// cvt.pack. "A register may be wider than the operand": its upper bits are ignored, and those of
// the destination are 0.
void px_lower_cvt_pack(struct px_lower *l, const struct px_statement *s)
{
    const char *to = px_modifier_name(s->choice[0]);
    const bool three = s->type_count == 3;
    px_register from[3] = {PX_NONE, PX_NONE, PX_NONE};
    check(l, &s->d[0], PX_U32, false);
    check(l, &s->a[0], PX_S32, false);
    check(l, &s->a[1], PX_S32, false);
    for (unsigned i = 0; i < 2u + three; i++)
        from[i] = px_widen(l, px_source(l, s, i), 'w');
    const px_register d = px_destination(l, s, 0);
    const px_register out = px_letter(l, d) == 'w' ? d : px_temporary(l, 'w');
    if (three)
        px_emit(l, px_name(l, "cvt.pack.sat.%s.s32.b32", to), out, from[0], from[1], from[2]);
    else
        px_emit(l, px_name(l, "cvt.pack.sat.%s.s32", to), out, from[0], from[1]);
    if (out != d)
        extend(l, d, out, PX_U32);
}

void px_lower_cvt(struct px_lower *l, const struct px_statement *s)
{
    const unsigned to = s->types[0], from = s->types[1];
    const char *to_name = px_modifier_name(to), *from_name = px_modifier_name(from);
    const char *mode = px_modifier_name(s->choice[0]);
    const bool saturate = px_has(s, PX_MOD_SAT);
    const char *ftz = px_has(s, PX_MOD_FTZ) ? ".ftz" : "", *sat = saturate ? ".sat" : "";
    const bool exact = to == PX_BF16 || from == PX_BF16;
    check(l, &s->d[0], to, exact);
    check(l, &s->a[0], from, exact);
    // "The source register may be wider than the type: its upper bits are ignored."
    const px_register a = px_widen(l, px_source(l, s, 0), px_type_letter(from));
    const px_register d = px_destination(l, s, 0);
    const bool same = px_letter(l, d) == px_type_letter(to);
    const px_register out = same ? d : px_temporary(l, px_type_letter(to));
    if (is_integer(to) && is_integer(from)) {
        if (*mode || *ftz)
            px_refuse(l, "conversions between integers have no rounding mode and no .ftz");
        // ".sat is only allowed where the values of the source can exceed the destination's range."
        if (saturate && holds(to, from))
            px_refuse(l, "a conversion from .%s to .%s cannot saturate, so .sat is not allowed",
                      from_name, to_name);
        px_emit(l, px_name(l, "cvt%s.%s.%s", sat, to_name, from_name), out, a);
    } else if (is_integer(to)) {
        if (!px_has(s, PX_MOD_RNI) && !px_has(s, PX_MOD_RZI) && !px_has(s, PX_MOD_RMI) &&
            !px_has(s, PX_MOD_RPI))
            px_refuse(l, "a conversion to an integer needs .rni, .rzi, .rmi or .rpi");
        px_emit(l, px_name(l, "cvt.%s%s.%s.%s", mode, ftz, to_name, from_name), out, a);
    } else if (is_integer(from)) {
        if (!px_has(s, PX_MOD_RN) && !px_has(s, PX_MOD_RZ) && !px_has(s, PX_MOD_RM) &&
            !px_has(s, PX_MOD_RP))
            px_refuse(l, "a conversion from an integer needs .rn, .rz, .rm or .rp");
        px_emit(l, px_name(l, "cvt.%s.%s.%s", mode, to_name, from_name), out, a);
        if (saturate)
            px_emit(l, px_name(l, "cvt.sat.%s.%s", to_name, to_name), out, out);
    } else {
        px_emit(
            l,
            px_name(l, "cvt%s%s%s%s.%s.%s", *mode ? "." : "", mode, ftz, sat, to_name, from_name),
            out, a);
    }
    if (!same)
        extend(l, d, out, to);
}
