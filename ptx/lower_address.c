// SPDX-License-Identifier: MIT
// Lowering of cvta: generic addresses. Global and constant addresses are generic ones; shared and
// local memory are windows of 2^32 bytes.
#include "lower_state.h"
#include "rank.h"

static enum px_space window_space(const struct px_statement *s)
{
    switch (s->choice[0]) {
    case PX_MOD_SHARED:
    case PX_MOD_SHARED_CTA:
        return PX_SHARED;
    case PX_MOD_LOCAL:
        return PX_LOCAL;
    case PX_MOD_PARAM:
    case PX_MOD_PARAM_ENTRY:
        return PX_PARAMETER;
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
    else if (window_space(s) == PX_PARAMETER)
        px_emit(l, "sub.64", to, from, window_of(l, PX_PARAMETER));
    else // windows begin at multiples of 2^32
        px_emit(l, "and.64", to, from, px_constant(l, 'l', UINT32_MAX));
}

// ---- isspacep ----

// Whether an address is in a constant variable of the module.
static px_register is_constant(struct px_lower *l, px_register address)
{
    px_register is = px_constant(l, 'p', 0);
    for (uint32_t i = 0; i < l->module->variable_count; i++) {
        const struct px_variable *v = &l->module->variables[i];
        if (v->space != PX_CONSTANT)
            continue;
        const px_register offset = px_temporary(l, 'l'), in = px_temporary(l, 'p');
        const px_register either = px_temporary(l, 'p');
        px_emit(l, "sub.64", offset, address,
                px_filled(l, &(struct px_register_info){
                                 .letter = 'l', .fill = PX_FILL_VARIABLE, .index = i}));
        px_emit(l, "setp.lt.u64", in, offset, px_constant(l, 'l', v->size_B));
        px_emit(l, "or.pred", either, is, in);
        is = either;
    }
    return is;
}

static px_register is_shared(struct px_lower *l, px_register address)
{
    const px_register is = px_temporary(l, 'p');
    px_emit(l, "isspacep.shared", is, address);
    return is;
}

// Whether the rank in an address of shared memory is that of the block.
static px_register is_own_rank(struct px_lower *l, px_register address)
{
    const px_register masked = px_temporary(l, 'l'), rank = px_temporary(l, 'l');
    const px_register is = px_temporary(l, 'p');
    px_emit(l, "and.64", masked, address, px_constant(l, 'l', PX_RANK_MASK));
    px_emit(l, "shr.u64", rank, masked, px_constant(l, 'w', PX_RANK_SHIFT));
    px_emit(l, "setp.eq.64", is, rank, px_widen(l, px_special(l, PX_SPECIAL_CLUSTER_CTARANK), 'l'));
    return is;
}

// Constant variables lie in global memory here, but the two spaces have no address in common.
void px_lower_isspacep(struct px_lower *l, const struct px_statement *s)
{
    const px_register to = px_destination(l, s, 0);
    const px_register address = px_widen(l, px_source(l, s, 0), 'l');
    if (px_has(s, PX_MOD_CONST)) {
        px_emit(l, "mov.pred", to, is_constant(l, address));
    } else if (px_has(s, PX_MOD_GLOBAL)) {
        const px_register not_constant = px_temporary(l, 'p'), global = px_temporary(l, 'p');
        px_emit(l, "not.pred", not_constant, is_constant(l, address));
        px_emit(l, "isspacep.global", global, address);
        px_emit(l, "and.pred", to, global, not_constant);
    } else if (px_has(s, PX_MOD_SHARED) || px_has(s, PX_MOD_SHARED_CTA)) {
        px_emit(l, "and.pred", to, is_own_rank(l, address), is_shared(l, address));
    } else {
        const bool parameter = px_has(s, PX_MOD_PARAM) || px_has(s, PX_MOD_PARAM_ENTRY);
        px_emit(l,
                px_has(s, PX_MOD_LOCAL) ? "isspacep.local"
                : parameter             ? "isspacep.param"
                                        : "isspacep.shared",
                to, address);
    }
}
