// SPDX-License-Identifier: MIT
// Finds which operation has made the value of a register, or where it has joined others.
#include "nan_values.h"

#include <string.h>

#include "alloc.h"
#include "kn_lanes.h"

static const struct px_value no_value = {.made = PX_NO_VALUE, .part = PX_NO_VALUE};

enum {
    LOOPS_MOST = 64, // one in another, that a value is followed through
    UNREAD_ROUNDS = 2,
    WORK_MOST = 1 << 24 // parts times registers that several operations write
};

// ---- parts ----

static bool is_jump(const struct px_op *op, uint32_t i)
{
    return op->code == PX_BRANCH && op->target != i + 1;
}

static bool ends(const struct px_op *op)
{
    return op->guard == PX_NONE &&
           (op->code == PX_BRANCH || op->code == PX_BRANCH_TABLE || op->code == PX_EXIT);
}

static bool find_parts(struct px_values *o)
{
    const struct px_lower *l = o->l;
    const uint32_t count = (uint32_t)l->op_count;
    bool *starts = dm_calloc(count + 1, sizeof *starts);
    if (!starts)
        return false;
    starts[0] = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct px_op *op = &l->ops[i];
        if (is_jump(op, i))
            starts[op->target] = starts[i + 1] = true;
        for (uint32_t n = 0; op->code == PX_BRANCH_TABLE && n < op->target_count; n++)
            starts[op->targets[n]] = starts[i + 1] = true;
        starts[i + 1] |= op->code == PX_EXIT;
    }
    for (uint32_t i = 0; i < count; i++) {
        o->part_count += starts[i];
        o->part_of[i] = o->part_count - 1;
    }
    o->parts = dm_calloc(o->part_count, sizeof *o->parts);
    for (uint32_t i = 0; o->parts && i < count; i++) {
        struct px_part *part = &o->parts[o->part_of[i]];
        part->begin = starts[i] ? i : part->begin;
        part->end = i + 1;
    }
    dm_free(starts);
    return o->parts;
}

static bool lists_make(struct px_lists *lists, uint32_t count, uint64_t items)
{
    lists->first = dm_calloc(count + 2ull, sizeof *lists->first);
    lists->items = dm_calloc(items + 1, sizeof *lists->items);
    return lists->first && lists->items;
}

// Called twice for each item: once with `fill` false, which counts, then with `fill` true.
static void lists_put(struct px_lists *lists, uint32_t k, uint32_t item, bool fill)
{
    if (fill)
        lists->items[lists->first[k + 1]++] = item;
    else
        lists->first[k + 2]++;
}

static void lists_add_up(struct px_lists *lists, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        lists->first[k + 2] += lists->first[k + 1];
}

static void put_edges(struct px_values *o, bool fill)
{
    for (uint32_t p = 0; p < o->part_count; p++) {
        const uint32_t last = o->parts[p].end - 1;
        const struct px_op *op = &o->l->ops[last];
        if (p + 1 < o->part_count && (!ends(op) || (op->code == PX_BRANCH && !is_jump(op, last))))
            lists_put(&o->before, p + 1, p, fill);
        if (is_jump(op, last) && op->target < o->l->op_count)
            lists_put(&o->before, o->part_of[op->target], p, fill);
        for (uint32_t n = 0; op->code == PX_BRANCH_TABLE && n < op->target_count; n++)
            if (op->targets[n] < o->l->op_count)
                lists_put(&o->before, o->part_of[op->targets[n]], p, fill);
    }
}

static bool find_edges(struct px_values *o)
{
    uint64_t edges = 2ull * o->part_count;
    for (uint32_t i = 0; i < o->l->op_count; i++)
        edges += o->l->ops[i].target_count;
    if (!lists_make(&o->before, o->part_count, edges))
        return false;
    put_edges(o, false);
    lists_add_up(&o->before, o->part_count);
    put_edges(o, true);
    return true;
}

// ---- values of one register ----

bool px_values_has(const struct px_values *o, px_register reg)
{
    return reg < o->l->register_count && o->l->registers[reg].letter == o->letter;
}

