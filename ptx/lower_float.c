// SPDX-License-Identifier: MIT
// Lowering of floating-point comparisons: setp, set and slct. (Arithmetic is forms by name.)
#include <string.h>

#include "lower_state.h"

static bool is_pair(unsigned type)
{
    return type == PX_F16X2 || type == PX_BF16X2;
}

// "p = (a CmpOp b) BoolOp c; q = !(a CmpOp b) BoolOp c". For pairs, p is of the lower halves and q
// of the upper ones. Writes p, and q unless it is PX_NONE.
static void compare(struct px_lower *l, const struct px_statement *s, px_register p, px_register q)
{
    const unsigned type = s->types[s->type_count - 1];
    const char *form = px_name(l, "setp.%s%s.%s", px_modifier_name(s->choice[0]),
                               px_has(s, PX_MOD_FTZ) ? ".ftz" : "", px_modifier_name(type));
    const char *joined = px_has(s, PX_MOD_AND)   ? "and.pred"
                         : px_has(s, PX_MOD_OR)  ? "or.pred"
                         : px_has(s, PX_MOD_XOR) ? "xor.pred"
                                                 : NULL;
    const px_register a = px_source(l, s, 0), b = px_source(l, s, 1);
    if (!joined && is_pair(type)) {
        px_emit(l, form, p, q, a, b);
    } else if (!joined) {
        px_emit(l, form, p, a, b);
        if (q != PX_NONE)
            px_emit(l, "not.pred", q, p);
    } else {
        const px_register c = px_source(l, s, 2);
        const px_register first = px_temporary(l, 'p'), second = px_temporary(l, 'p');
        const px_register with = px_temporary(l, 'p');
        px_emit(l, "mov.pred", with, c); // because p may be c
        if (is_pair(type)) {
            px_emit(l, form, first, second, a, b);
        } else {
            px_emit(l, form, first, a, b);
            px_emit(l, "not.pred", second, first);
        }
        px_emit(l, joined, p, first, with);
        if (q != PX_NONE)
            px_emit(l, joined, q, second, with);
    }
}

void px_lower_setp_float(struct px_lower *l, const struct px_statement *s)
{
    const bool second = s->d[1].kind != PX_OPERAND_NONE || is_pair(s->types[0]);
    compare(l, s, px_destination(l, s, 0), second ? px_destination(l, s, 1) : PX_NONE);
}

// The value of true in a type: "if true, 1.0f for floats and 0xffffffff for integers".
static uint64_t value_of_true(unsigned type)
{
    switch (type) {
    case PX_F32:
        return 0x3f800000;
    case PX_F16:
    case PX_F16X2:
        return 0x3c00;
    case PX_BF16:
    case PX_BF16X2:
        return 0x3f80;
    default:
        return UINT32_MAX;
    }
}

void px_lower_set_float(struct px_lower *l, const struct px_statement *s)
{
    const unsigned type = s->types[0];
    const uint64_t yes = value_of_true(type);
    const px_register p = px_temporary(l, 'p');
    if (is_pair(s->types[1])) {
        const px_register d = px_destination(l, s, 0);
        if (!is_pair(type) && px_type_bits(type) != 32)
            px_refuse(l, "the result of two comparisons needs 32 bits");
        const uint64_t half = is_pair(type) ? yes : 0xffff;
        const px_register q = px_temporary(l, 'p'), high = px_temporary(l, 'w');
        const px_register none = px_constant(l, 'w', 0);
        compare(l, s, p, q);
        px_emit(l, "selp.32", d, px_constant(l, 'w', half), none, p);
        px_emit(l, "selp.32", high, px_constant(l, 'w', half << 16), none, q);
        px_emit(l, "or.32", d, d, high);
        return;
    }
    compare(l, s, p, PX_NONE);
    px_set_result(l, s, p, yes);
}

// "slct: d = (c >= 0) ? a : b. For .f32 comparisons, negative zero equals zero. If c is NaN, the
// comparison is unordered and b is selected."
void px_lower_slct_float(struct px_lower *l, const struct px_statement *s)
{
    const px_register p = px_temporary(l, 'p');
    px_emit(l, px_has(s, PX_MOD_FTZ) ? "setp.ge.ftz.f32" : "setp.ge.f32", p, px_source(l, s, 2),
            px_constant(l, 'w', 0));
    px_emit(l, px_name(l, "selp.%u", px_type_bits(s->types[0])), px_destination(l, s, 0),
            px_source(l, s, 0), px_source(l, s, 1), p);
    if (s->types[0] == PX_F32)
        px_selects(l);
}

// add, sub and mul of .f32, .f16, .bf16 and pairs of them, without a rounding modifier.
void px_lower_unrounded(struct px_lower *l, const struct px_statement *s)
{
    const char *flush = px_has(s, PX_MOD_FTZ) ? ".ftz" : "";
    const char *saturate = px_has(s, PX_MOD_SAT) ? ".sat" : "";
    const px_register d = px_destination(l, s, 0), a = px_source(l, s, 0), b = px_source(l, s, 1);
    const bool product = !strcmp(s->row->root, "mul");

    if (product && s->guard != PX_NONE && s->types[0] == PX_F32 && !*flush && !*saturate &&
        !px_failed(l) && l->registers[b].fill == PX_FILL_CONSTANT &&
        l->registers[b].value == 0xbf800000) { // as neg with a guard
        px_emit(l, "xor.32", d, a, px_constant(l, 'w', 0x80000000));
        return;
    }
    px_emit(
        l, px_name(l, "%s.rn%s%s.%s", s->row->root, flush, saturate, px_modifier_name(s->types[0])),
        d, a, b);
    if (!px_failed(l))
        px_joins(l, !product || !*saturate);
}
