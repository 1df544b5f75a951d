// SPDX-License-Identifier: MIT
// Gives operations that select a value the NaNs of before a change of its sign.
//
//     neg.f32 %n, %a           xor.32  %r, %a, 0x80000000    the raw value: the sign alone changes
//     …                  ──▶   neg.f32 %n, %a                for other operations that read it
//     selp.f32 %d, %n, %b      …
//                              selp.32 %d, %r, %b
//
// The raw value is kept in a register of its own, which is written where the value is made, so that
// it is there also if the source has changed since. A copy of a value has a raw value too.
//
// An operation with a guard selects between its result and the old value of its destination:
//
//                              @!%p mov.32 %d, %r            %r is the raw value of %d
//     @%p add.f32 %d, %a, %b   @%p add.f32 %d, %a, %b
//
// A value that joins others where branches meet, or that leaves a loop in which its source changes,
// has no raw value.
#include "nan_signs.h"

#include <string.h>

#include "alloc.h"
#include "nan_values.h"

enum { COPIES_MOST = 64 }; // that are followed
enum { OLD = 2, VALUES };  // of an operation: two sources, and the destination's old value
enum { SIGN = 0x80000000, MAGNITUDE = 0x7fffffff, MINUS_ONE = 0xbf800000 };

struct signs {
    struct px_values v;
    uint32_t *made;            // of the values that an operation reads: see value_of
    bool *noted;               // by register: they are known
    uint32_t registers;        // when it began
    uint32_t *loop_end;        // by operation: the last one of the innermost loop, or PX_NO_VALUE
    px_register *raw;          // by operation: the register of its raw value, or PX_NONE
    const struct px_op **more; // by operation: one to put before it, or NULL
    uint32_t more_count;
    uint32_t *work, work_count; // operations whose raw value has a register, but is not made yet
    int move, negation, absolute, product, select, select_by_sign; // forms
    int change, remove;                                            // of the sign
};

static px_register source(const struct px_op *op, unsigned n)
{
    return op->operands[op->destinations + n];
}

// Whether an operation without a guard has a form.
static bool is_plain(const struct px_op *op, int form)
{
    return op->code == PX_FORM && op->guard == PX_NONE && op->form == form;
}

static bool is_minus_one(const struct px_lower *l, px_register reg)
{
    return l->registers[reg].fill == PX_FILL_CONSTANT && l->registers[reg].value == MINUS_ONE;
}

// The source of a product by -1 without a rounding modifier that is not -1, or PX_NONE.
static px_register negative(const struct signs *o, const struct px_op *op)
{
    const struct px_lower *l = o->v.l;
    if (!is_plain(op, o->product) || !op->joins)
        return PX_NONE;
    return is_minus_one(l, source(op, 1))   ? source(op, 0)
           : is_minus_one(l, source(op, 0)) ? source(op, 1)
                                            : PX_NONE;
}

static bool is_negation(const struct signs *o, const struct px_op *op)
{
    return is_plain(op, o->negation) || negative(o, op) != PX_NONE;
}

static bool is_sign(const struct signs *o, const struct px_op *op)
{
    return is_negation(o, op) || is_plain(op, o->absolute);
}

static bool is_select(const struct signs *o, const struct px_op *op)
{
    return op->selects && op->code == PX_FORM &&
           (op->form == o->select || op->form == o->select_by_sign);
}

// An operation with a guard that copies a value, or changes only its sign.
static bool reads_raw(const struct signs *o, const struct px_op *op)
{
    return op->selects && op->guard != PX_NONE && op->code == PX_FORM &&
           (op->form == o->move || op->form == o->change || op->form == o->remove);
}

// The n-th register of an operation whose value may be one with another sign, or PX_NONE. The last
// one is the destination, whose old value stays if the guard is false.
static px_register value_of(const struct signs *o, const struct px_op *op, unsigned n)
{
    if (n == OLD)
        return op->selects && op->guard != PX_NONE ? op->operands[0] : PX_NONE;
    if (is_select(o, op))
        return source(op, n);
    if (n || (!is_sign(o, op) && !reads_raw(o, op) && !is_plain(op, o->move)))
        return PX_NONE;
    return negative(o, op) != PX_NONE ? negative(o, op) : source(op, 0);
}