static void put_operands(struct px_values *o, bool fill)
{
    for (uint32_t i = 0; i < o->l->op_count; i++) {
        const struct px_op *op = &o->l->ops[i];
        for (unsigned n = 0; n < (unsigned)op->destinations + op->sources; n++) {
            if (!px_values_has(o, op->operands[n]))
                continue;
            if (n < op->destinations)
                lists_put(&o->writes, op->operands[n], i, fill);
            // A false guard keeps the value.
            if (!o->unread[i] && (n >= op->destinations || op->guard != PX_NONE))
                lists_put(&o->reads, op->operands[n], i, fill);
        }
    }
}

static bool find_operands(struct px_values *o)
{
    const uint32_t registers = (uint32_t)o->l->register_count;
    uint64_t operands = 0;
    for (uint32_t i = 0; i < o->l->op_count; i++)
        operands += (uint64_t)o->l->ops[i].destinations + o->l->ops[i].sources;
    if (!lists_make(&o->writes, registers, operands) || !lists_make(&o->reads, registers, operands))
        return false;
    put_operands(o, false);
    lists_add_up(&o->writes, registers);
    lists_add_up(&o->reads, registers);
    put_operands(o, true);
    return true;
}

static bool is_same(struct px_value a, struct px_value b)
{
    return a.made == b.made && a.part == b.part;
}

static bool is_known(struct px_value v)
{
    return v.made != PX_NO_VALUE || v.part != PX_NO_VALUE;
}

// The value of a register when a part begins.
static struct px_value value_before(const struct px_values *o, uint32_t p)
{
    struct px_value v = no_value;
    if (o->ins[p].part == p)
        return o->ins[p];
    for (uint32_t k = o->before.first[p]; k < o->before.first[p + 1]; k++) {
        const struct px_value out = o->outs[o->before.items[k]];
        if (is_known(v) && is_known(out) && !is_same(v, out))
            return (struct px_value){.made = PX_NO_VALUE, .part = p};
        v = is_known(out) ? out : v;
    }
    return v;
}

// Finds the values of a register where parts begin and end.
static void find_values(struct px_values *o, px_register reg)
{
    for (uint32_t p = 0; p < o->part_count; p++) {
        o->ins[p] = o->outs[p] = no_value;
        o->writes_it[p] = o->live[p] = o->passes[p] = false;
    }
    for (uint32_t k = o->writes.first[reg]; k < o->writes.first[reg + 1]; k++) {
        const uint32_t i = o->writes.items[k];
        o->outs[o->part_of[i]].made = i;
        o->writes_it[o->part_of[i]] = true;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t p = 0; p < o->part_count; p++) {
            const struct px_value in = value_before(o, p);
            changed |= !is_same(in, o->ins[p]);
            o->ins[p] = in;
            if (!o->writes_it[p])
                o->outs[p] = in;
        }
    }
}

// Finds the parts at whose beginning the register's value is still needed.
static void find_live(struct px_values *o, px_register reg)
{
    uint32_t w = o->writes.first[reg];
    const uint32_t end = o->writes.first[reg + 1];
    for (uint32_t k = o->reads.first[reg]; k < o->reads.first[reg + 1]; k++) {
        const uint32_t i = o->reads.items[k], p = o->part_of[i];
        while (w < end && o->writes.items[w] < o->parts[p].begin)
            w++;
        o->live[p] |= w == end || o->writes.items[w] >= i;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t p = o->part_count; p-- > 0;)
            for (uint32_t k = o->before.first[p]; o->live[p] && k < o->before.first[p + 1]; k++) {
                const uint32_t q = o->before.items[k];
                if (o->writes_it[q] || o->live[q])
                    continue;
                o->live[q] = changed = true;
            }
    }
}

static bool is_loop(const struct px_values *o, uint32_t p)
{
    for (uint32_t k = o->before.first[p]; k < o->before.first[p + 1]; k++)
        if (o->before.items[k] >= p)
            return true;
    return false;
}

