// SPDX-License-Identifier: MIT
// Exchanges the operands of .f64 operations as NVIDIA's compiler does. The value that comes later
// in this order becomes the second operand:
//
//     1. values in the order in which operations make them. A copy, a negation or an absolute value
//        without a guard is the value of its source, and so is a selection or a minimum of one
//        value, and a load that only repeats another one. Then come, in the same order:
//          - the values of loops that run several times, because loops are written out: all but
//            those of the last run that a run before could have kept for it (the register is read
//            before it is written)
//          - the result of an operation with a guard, if one operation reads it and it joins no
//            other value; and the result of a load that reads the value of a store before it
//     2. values that join where branches meet. Those that join others elsewhere come first. The
//        others are in the order of places; of one place, those come last whose register the
//        program writes first.
//        Results of div.rn, rcp.rn, copysign and approximate reciprocals and roots are among these
//        values, after those of the same place: they are put together of several pieces.
//     3. constants
//
//     ld.f64  %a, …  ──┐            the value that both branches may bring to L1
//     ld.f64  %b, …    │
//     @p bra  L1       │
//     add.f64 %a, %a, %b            the sum of b and a: outside of the part of the program that
//  L1:                 ▼            made it, a value that joins others counts as made at its end
//     mul.f64 %b, %a, %b            the joined value of a is the second operand
//
// At the end of a part, values are made in the order in which the program writes their registers
// first. The same is true for such a value and one that has joined others and does so again.
//
// The joined value at the head of a loop counts as the one with which the loop begins in the first
// run, and as the one that the run before has made in others. One order must do for all runs: it is
// that of the last one, or that of the first one if the operation's result comes back to it.
// Functions that are called more than once are not put into their callers, so their parameters are
// no copies.
//
// Recorded: random_joins and random_joins_again, nans_….
#include "nan_order.h"

#include <string.h>

#include "alloc.h"
#include "kn_lanes.h"
#include "nan_values.h"

enum {
    COPIES_MOST = 64,   // that are followed
    FAR = 64,           // operations between a load and one that it may repeat
    WORK_MOST = 1 << 24 // operations that are looked at to find the values that loops bring back
};

// Forms whose results are put together of several pieces.
static const char *const of_pieces[] = {
    "copysign.f64",         "rcp.approx.ftz.f64", "rsqrt.approx.f64",
    "rsqrt.approx.ftz.f64", "div.rn.f64",         "rcp.rn.f64",
};
enum { PIECES = sizeof of_pieces / sizeof *of_pieces };

struct key {
    uint32_t kind;
    uint64_t place, order;
    bool joined;    // where branches meet
    bool passes;    // the value joins others elsewhere
    uint32_t first; // then: where the program writes its register first
};
enum { KEY_MADE, KEY_JOINED, KEY_CONSTANT };

// Of places of KEY_MADE, added to that of an operation.
static const uint64_t before_last = UINT64_C(1) << 32, in_last = UINT64_C(1) << 33,
                      after_all = UINT64_C(1) << 34;

struct order {
    struct px_values v;
    struct px_value *of;   // of the first two sources of each operation
    struct px_value *last; // the same in the last run of loops
    uint32_t *same;        // by operation: itself, or the one whose result its own is, or COPY
    bool *taken;           // by operation: a load of what an operation before it has stored
    bool *tainted;         // by register
    uint64_t work;
    int move, negation, absolute, selection, minimum, maximum, of_pieces[PIECES]; // forms
};
#define COPY UINT32_MAX // of the first source

static const char *form_name(const struct px_op *op)
{
    unsigned count;
    return kn_forms(&count)[op->form].name;
}

static bool starts(const struct px_op *op, const char *root)
{
    return op->code == PX_FORM && !strncmp(form_name(op), root, strlen(root));
}

static bool has_copy_form(const struct order *o, const struct px_op *op)
{
    const bool parameter =
        op->parameter && op->function < o->v.l->inlined_count && o->v.l->inlined[op->function] > 1;
    return op->code == PX_FORM && op->guard == PX_NONE && !parameter &&
           (op->form == o->move || op->form == o->negation || op->form == o->absolute);
}

// Whether the result is its first source if both sources are the same.
static bool has_choice_form(const struct order *o, const struct px_op *op)
{
    return op->code == PX_FORM && op->guard == PX_NONE &&
           (op->form == o->selection || op->form == o->minimum || op->form == o->maximum);
}