// ---- values ----

// Finds which operations have made the values of a register that are read.
static void note_values(struct signs *o, px_register reg)
{
    const struct px_op *ops = o->v.l->ops;
    const uint32_t first = o->v.writes.first[reg], end = o->v.writes.first[reg + 1];
    bool some = false;
    o->noted[reg] = true;
    for (uint32_t k = first; k < end; k++) {
        const struct px_op *op = &ops[o->v.writes.items[k]];
        some = some || is_sign(o, op) || is_plain(op, o->move);
    }
    if (!some)
        return;
    if (end - first > 1)
        px_values_find(&o->v, reg);
    for (uint32_t k = o->v.reads.first[reg]; k < o->v.reads.first[reg + 1]; k++) {
        const uint32_t i = o->v.reads.items[k];
        for (unsigned n = 0; n < VALUES; n++)
            if (value_of(o, &ops[i], n) == reg)
                o->made[VALUES * i + n] = px_value_made(&o->v, reg, i);
    }
}

// The operation that has made the n-th value of operation i, or PX_NO_VALUE; if it is a copy and
// `through` is set, the one that has made the source.
static uint32_t made_by(struct signs *o, uint32_t i, unsigned n, bool through)
{
    for (unsigned copies = 0; copies <= COPIES_MOST; copies++) {
        const px_register reg = value_of(o, &o->v.l->ops[i], n);
        if (reg >= o->registers || !px_values_has(&o->v, reg))
            return PX_NO_VALUE;
        if (!o->noted[reg])
            note_values(o, reg);
        i = o->made[VALUES * i + n];
        n = 0;
        if (!through || i == PX_NO_VALUE || !is_plain(&o->v.l->ops[i], o->move))
            return i;
    }
    return PX_NO_VALUE;
}

// ---- raw values ----

// Finds the end of the innermost loop of each operation.
static void find_loops(struct signs *o)
{
    const struct px_lower *l = o->v.l;
    uint32_t count = 0; // of backward branches that may be the end of a loop of operation i
    for (uint32_t i = (uint32_t)l->op_count; i-- > 0;) {
        if (l->ops[i].code == PX_BRANCH && l->ops[i].target <= i)
            o->work[count++] = i;
        while (count && l->ops[o->work[count - 1]].target > i)
            count--;
        o->loop_end[i] = count ? o->work[count - 1] : PX_NO_VALUE;
    }
}

// Whether operation i is outside of a loop in which `made` changes a value's sign, and the value
// before changes in the loop too: the loop keeps the value of `made` only.
static bool is_outside(const struct signs *o, uint32_t made, uint32_t i)
{
    const uint32_t end = o->loop_end[made];
    if (end == PX_NO_VALUE || (i <= end && i >= o->v.l->ops[end].target))
        return false;
    const px_register reg = value_of(o, &o->v.l->ops[made], 0);
    return reg >= o->registers ||
           px_values_last(&o->v, reg, end + 1, o->v.l->ops[end].target) != PX_NO_VALUE;
}

// The operation that has changed the sign of operation i's n-th value so that operation i can
// change it itself, or PX_NO_VALUE. A value that joins others is kept as it is.
static uint32_t sign_of(struct signs *o, uint32_t i, unsigned n)
{
    const uint32_t made = made_by(o, i, n, true);
    return made != PX_NO_VALUE && is_sign(o, &o->v.l->ops[made]) && !o->v.flows[made] &&
                   !is_outside(o, made, i)
               ? made
               : PX_NO_VALUE;
}

// The register of the raw value of operation i's n-th value, which is that of the value itself if
// its sign has not been changed.
static px_register raw_of(struct signs *o, uint32_t i, unsigned n)
{
    const uint32_t by = made_by(o, i, n, false);
    if (sign_of(o, i, n) == PX_NO_VALUE)
        return value_of(o, &o->v.l->ops[i], n);
    if (o->raw[by] == PX_NONE) {
        o->raw[by] = px_temporary(o->v.l, 'w');
        o->work[o->work_count++] = by;
    }
    return o->raw[by];
}

