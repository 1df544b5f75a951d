// SPDX-License-Identifier: MIT
// Lowering of instructions that concern the warp or the block: shfl, vote, match, redux, barriers.
#include "lower.h"

void px_lower_shfl(struct px_lower *l, const struct px_statement *s)
{
    px_emit_together(l, px_name(l, "shfl.%s.32", px_modifier_name(s->choice[0])), 0,
                     px_source(l, s, 3), px_destination(l, s, 0), px_destination(l, s, 1),
                     px_source(l, s, 0), px_source(l, s, 1), px_source(l, s, 2));
}

void px_lower_vote(struct px_lower *l, const struct px_statement *s)
{
    const px_register members = px_source(l, s, 1);
    px_emit_together(l, px_name(l, "vote.%s", px_modifier_name(s->choice[0])), 0, members,
                     px_destination(l, s, 0), px_source(l, s, 0), members);
}

// Without .sync, the active threads take part: the lanes that execute the operation together.
void px_lower_shfl_active(struct px_lower *l, const struct px_statement *s)
{
    px_emit(l, px_name(l, "shfl.%s.32", px_modifier_name(s->choice[0])), px_destination(l, s, 0),
            px_destination(l, s, 1), px_source(l, s, 0), px_source(l, s, 1), px_source(l, s, 2));
}

void px_lower_vote_active(struct px_lower *l, const struct px_statement *s)
{
    px_emit(l, px_name(l, "vote.%s", px_modifier_name(s->choice[0])), px_destination(l, s, 0),
            px_source(l, s, 0), px_constant(l, 'w', UINT32_MAX));
}

void px_lower_match_any(struct px_lower *l, const struct px_statement *s)
{
    const px_register members = px_source(l, s, 1);
    px_emit_together(l, px_name(l, "match.any.%u", px_type_bits(s->types[0])), 0, members,
                     px_destination(l, s, 0), px_source(l, s, 0), members);
}

void px_lower_match_all(struct px_lower *l, const struct px_statement *s)
{
    const px_register members = px_source(l, s, 1);
    px_emit_together(l, px_name(l, "match.all.%u", px_type_bits(s->types[0])), 0, members,
                     px_destination(l, s, 0), px_destination(l, s, 1), px_source(l, s, 0), members);
}

void px_lower_redux(struct px_lower *l, const struct px_statement *s)
{
    const px_register members = px_source(l, s, 1);
    const unsigned operation = s->choice[0];
    const bool has_sign = operation == PX_MOD_MIN || operation == PX_MOD_MAX;
    px_emit_together(l,
                     px_name(l, "redux.%s.%s", px_modifier_name(operation),
                             has_sign ? px_modifier_name(s->types[0]) : "32"),
                     0, members, px_destination(l, s, 0), px_source(l, s, 0), members);
}

void px_lower_activemask(struct px_lower *l, const struct px_statement *s)
{
    px_emit(l, "activemask", px_destination(l, s, 0));
}

void px_lower_elect(struct px_lower *l, const struct px_statement *s)
{
    const px_register members = px_source(l, s, 0);
    px_emit_together(l, "elect", 0, members, px_destination(l, s, 0), px_destination(l, s, 1),
                     members);
}

void px_lower_warp_barrier(struct px_lower *l, const struct px_statement *s)
{
    const px_register members = px_source(l, s, 0);
    px_emit_code(l, PX_WARP_BARRIER, 0, NULL, 0, &members, 1);
}

// ---- barriers of the block ----

void px_lower_barrier(struct px_lower *l, const struct px_statement *s)
{
    const bool counts = s->a[1].kind != PX_OPERAND_NONE;
    const px_register in[] = {px_source(l, s, 0),
                              counts ? px_source(l, s, 1) : px_constant(l, 'w', 0)};
    px_emit_code(l, PX_BARRIER, px_has(s, PX_MOD_ARRIVE) ? PX_BARRIER_ARRIVE : PX_BARRIER_SYNC,
                 NULL, 0, in, 2);
    px_uses_barriers(l);
}

static enum px_barrier reduction(const struct px_statement *s)
{
    return px_has(s, PX_MOD_POPC)  ? PX_BARRIER_POPC
           : px_has(s, PX_MOD_AND) ? PX_BARRIER_AND
                                   : PX_BARRIER_OR;
}

// The operands are (barrier, predicate) or (barrier, count, predicate).
void px_lower_barrier_red(struct px_lower *l, const struct px_statement *s)
{
    const bool counts = s->a[2].kind != PX_OPERAND_NONE;
    const px_register out = px_destination(l, s, 0);
    const px_register in[] = {px_source(l, s, 0),
                              counts ? px_value(l, &s->a[1], PX_U32) : px_constant(l, 'w', 0),
                              px_value(l, &s->a[counts ? 2 : 1], PX_PRED)};
    px_emit_code(l, PX_BARRIER, reduction(s), &out, 1, in, 3);
    px_uses_barriers(l);
}

// "The default is .release for arrive and .acquire for wait."
void px_lower_cluster_barrier(struct px_lower *l, const struct px_statement *s)
{
    const enum px_cluster_barrier what = px_has(s, PX_MOD_WAIT)      ? PX_CLUSTER_WAIT
                                         : px_has(s, PX_MOD_RELAXED) ? PX_CLUSTER_ARRIVE_RELAXED
                                                                     : PX_CLUSTER_ARRIVE;
    px_emit_code(l, PX_CLUSTER_BARRIER, what, NULL, 0, NULL, 0);
    px_uses_barriers(l);
}

void px_lower_nanosleep(struct px_lower *l, const struct px_statement *s)
{
    px_emit_code(l, PX_NANOSLEEP, 0, NULL, 0, NULL, 0);
}
