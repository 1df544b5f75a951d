// SPDX-License-Identifier: MIT
// Lowering of integer comparisons: setp and set.
#include "lower_state.h"

// How a comparison is made of the forms that exist: eq, ne, lt, le.
struct comparison {
    const char *form;
    bool ordered;     // the sign of the type matters
    bool exchanged;   // b with a
    bool is_unsigned; // whatever the type says: lo, ls, hi, hs
};

static struct comparison comparison_of(unsigned modifier)
{
    switch (modifier) {
    case PX_MOD_EQ:
        return (struct comparison){.form = "eq"};
    case PX_MOD_NE:
        return (struct comparison){.form = "ne"};
    case PX_MOD_LT:
        return (struct comparison){.form = "lt", .ordered = true};
    case PX_MOD_LE:
        return (struct comparison){.form = "le", .ordered = true};
    case PX_MOD_GT:
        return (struct comparison){.form = "lt", .ordered = true, .exchanged = true};
    case PX_MOD_GE:
        return (struct comparison){.form = "le", .ordered = true, .exchanged = true};
    case PX_MOD_LO:
        return (struct comparison){.form = "lt", .ordered = true, .is_unsigned = true};
    case PX_MOD_LS:
        return (struct comparison){.form = "le", .ordered = true, .is_unsigned = true};
    case PX_MOD_HI:
        return (struct comparison){
            .form = "lt", .ordered = true, .exchanged = true, .is_unsigned = true};
    default: // .hs
        return (struct comparison){
            .form = "le", .ordered = true, .exchanged = true, .is_unsigned = true};
    }
}

// Writes the result of a statement's comparison to a predicate.
static void compare(struct px_lower *l, const struct px_statement *s, px_register p)
{
    const unsigned type = s->types[s->type_count - 1];
    const struct comparison c = comparison_of(s->choice[0]);
    const char kind = px_type_kind(type);
    const px_register a = px_source(l, s, 0), b = px_source(l, s, 1);

    // "For unsigned values: eq, ne, lo, ls, hi, hs (lt, le, gt, ge). The untyped, bit-size
    // comparisons are eq and ne."
    if (c.ordered && kind == 'b')
        px_refuse(l, "a .%s value can be compared by .eq and .ne only", px_modifier_name(type));
    if (c.is_unsigned && kind == 's')
        px_refuse(l, "lo, ls, hi and hs compare unsigned values, and .%s is signed",
                  px_modifier_name(type));
    px_emit(l,
            px_name(l, "setp.%s.%s%u", c.form,
                    !c.ordered    ? ""
                    : kind == 's' ? "s"
                                  : "u",
                    px_type_bits(type)),
            p, c.exchanged ? b : a, c.exchanged ? a : b);
}

// The form of a statement's BoolOp, or NULL.
static const char *combination(const struct px_statement *s)
{
    return px_has(s, PX_MOD_AND)   ? "and.pred"
           : px_has(s, PX_MOD_OR)  ? "or.pred"
           : px_has(s, PX_MOD_XOR) ? "xor.pred"
                                   : NULL;
}

// "p = (a CmpOp b) BoolOp c; q = !(a CmpOp b) BoolOp c". p may be c.
void px_lower_setp(struct px_lower *l, const struct px_statement *s)
{
    const char *combine = combination(s);
    const bool second = s->d[1].kind != PX_OPERAND_NONE;
    const px_register p = px_destination(l, s, 0);
    const px_register q = second ? px_destination(l, s, 1) : PX_NONE;

    if (!combine) {
        compare(l, s, p);
        if (second)
            px_emit(l, "not.pred", q, p);
        return;
    }
    const px_register c = px_source(l, s, 2);
    const px_register result = px_temporary(l, 'p');
    compare(l, s, result);
    if (!second) {
        px_emit(l, combine, p, result, c);
        return;
    }
    const px_register opposite = px_temporary(l, 'p');
    px_emit(l, "not.pred", opposite, result);
    px_emit(l, combine, opposite, opposite, c);
    px_emit(l, combine, p, result, c);
    px_emit(l, "mov.pred", q, opposite);
}

static uint32_t true_value(unsigned type)
{
    switch (type) {
    case PX_F32:
        return 0x3f800000;
    case PX_F16:
        return 0x3c00;
    case PX_BF16:
        return 0x3f80;
    default:
        return UINT32_MAX;
    }
}

// "If the result is true, 1.0 is written for floating-point types, and 0xffffffff for integers."
void px_lower_set(struct px_lower *l, const struct px_statement *s)
{
    const char *combine = combination(s);
    const px_register result = px_temporary(l, 'p');

    compare(l, s, result);
    if (combine)
        px_emit(l, combine, result, result, px_source(l, s, 2));
    px_set_result(l, s, result, true_value(s->types[0]));
}
