// SPDX-License-Identifier: MIT
// Lowering of cvta: generic addresses. Global and constant addresses are generic ones; shared and
// local memory are windows of 2^32 bytes.
#include "lower_state.h"

static enum px_space window_space(const struct px_statement *s)
{
    switch (s->choice[0]) {
    case PX_MOD_SHARED:
    case PX_MOD_SHARED_CTA:
        return PX_SHARED;
    case PX_MOD_LOCAL:
        return PX_LOCAL;
    default:
        return PX_GLOBAL;
    }
}

static px_register window_of(struct px_lower *l, enum px_space space)
{
    return px_filled(l,
                     &(struct px_register_info){
                         .letter = 'l', .fill = PX_FILL_WINDOW, .index = space, .generic = true});
}

struct px_address px_generic_address(struct px_lower *l, const struct px_operand *operand,
                                     enum px_space space)
{
    struct px_address a = px_address(l, operand, space);
    if (space != PX_SHARED && space != PX_LOCAL)
        return a;
    const px_register offset = px_temporary(l, 'w'), base = px_temporary(l, 'l');
    px_emit(l, "add.32", offset, a.base, px_constant(l, 'w', (uint64_t)a.offset));
    px_emit(l, "add.64", base, px_widen(l, offset, 'l'), window_of(l, space));
    return (struct px_address){.base = base};
}

void px_lower_cvta(struct px_lower *l, const struct px_statement *s)
{
    const enum px_space space = window_space(s);
    const px_register to = px_destination(l, s, 0), from = px_value(l, &s->a[0], PX_U64);
    if (space == PX_GLOBAL) {
        px_emit(l, "mov.64", to, from);
        return;
    }
    px_emit(l, "add.64", to, from, window_of(l, space));
}

void px_lower_cvta_to(struct px_lower *l, const struct px_statement *s)
{
    const px_register to = px_destination(l, s, 0), from = px_value(l, &s->a[0], PX_U64);
    if (window_space(s) == PX_GLOBAL)
        px_emit(l, "mov.64", to, from);
    else // windows begin at multiples of 2^32
        px_emit(l, "and.64", to, from, px_constant(l, 'l', UINT32_MAX));
}