// Whether the result is put together of pieces.
static bool is_of_pieces(const struct order *o, const struct px_op *op)
{
    bool found = false;
    for (size_t n = 0; n < PIECES; n++)
        found |= op->form == o->of_pieces[n];
    return found && op->code == PX_FORM;
}

// How many sources of an operation have to be known.
static unsigned interesting(const struct order *o, uint32_t i)
{
    const struct px_op *op = &o->v.l->ops[i];
    return op->exchanges || has_choice_form(o, op) ? 2 : has_copy_form(o, op) ? 1 : 0;
}

static px_register source(const struct px_op *op, unsigned n)
{
    return op->operands[op->destinations + n];
}

// Finds the values of a register at the operations that read it.
static void note_values(struct order *o, px_register reg)
{
    const uint32_t first = o->v.writes.first[reg], writes = o->v.writes.first[reg + 1] - first;
    const uint32_t reads = o->v.reads.first[reg + 1] - o->v.reads.first[reg];
    const uint32_t only = o->v.writes.items[first];
    if (writes > 1)
        px_values_find(&o->v, reg);
    else
        o->v.uses[only] = reads;
    for (uint32_t k = o->v.reads.first[reg]; k < o->v.reads.first[reg + 1]; k++) {
        const uint32_t i = o->v.reads.items[k];
        for (unsigned n = 0; n < interesting(o, i); n++) {
            if (source(&o->v.l->ops[i], n) != reg)
                continue;
            const struct px_value one = {.made = only, .part = PX_NO_VALUE};
            o->of[2 * i + n] = writes > 1 ? px_value_at(&o->v, reg, i, false) : one;
            o->last[2 * i + n] = writes > 1 ? px_value_at(&o->v, reg, i, true) : one;
        }
    }
}

static bool is_read(const struct order *o, px_register reg)
{
    bool some = false;
    for (uint32_t k = o->v.reads.first[reg]; k < o->v.reads.first[reg + 1]; k++)
        some |= interesting(o, o->v.reads.items[k]) > 0;
    return some && o->v.writes.first[reg] < o->v.writes.first[reg + 1];
}

// ---- which values are the same ----

// A value, and the register that an operation finds it in.
struct found {
    px_register reg;
    struct px_value v;
};

// The value of a source; copies are followed.
static struct found value_of(const struct order *o, uint32_t i, unsigned n, bool last)
{
    px_register reg = source(&o->v.l->ops[i], n);
    struct px_value v = (last ? o->last : o->of)[2 * i + n];
    for (unsigned k = 0; v.made != PX_NO_VALUE && o->same[v.made] != v.made && k < COPIES_MOST;
         k++) {
        const struct px_op *op = &o->v.l->ops[v.made];
        const uint32_t same = o->same[v.made];
        if (same == COPY) {
            reg = source(op, 0);
            v = o->of[2 * v.made];
        } else {
            reg = o->v.l->ops[same].operands[0];
            v = (struct px_value){.made = same, .part = PX_NO_VALUE};
        }
    }
    return (struct found){reg, v};
}

static bool is_constant(const struct order *o, px_register reg)
{
    return o->v.l->registers[reg].fill == PX_FILL_CONSTANT;
}

static bool is_one(const struct order *o, uint32_t i)
{
    const struct found a = value_of(o, i, 0, false), b = value_of(o, i, 1, false);
    if (a.v.made != PX_NO_VALUE)
        return a.v.made == b.v.made;
    return a.reg == b.reg && b.v.made == PX_NO_VALUE && a.v.part == b.v.part &&
           (a.v.part != PX_NO_VALUE || is_constant(o, a.reg));
}

static bool is_plain_access(const struct px_op *op, const char *root)
{
    return op->guard == PX_NONE && !op->strong && !op->waits && starts(op, root) &&
           op->destinations + op->sources == 2;
}

// Whether a load and another access, a load or a store, are of the same value in memory.
static bool is_of_same_place(const struct px_op *load, const struct px_op *op)
{
    const px_register base = op->operands[op->destinations]; // a store has its address first
    return base == source(load, 0) && op->immediate == load->immediate &&
           !strcmp(form_name(op) + 2, form_name(load) + 2);
}

static bool writes(const struct px_op *op, px_register reg)
{
    for (unsigned n = 0; n < op->destinations; n++)
        if (op->operands[n] == reg)
            return true;
    return false;
}

