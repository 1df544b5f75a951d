// SPDX-License-Identifier: MIT
// Rules for the operands of all instructions, as NVIDIA's compiler applies them.
#include <string.h>

#include "body.h"
#include "instructions_table.h"

static bool has_root(const struct px_statement *s, const char *root)
{
    return !strcmp(s->row->root, root);
}

static bool is_variable(const struct px_operand *o)
{
    return o->kind == PX_OPERAND_VARIABLE || o->kind == PX_OPERAND_OWN ||
           o->kind == PX_OPERAND_PARAMETER;
}

// "Variable names as operands of mov and cvta give the variable's address." NVIDIA's compiler takes
// names of functions and sums such as variable+4 in all places of integers.
static void check_symbol(struct px_lower *l, const struct px_operand *o)
{
    if (is_variable(o) && !o->is_sum)
        px_refuse(l, "the operand \"%.*s\" must be a register; mov reads the address of a variable",
                  (int)(o->text.length < 60 ? o->text.length : 60), o->text.at);
}

// "Special registers are read with mov", and by cvt between integers; also as elements of vectors.
static void check_special(struct px_lower *l, const struct px_statement *s,
                          const struct px_operand *o)
{
    if (o->kind != PX_OPERAND_SPECIAL)
        return;
    const bool converts = has_root(s, "cvt") && s->type_count == 2 &&
                          strchr("su", px_type_kind(s->types[0])) &&
                          strchr("su", px_type_kind(s->types[1]));
    if (o->value < 0)
        px_value(l, o, 0); // whether there is such a register
    if (!converts)
        px_refuse(l, "the operand \"%.*s\" must be a register; mov reads a special register",
                  (int)(o->text.length < 60 ? o->text.length : 60), o->text.at);
}

static void check_source(struct px_lower *l, const struct px_statement *s,
                         const struct px_class *class, const struct px_operand *o)
{
    const bool moves = has_root(s, "mov") && px_type_kind(s->types[0]) != 'f';
    const bool takes_address = has_root(s, "cvta") && !px_has(s, PX_MOD_TO);
    if (class->kind == PX_CLASS_ANY && (has_root(s, "isspacep") || has_root(s, "cvta")) &&
        !takes_address)
        check_symbol(l, o);
    // Video instructions such as vadd, whose operands have selectors.
    const bool is_video = *s->row->root == 'v' && !has_root(s, "vote");
    if (class->kind != PX_CLASS_VALUE && !is_video && (moves || !has_root(s, "mov")))
        return;
    check_symbol(l, o);
    check_special(l, s, o);
    for (unsigned i = 0; o->kind == PX_OPERAND_VECTOR && i < o->count; i++)
        check_symbol(l, &o->parts[i]);
}

// The instructions whose result may be _.
static bool may_discard(const struct px_statement *s)
{
    return has_root(s, "atom") || has_root(s, "setp") || has_root(s, "lop3") ||
           has_root(s, "elect") || (has_root(s, "match") && px_has(s, PX_MOD_ALL)) ||
           (has_root(s, "mbarrier") && (px_has(s, PX_MOD_ARRIVE) || px_has(s, PX_MOD_ARRIVE_DROP)));
}

static bool all_discarded(const struct px_operand *vector)
{
    for (unsigned i = 0; i < vector->count; i++)
        if (vector->parts[i].kind != PX_OPERAND_SINK)
            return false;
    return vector->count;
}

// "The sink symbol _ discards a result"; of a pair, one result is needed.
static void check_destination(struct px_lower *l, const struct px_statement *s, unsigned n)
{
    const struct px_operand *o = &s->d[n];
    if (o->kind == PX_OPERAND_VECTOR && all_discarded(o))
        px_refuse(l, "one element of the vector must be a register");
    if (o->kind != PX_OPERAND_SINK)
        return;
    if (!s->row->d[n].paired && !may_discard(s))
        px_refuse(l, "the result of this instruction cannot be _");
    else if (s->row->d[n].paired && s->d[n - 1].kind == PX_OPERAND_SINK)
        px_refuse(l, "one of the two results must be a register");
    else if (s->row->d[n].paired && (has_root(s, "elect") || has_root(s, "lop3")))
        px_refuse(l, "the second result of this instruction cannot be _");
}

void px_operands_check(struct px_lower *l, const struct px_statement *s)
{
    for (unsigned i = 0; i < s->row->destinations; i++)
        check_destination(l, s, i);
    for (unsigned i = 0; i < s->row->sources; i++)
        check_source(l, s, &s->row->a[i], &s->a[i]);
}