static const px_register *operands(struct px_lower *l, px_register d, px_register a, px_register b)
{
    px_register *out = px_arena_array(&l->arena, 3, sizeof *out);
    if (!out)
        px_lower_no_memory(l);
    else
        memcpy(out, (const px_register[]){d, a, b}, 3 * sizeof *out);
    return out;
}

// Puts an operation before operation i: writes a copy of `a`, or `a` with another sign, to `d`.
static struct px_op *put_before(struct signs *o, uint32_t i, int form, px_register d, px_register a)
{
    struct px_lower *l = o->v.l;
    struct px_op *op = px_arena_take(&l->arena, sizeof *op);
    const uint64_t bits = form == o->remove ? MAGNITUDE : SIGN;
    const px_register *list =
        operands(l, d, a, form == o->move ? PX_NONE : px_constant(l, 'w', bits));
    if (!op)
        px_lower_no_memory(l);
    if (l->error)
        return NULL;
    *op = (struct px_op){.code = PX_FORM,
                         .form = form,
                         .operands = list,
                         .destinations = 1,
                         .sources = form == o->move ? 1 : 2,
                         .members = PX_NONE,
                         .guard = PX_NONE,
                         .line = l->ops[i].line,
                         .function = l->ops[i].function};
    o->more[i] = op;
    o->more_count++;
    return op;
}

// Makes the raw values that have registers, and those that these need.
static void make_raw(struct signs *o)
{
    while (o->work_count && !o->v.l->error) {
        const uint32_t i = o->work[--o->work_count];
        const struct px_op *op = &o->v.l->ops[i];
        const int form = op->form == o->move       ? o->move
                         : op->form == o->absolute ? o->remove
                                                   : o->change;
        put_before(o, i, form, o->raw[i], raw_of(o, i, 0));
    }
}

// ---- readers ----

// A negation of a negation is a copy of the value before both, for all that read it.
static void join_negations(struct signs *o, uint32_t i)
{
    struct px_lower *l = o->v.l;
    struct px_op *op = &l->ops[i];
    const uint32_t first = is_negation(o, op) ? sign_of(o, i, 0) : PX_NO_VALUE;
    if (first == PX_NO_VALUE || !is_negation(o, &l->ops[first]))
        return;
    const uint32_t before = made_by(o, first, 0, true);
    const bool absolute = before != PX_NO_VALUE && is_plain(&l->ops[before], o->absolute);
    const px_register *list =
        operands(l, op->operands[0], raw_of(o, i, 0), px_constant(l, 'w', SIGN));
    if (!list)
        return;
    op->operands = list;
    op->sources = absolute ? 1 : 2;
    op->form = absolute ? o->absolute : o->change;
    op->joins = false;
    make_raw(o);
}

// Whether two values of an operation are the same.
static bool is_same(struct signs *o, uint32_t i, unsigned n, unsigned k)
{
    const struct px_op *op = &o->v.l->ops[i];
    const uint32_t made = made_by(o, i, n, true);
    return value_of(o, op, n) == value_of(o, op, k) ||
           (made != PX_NO_VALUE && made == made_by(o, i, k, true));
}

// Lets an operation that selects read raw values.
static void select_raw(struct signs *o, uint32_t i)
{
    struct px_lower *l = o->v.l;
    struct px_op *op = &l->ops[i];
    const unsigned count = op->destinations + op->sources;
    px_register *list = px_arena_array(&l->arena, count, sizeof *list);
    if (!list) {
        px_lower_no_memory(l);
        return;
    }
    memcpy(list, op->operands, count * sizeof *list);
    const bool guarded = op->guard != PX_NONE;
    // A select of two equal values is a copy, and so is one with a guard of the old value.
    const bool same = is_select(o, op) && is_same(o, i, 0, 1);
    const bool stays = guarded && op->form == o->move && is_same(o, i, 0, OLD);
    const px_register old = value_of(o, op, OLD), raw = stays ? old : raw_of(o, i, OLD);
    for (unsigned n = 0; n < 2 && !stays && (!same || guarded); n++)
        if (value_of(o, op, n) != PX_NONE)
            list[op->destinations + n] = raw_of(o, i, n);
    struct px_op *before = raw == old ? NULL : put_before(o, i, o->move, old, raw);
    if (before) {
        before->guard = op->guard;
        before->guard_not = !op->guard_not;
    }
    op->operands = list;
    make_raw(o);
}

