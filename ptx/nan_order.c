// SPDX-License-Identifier: MIT
// Exchanges the operands of .f64 operations as NVIDIA's compiler does. The value that comes later
// in this order becomes the second operand:
//
//     1. values in the order in which operations make them. A copy, a negation or an absolute value
//        without a guard is the value of its source. Loops are written out, so that their
//        operations come again, after all others.
//     2. values that join where branches meet, by the place. Of those of one place, the one whose
//        register the program writes first comes last. Results of copysign and of approximate
//        reciprocals are among these values, after those of the same place: they are put together
//        of two halves.
//     3. constants
//
//     ld.f64  %a, …  ──┐            the value that both branches may bring to L1
//     ld.f64  %b, …    │
//     @p bra  L1       │
//     add.f64 %a, %a, %b            the sum of b and a: outside of the part of the program that
//  L1:                 ▼            made it, a value that joins others counts as made at its end
//     mul.f64 %b, %a, %b            the joined value of a is the second operand
//
// The joined value at the head of a loop counts as the one with which the loop begins.
#include "nan_order.h"

#include <string.h>

#include "alloc.h"
#include "nan_values.h"

enum { COPIES_MOST = 64 }; // that are followed

struct key {
    uint32_t kind;
    uint64_t place, order;
};
enum { KEY_MADE, KEY_JOINED, KEY_CONSTANT };

struct order {
    struct px_values v;
    struct px_value *of; // of the first two sources of each operation
    int move, negation, absolute, copysign, reciprocal, root, root_ftz; // forms
};

static bool is_copy(const struct order *o, uint32_t i)
{
    const struct px_op *op = &o->v.l->ops[i];
    return op->code == PX_FORM && op->guard == PX_NONE &&
           (op->form == o->move || op->form == o->negation || op->form == o->absolute);
}

// Whether the result is put together of two halves.
static bool is_of_halves(const struct order *o, const struct px_op *op)
{
    return op->code == PX_FORM && (op->form == o->copysign || op->form == o->reciprocal ||
                                   op->form == o->root || op->form == o->root_ftz);
}

// How many sources of an operation have to be known.
static unsigned interesting(const struct order *o, uint32_t i)
{
    return o->v.l->ops[i].exchanges ? 2 : is_copy(o, i) ? 1 : 0;
}

static px_register source(const struct px_op *op, unsigned n)
{
    return op->operands[op->destinations + n];
}

// Finds the values of a register at the operations that read it.
static void note_values(struct order *o, px_register reg)
{
    const uint32_t first = o->v.writes.first[reg], writes = o->v.writes.first[reg + 1] - first;
    if (writes > 1)
        px_values_find(&o->v, reg);
    for (uint32_t k = o->v.reads.first[reg]; k < o->v.reads.first[reg + 1]; k++) {
        const uint32_t i = o->v.reads.items[k];
        for (unsigned n = 0; n < interesting(o, i); n++)
            if (source(&o->v.l->ops[i], n) == reg)
                o->of[2 * i + n] =
                    writes > 1 ? px_value_at(&o->v, reg, i)
                               : (struct px_value){o->v.writes.items[first], PX_NO_VALUE, 0};
    }
}

static bool is_interesting(const struct order *o, px_register reg)
{
    bool some = false;
    for (uint32_t k = o->v.reads.first[reg]; k < o->v.reads.first[reg + 1]; k++)
        some |= interesting(o, o->v.reads.items[k]) > 0;
    return some && o->v.writes.first[reg] < o->v.writes.first[reg + 1];
}

// The place of a source in the order.
static struct key key_of(const struct order *o, uint32_t i, unsigned n)
{
    const uint64_t again = UINT64_C(1) << 32;
    px_register reg = source(&o->v.l->ops[i], n);
    struct px_value v = o->of[2 * i + n];
    const bool joins = v.joins;
    for (unsigned copies = 0; v.made != PX_NO_VALUE && is_copy(o, v.made) && copies < COPIES_MOST;
         copies++) {
        reg = source(&o->v.l->ops[v.made], 0);
        v = o->of[2 * v.made];
    }
    if (o->v.l->registers[reg].fill == PX_FILL_CONSTANT)
        return (struct key){KEY_CONSTANT, 0, 0};
    if (v.part != PX_NO_VALUE)
        return (struct key){KEY_JOINED, v.part,
                            UINT32_MAX - o->v.writes.items[o->v.writes.first[reg]]};
    if (v.made == PX_NO_VALUE)
        return (struct key){KEY_MADE, 0, 0};
    const uint32_t part = o->v.part_of[v.made];
    if (is_of_halves(o, &o->v.l->ops[v.made]))
        return (struct key){KEY_JOINED, part, UINT64_C(1) << 32 | v.made};
    const bool at_end = joins && part != o->v.part_of[i];
    return (struct key){
        KEY_MADE, (at_end ? o->v.parts[part].end : v.made) + 1 + (o->v.again[v.made] ? again : 0),
        at_end ? v.made : 0};
}

static bool is_later(struct key a, struct key b)
{
    return a.kind != b.kind     ? a.kind > b.kind
           : a.place != b.place ? a.place > b.place
                                : a.order > b.order;
}

static void exchange(struct px_lower *l, struct px_op *op)
{
    px_register *operands =
        px_arena_array(&l->arena, op->destinations + op->sources, sizeof *operands);
    unsigned count;
    const char *name = kn_forms(&count)[op->form].name;
    if (!operands) {
        px_lower_no_memory(l);
        return;
    }
    memcpy(operands, op->operands, (op->destinations + op->sources) * sizeof *operands);
    operands[op->destinations] = source(op, 1);
    operands[op->destinations + 1] = source(op, 0);
    op->operands = operands;
    op->exchanged = true;
    if (!strncmp(name, "sub.", 4)) // the form "subr": b - a
        op->form = kn_form_find(px_name(l, "subr%s", name + 3));
}

static void order_all(struct order *o)
{
    struct px_lower *l = o->v.l;
    for (size_t i = 0; i < 2 * l->op_count; i++)
        o->of[i] = (struct px_value){PX_NO_VALUE, PX_NO_VALUE, false};
    for (px_register reg = 0; reg < l->register_count; reg++)
        if (px_values_is_wide(&o->v, reg) && is_interesting(o, reg))
            note_values(o, reg);
    for (uint32_t i = 0; i < l->op_count && !l->error; i++)
        if (l->ops[i].exchanges && is_later(key_of(o, i, 0), key_of(o, i, 1)))
            exchange(l, &l->ops[i]);
}

void px_order_nans(struct px_lower *l)
{
    struct order o = {.move = kn_form_find("mov.64"),
                      .negation = kn_form_find("neg.f64"),
                      .absolute = kn_form_find("abs.f64"),
                      .copysign = kn_form_find("copysign.f64"),
                      .reciprocal = kn_form_find("rcp.approx.ftz.f64"),
                      .root = kn_form_find("rsqrt.approx.f64"),
                      .root_ftz = kn_form_find("rsqrt.approx.ftz.f64")};
    bool some = false;
    for (size_t i = 0; i < l->op_count; i++)
        some |= l->ops[i].exchanges;
    if (!some)
        return;
    o.of = dm_alloc(2 * l->op_count * sizeof *o.of);
    if (px_values_init(&o.v, l) && o.of)
        order_all(&o);
    else
        px_lower_no_memory(l);
    px_values_finish(&o.v);
    dm_free(o.of);
}