// Finds the operation before a load in the same part that has loaded or stored its value.
static void find_repeated(struct order *o, uint32_t i)
{
    const struct px_op *load = &o->v.l->ops[i];
    const uint32_t begin = o->v.parts[o->v.part_of[i]].begin;
    for (uint32_t j = i; j-- > begin && i - j < FAR;) {
        const struct px_op *op = &o->v.l->ops[j];
        const bool is_load = is_plain_access(op, "ld.");
        if (writes(op, source(load, 0)))
            return;
        if (is_load && is_of_same_place(load, op) && o->v.uses[j]) {
            o->same[i] = o->same[j];
            o->taken[i] = o->taken[j];
            return;
        }
        if (!is_load && (op->code != PX_FORM || !op->destinations || starts(op, "atom"))) {
            o->taken[i] = is_plain_access(op, "st.") && is_of_same_place(load, op);
            return;
        }
    }
}

static void find_same(struct order *o)
{
    // First, because a value may come from an operation that is later in the text.
    for (uint32_t i = 0; i < o->v.l->op_count; i++)
        o->same[i] = has_copy_form(o, &o->v.l->ops[i]) ? COPY : i;
    for (uint32_t i = 0; i < o->v.l->op_count; i++) {
        const struct px_op *op = &o->v.l->ops[i];
        if (has_choice_form(o, op) && is_one(o, i))
            o->same[i] = COPY;
        if (is_plain_access(op, "ld.") && px_values_has(&o->v, op->operands[0]))
            find_repeated(o, i);
    }
}

// ---- the order ----

// Whether a value of a loop comes after all that are made once.
static bool is_late(const struct order *o, const struct found *f, bool before, uint32_t i,
                    bool last)
{
    bool late = false;
    for (uint32_t n = 0; n < o->v.loop_count && !late; n++) {
        const struct px_loop *loop = &o->v.loops[n];
        if (f->v.made < loop->begin || f->v.made > loop->end)
            continue;
        const bool inside = loop->begin <= i && i <= loop->end;
        const bool carried = px_value_is_carried(&o->v, f->reg, n);
        late = !loop->trips || (before && inside) || carried == (inside && !last);
    }
    return late;
}

static uint32_t first_write(const struct order *o, px_register reg)
{
    return o->v.writes.items[o->v.writes.first[reg]];
}

// The place of a source in the order.
static struct key key_of(const struct order *o, uint32_t i, unsigned n, bool last)
{
    const struct px_value at_once = (last ? o->last : o->of)[2 * i + n];
    const struct found f = value_of(o, i, n, last);
    const uint32_t made = f.v.made;
    if (is_constant(o, f.reg))
        return (struct key){.kind = KEY_CONSTANT};
    if (f.v.part != PX_NO_VALUE) {
        const uint32_t first = first_write(o, f.reg);
        return (struct key){KEY_JOINED, f.v.part, UINT32_MAX - first, true, f.v.passes, first};
    }
    if (made == PX_NO_VALUE)
        return (struct key){.kind = KEY_MADE};
    const uint32_t part = o->v.part_of[made];
    const struct px_op *op = &o->v.l->ops[made];
    if (o->taken[made] || (op->guard != PX_NONE && o->v.uses[made] == 1))
        return (struct key){.kind = KEY_MADE, .place = after_all, .order = made};
    if (is_of_pieces(o, op))
        return (struct key){.kind = KEY_JOINED, .place = part, .order = UINT64_C(1) << 33 | made};
    const bool at_end = at_once.joins && part != o->v.part_of[i];
    const uint64_t run = !is_late(o, &f, at_once.before, i, last) ? 0
                         : at_once.before                         ? before_last
                                                                  : in_last;
    const uint64_t place = at_end ? o->v.parts[part].end : made + 1ull;
    const uint32_t first = at_end ? first_write(o, f.reg) : 0;
    return (struct key){KEY_MADE, place + run, first, false, at_end, first};
}

static bool is_later(struct key a, struct key b)
{
    if (a.joined && b.joined && a.passes != b.passes)
        return b.passes;
    if (a.joined != b.joined && a.passes && b.passes)
        return a.first > b.first;
    return a.kind != b.kind     ? a.kind > b.kind
           : a.place != b.place ? a.place > b.place
                                : a.order > b.order;
}