// ---- all ----

// Writes the operations that were put before others among them.
static void write_ops(struct signs *o)
{
    struct px_lower *l = o->v.l;
    const size_t old = l->op_count, count = old + o->more_count;
    struct px_op *ops = dm_alloc(count * sizeof *ops);
    uint32_t *places = dm_alloc((old + 1) * sizeof *places), at = 0;
    if (!ops || !places) {
        px_lower_no_memory(l);
        dm_free(ops);
        dm_free(places);
        return;
    }
    for (size_t i = 0; i < old; i++) {
        places[i] = at;
        if (o->more[i])
            ops[at++] = *o->more[i];
        ops[at++] = l->ops[i];
    }
    places[old] = at;
    for (size_t i = 0; i < count; i++) {
        uint32_t *targets = (uint32_t *)(uintptr_t)ops[i].targets;
        if (ops[i].code == PX_BRANCH)
            ops[i].target = places[ops[i].target];
        for (uint32_t k = 0; ops[i].code == PX_BRANCH_TABLE && k < ops[i].target_count; k++)
            targets[k] = places[targets[k]];
    }
    dm_free(places);
    dm_free(l->ops);
    l->ops = ops;
    l->op_count = l->op_capacity = count;
}

static void change_all(struct signs *o)
{
    struct px_lower *l = o->v.l;
    const uint32_t count = (uint32_t)l->op_count;
    for (uint32_t i = 0; i < count; i++) {
        for (unsigned n = 0; n < VALUES; n++)
            o->made[VALUES * i + n] = PX_NO_VALUE;
        o->raw[i] = PX_NONE;
    }
    find_loops(o);
    for (uint32_t i = 0; i < count && !l->error; i++)
        join_negations(o, i);
    for (uint32_t i = 0; i < count && !l->error; i++)
        if (l->ops[i].selects)
            select_raw(o, i);
    if (!l->error && o->more_count)
        write_ops(o);
}

// Whether there are operations that it concerns.
static bool is_needed(const struct signs *o, const struct px_lower *l)
{
    uint32_t selects = 0, signs = 0, negations = 0;
    for (size_t i = 0; i < l->op_count; i++) {
        selects += l->ops[i].selects;
        signs += is_sign(o, &l->ops[i]);
        negations += is_negation(o, &l->ops[i]);
    }
    return (selects && signs) || negations > 1;
}

void px_select_signs(struct px_lower *l)
{
    struct signs o = {.v.l = l,
                      .move = kn_form_find("mov.32"),
                      .negation = kn_form_find("neg.f32"),
                      .absolute = kn_form_find("abs.f32"),
                      .product = kn_form_find("mul.rn.f32"),
                      .select = kn_form_find("selp.32"),
                      .select_by_sign = kn_form_find("slct.32.s32"),
                      .change = kn_form_find("xor.32"),
                      .remove = kn_form_find("and.32")};
    if (!is_needed(&o, l))
        return;
    o.registers = (uint32_t)l->register_count;
    o.made = dm_alloc(VALUES * l->op_count * sizeof *o.made);
    o.loop_end = dm_alloc(l->op_count * sizeof *o.loop_end);
    o.noted = dm_calloc(l->register_count + 1, sizeof *o.noted);
    o.raw = dm_alloc(l->op_count * sizeof *o.raw);
    o.more = dm_calloc(l->op_count, sizeof *o.more);
    o.work = dm_alloc(l->op_count * sizeof *o.work);
    if (px_values_init(&o.v, l, 'w') && o.made && o.loop_end && o.noted && o.raw && o.more &&
        o.work) {
        o.v.heads = true;
        change_all(&o);
    } else {
        px_lower_no_memory(l);
    }
    px_values_finish(&o.v);
    dm_free(o.made);
    dm_free(o.loop_end);
    dm_free(o.noted);
    dm_free(o.raw);
    dm_free(o.more);
    dm_free(o.work);
}