// Marks the operations whose results join others.
static void find_flows(struct px_values *o)
{
    for (uint32_t p = 0; p < o->part_count; p++) {
        if (o->ins[p].part != p || !o->live[p] || (is_loop(o, p) && !o->heads))
            continue;
        for (uint32_t k = o->before.first[p]; k < o->before.first[p + 1]; k++) {
            const struct px_value out = o->outs[o->before.items[k]];
            if (out.made != PX_NO_VALUE)
                o->flows[out.made] = true;
        }
    }
}

uint32_t px_values_last(const struct px_values *o, px_register reg, uint32_t i, uint32_t least)
{
    uint32_t low = o->writes.first[reg], high = o->writes.first[reg + 1];
    const uint32_t first = low;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (o->writes.items[middle] < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low > first && o->writes.items[low - 1] >= least ? o->writes.items[low - 1]
                                                            : PX_NO_VALUE;
}

// Counts the operands and joined values that an operation's result is.
static void find_uses(struct px_values *o, px_register reg)
{
    for (uint32_t k = o->reads.first[reg]; k < o->reads.first[reg + 1]; k++) {
        const uint32_t i = o->reads.items[k], p = o->part_of[i];
        uint32_t made = px_values_last(o, reg, i, o->parts[p].begin);
        made = made == PX_NO_VALUE ? o->ins[p].made : made;
        if (made != PX_NO_VALUE)
            o->uses[made]++;
    }
    for (uint32_t p = 0; p < o->part_count; p++) {
        if (o->ins[p].part != p || !o->live[p])
            continue;
        for (uint32_t k = o->before.first[p]; k < o->before.first[p + 1]; k++) {
            const struct px_value out = o->outs[o->before.items[k]];
            if (out.made != PX_NO_VALUE)
                o->uses[out.made]++;
            else if (out.part != PX_NO_VALUE && out.part != p)
                o->passes[out.part] = true;
        }
    }
    for (uint32_t n = 0; n < o->loop_count; n++) {
        const uint32_t p = o->part_of[o->loops[n].begin];
        o->carried[(uint64_t)reg * o->loop_count + n] = o->ins[p].part == p && o->live[p];
    }
}

bool px_value_is_carried(const struct px_values *o, px_register reg, uint32_t loop)
{
    return o->carried[(uint64_t)reg * o->loop_count + loop];
}

// Whether the loop that begins with a part runs several times, as constants decide.
static bool repeats(const struct px_values *o, uint32_t p)
{
    for (uint32_t n = 0; n < o->loop_count; n++)
        if (o->loops[n].begin == o->parts[p].begin)
            return o->loops[n].trips;
    return false;
}

// The value at the head of a loop is the one with which the loop begins, or, in the last run, the
// one that the run before has made.
static struct px_value begun(const struct px_values *o, struct px_value v, bool last)
{
    for (unsigned n = 0; v.part != PX_NO_VALUE && is_loop(o, v.part) && n < LOOPS_MOST; n++) {
        struct px_value first = no_value, back = no_value;
        for (uint32_t k = o->before.first[v.part]; k < o->before.first[v.part + 1]; k++) {
            const uint32_t q = o->before.items[k];
            if (q < v.part && !is_known(first))
                first = o->outs[q];
            else if (q >= v.part)
                back = o->outs[q];
        }
        const bool before = last && back.made != PX_NO_VALUE && repeats(o, v.part);
        if (before)
            first = back;
        if (!is_known(first) || first.part == v.part)
            break;
        first.before = v.before || before;
        v = first;
    }
    return v;
}

struct px_value px_value_at(const struct px_values *o, px_register reg, uint32_t i, bool last)
{
    const uint32_t p = o->part_of[i];
    struct px_value v = no_value;
    v.made = px_values_last(o, reg, i, o->large ? 0 : o->parts[p].begin);
    if (v.made == PX_NO_VALUE && !o->large)
        v = begun(o, o->ins[p], last);
    v.joins = v.made != PX_NO_VALUE && o->flows[v.made];
    v.passes = v.part != PX_NO_VALUE && o->passes[v.part];
    return v;
}

uint32_t px_value_made(const struct px_values *o, px_register reg, uint32_t i)
{
    const uint32_t first = o->writes.first[reg], writes = o->writes.first[reg + 1] - first;
    const uint32_t p = o->part_of[i];
    if (writes <= 1)
        return writes ? o->writes.items[first] : PX_NO_VALUE;
    const uint32_t made = px_values_last(o, reg, i, o->parts[p].begin);
    return made != PX_NO_VALUE || o->large ? made : o->ins[p].made;
}

void px_values_find(struct px_values *o, px_register reg)
{
    if (o->large)
        return;
    find_values(o, reg);
    find_live(o, reg);
    find_flows(o);
    find_uses(o, reg);
}

// Whether an operation only makes one value.
static bool only_makes(const struct px_values *o, const struct px_op *op)
{
    unsigned count;
    return op->code == PX_FORM && op->destinations == 1 && px_values_has(o, op->operands[0]) &&
           !op->waits && !op->strong && strncmp(kn_forms(&count)[op->form].name, "atom", 4) != 0;
}

// Leaves out the operands of operations whose results nothing reads.
static bool leave_out_unread(struct px_values *o)
{
    for (px_register reg = 0; reg < o->l->register_count; reg++) {
        const uint32_t first = o->writes.first[reg], writes = o->writes.first[reg + 1] - first;
        if (writes > 1)
            px_values_find(o, reg);
        else if (writes)
            o->uses[o->writes.items[first]] = o->reads.first[reg + 1] - o->reads.first[reg];
    }
    for (uint32_t i = 0; i < o->l->op_count; i++) {
        o->unread[i] = !o->uses[i] && only_makes(o, &o->l->ops[i]);
        o->uses[i] = 0;
        o->flows[i] = false;
    }
    void *const old[] = {o->writes.first, o->writes.items, o->reads.first, o->reads.items};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        dm_free(old[i]);
    o->writes = o->reads = (struct px_lists){0};
    return find_operands(o);
}

bool px_values_init(struct px_values *o, struct px_lower *l, char letter)
{
    const uint64_t count = l->op_count + 1ull;
    uint64_t work = 0;
    *o = (struct px_values){.l = l, .letter = letter};
    o->part_of = dm_calloc(count, sizeof *o->part_of);
    o->uses = dm_calloc(count, sizeof *o->uses);
    o->flows = dm_calloc(count, sizeof *o->flows);
    o->unread = dm_calloc(count, sizeof *o->unread);
    if (!o->part_of || !o->uses || !o->flows || !o->unread || !find_parts(o) || !find_edges(o) ||
        !find_operands(o) || !px_loops_find(l, &o->loops, &o->loop_count))
        return false;
    for (px_register reg = 0; reg < l->register_count; reg++)
        work += o->writes.first[reg + 1] > o->writes.first[reg] + 1 ? o->part_count : 0;
    if ((uint64_t)o->loop_count * count > WORK_MOST ||
        (uint64_t)o->loop_count * l->register_count > WORK_MOST)
        o->loop_count = 0;
    o->large = work > WORK_MOST;
    o->carried = dm_calloc((uint64_t)o->loop_count * l->register_count + 1, sizeof *o->carried);
    o->passes = dm_calloc(o->part_count, sizeof *o->passes);
    o->ins = dm_alloc(o->part_count * sizeof *o->ins);
    o->outs = dm_alloc(o->part_count * sizeof *o->outs);
    o->live = dm_alloc(o->part_count * sizeof *o->live);
    o->writes_it = dm_alloc(o->part_count * sizeof *o->writes_it);
    if (!o->ins || !o->outs || !o->live || !o->writes_it || !o->carried || !o->passes)
        return false;
    for (unsigned n = 0; n < UNREAD_ROUNDS && !o->large; n++)
        if (!leave_out_unread(o))
            return false;
    return true;
}

void px_values_finish(struct px_values *o)
{
    void *const all[] = {o->parts,        o->part_of,      o->loops,        o->before.first,
                         o->before.items, o->writes.first, o->writes.items, o->reads.first,
                         o->reads.items,  o->ins,          o->outs,         o->live,
                         o->writes_it,    o->flows,        o->passes,       o->uses,
                         o->carried,      o->unread};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        dm_free(all[i]);
}