static void exchange(struct px_lower *l, struct px_op *op)
{
    px_register *operands =
        px_arena_array(&l->arena, op->destinations + op->sources, sizeof *operands);
    const char *name = form_name(op);
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

// Whether the first two sources are constants. Then the compiler computes minima and maxima itself,
// with the first one as the result; in an fma, the second one must have no digits in its lower
// half.
static bool are_constants(const struct order *o, uint32_t i, bool *exchanged)
{
    const struct px_op *op = &o->v.l->ops[i];
    const px_register a = value_of(o, i, 0, false).reg, b = value_of(o, i, 1, false).reg;
    if (!is_constant(o, a) || !is_constant(o, b))
        return false;
    *exchanged = op->form == o->minimum || op->form == o->maximum ||
                 (starts(op, "fma.") && (uint32_t)o->v.l->registers[b].value);
    return true;
}

static bool is_exchanged(const struct order *o, uint32_t i, bool last)
{
    bool exchanged;
    if (are_constants(o, i, &exchanged))
        return exchanged;
    return is_later(key_of(o, i, 0, last), key_of(o, i, 1, last));
}

// Whether an operation's result may be in one of its first two sources when a loop brings it there
// again. Looks at registers, not at values.
static bool comes_back(struct order *o, uint32_t i)
{
    const struct px_lower *l = o->v.l;
    uint32_t begin = i, end = i;
    for (uint32_t n = 0; n < o->v.loop_count; n++) {
        const struct px_loop *loop = &o->v.loops[n];
        if (loop->begin > i || loop->end < i)
            continue;
        begin = loop->begin < begin ? loop->begin : begin;
        end = loop->end > end ? loop->end : end;
    }
    o->tainted[l->ops[i].operands[0]] = true;
    for (bool changed = true; changed && o->work < WORK_MOST;) {
        changed = false;
        for (uint32_t k = begin; k <= end; k++, o->work++) {
            const struct px_op *op = &l->ops[k];
            bool reads = false;
            for (unsigned n = 0; n < op->sources; n++)
                reads |= source(op, n) < l->register_count && o->tainted[source(op, n)];
            for (unsigned n = 0; reads && n < op->destinations; n++) {
                changed |= !o->tainted[op->operands[n]];
                o->tainted[op->operands[n]] = true;
            }
        }
    }
    const bool back = o->work >= WORK_MOST || o->tainted[source(&l->ops[i], 0)] ||
                      o->tainted[source(&l->ops[i], 1)];
    for (uint32_t k = begin; k <= end; k++)
        for (unsigned n = 0; n < l->ops[k].destinations; n++)
            o->tainted[l->ops[k].operands[n]] = false;
    return back;
}

static void order_all(struct order *o)
{
    struct px_lower *l = o->v.l;
    for (size_t i = 0; i < 2 * l->op_count; i++)
        o->of[i] = o->last[i] = (struct px_value){.made = PX_NO_VALUE, .part = PX_NO_VALUE};
    for (px_register reg = 0; reg < l->register_count; reg++)
        if (px_values_has(&o->v, reg) && is_read(o, reg))
            note_values(o, reg);
    find_same(o);
    for (uint32_t i = 0; i < l->op_count && !l->error; i++) {
        if (!l->ops[i].exchanges)
            continue;
        bool exchanged = is_exchanged(o, i, false);
        if (o->v.loop_count && exchanged != is_exchanged(o, i, true) && !comes_back(o, i))
            exchanged = !exchanged;
        if (exchanged)
            exchange(l, &l->ops[i]);
    }
}

void px_order_nans(struct px_lower *l)
{
    struct order o = {.move = kn_form_find("mov.64"),
                      .negation = kn_form_find("neg.f64"),
                      .absolute = kn_form_find("abs.f64"),
                      .selection = kn_form_find("selp.64"),
                      .minimum = kn_form_find("min.f64"),
                      .maximum = kn_form_find("max.f64")};
    for (size_t n = 0; n < PIECES; n++)
        o.of_pieces[n] = kn_form_find(of_pieces[n]);
    bool some = false;
    for (size_t i = 0; i < l->op_count; i++)
        some |= l->ops[i].exchanges;
    if (!some)
        return;
    o.of = dm_alloc(2 * l->op_count * sizeof *o.of);
    o.last = dm_alloc(2 * l->op_count * sizeof *o.last);
    o.same = dm_alloc(l->op_count * sizeof *o.same);
    o.taken = dm_calloc(l->op_count, sizeof *o.taken);
    o.tainted = dm_calloc(l->register_count + 1, sizeof *o.tainted);
    if (px_values_init(&o.v, l, 'l') && o.of && o.last && o.same && o.taken && o.tainted)
        order_all(&o);
    else
        px_lower_no_memory(l);
    px_values_finish(&o.v);
    dm_free(o.tainted);
    dm_free(o.taken);
    dm_free(o.same);
    dm_free(o.last);
    dm_free(o.of);
}
