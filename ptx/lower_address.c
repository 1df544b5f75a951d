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

void px_lower_cvta(struct px_lower *l, const struct px_statement *s)
{
    const enum px_space space = window_space(s);
    const px_register to = px_destination(l, s, 0), from = px_value(l, &s->a[0], PX_U64);
    if (space == PX_GLOBAL) {
        px_emit(l, "mov.64", to, from);
        return;
    }
    const px_register window =
        px_filled(l, &(struct px_register_info){
                         .letter = 'l', .fill = PX_FILL_WINDOW, .index = space, .generic = true});
    px_emit(l, "add.64", to, from, window);
}

void px_lower_cvta_to(struct px_lower *l, const struct px_statement *s)
{
    const px_register to = px_destination(l, s, 0), from = px_value(l, &s->a[0], PX_U64);
    if (window_space(s) == PX_GLOBAL)
        px_emit(l, "mov.64", to, from);
    else // windows begin at multiples of 2^32
        px_emit(l, "and.64", to, from, px_constant(l, 'l', UINT32_MAX));
}
