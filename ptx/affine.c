// SPDX-License-Identifier: MIT
// Finds accesses whose addresses are an argument plus four times an index.
//
// The index must have the value that it had when the offset was computed. That is so if nothing in
// between writes it, and either all of it is in one stretch of operations without a branch, or the
// operations that make the address come before all loops.
#include "affine.h"

#include <string.h>

#include "alloc.h"

enum { ELEMENT_B = 4, ELEMENT_SHIFT = 2 };

struct finder {
    const struct px_layout *layout;
    struct px_affines *out;
    int add, wide_s32, wide_u32, shift, extend_s32, extend_u32, load, store; // forms
    uint32_t *stretch;                                                       // by operation
    uint32_t *writer;                // by register: an operation that writes it
    uint32_t *writes, *reads, *used; // by register; `used`: reads that are not needed
    uint32_t first_loop;             // operations before this one are executed once
};

static const struct px_op *op_of(const struct finder *f, uint32_t i)
{
    return &f->layout->program->ops[i];
}

static void count_operands(struct finder *f, const struct px_op *op, uint32_t i)
{
    const uint32_t registers = f->layout->program->register_count;
    for (unsigned n = 0; n < (unsigned)op->destinations + op->sources; n++) {
        const px_register reg = op->operands[n];
        if (reg >= registers)
            continue;
        if (n >= op->destinations) {
            f->reads[reg]++;
            continue;
        }
        f->writes[reg]++;
        f->writer[reg] = i;
    }
    if (op->code == PX_FORM_TOGETHER && op->members < registers)
        f->reads[op->members]++;
}

static void note_targets(struct finder *f, const struct px_op *op, uint32_t i)
{
    if (op->code == PX_BRANCH && op->target <= i && op->target < f->first_loop)
        f->first_loop = op->target;
    for (uint32_t n = 0; op->code == PX_BRANCH_TABLE && n < op->target_count; n++)
        if (op->targets[n] <= i && op->targets[n] < f->first_loop)
            f->first_loop = op->targets[n];
}

static void look_at_all(struct finder *f)
{
    const struct px_program *program = f->layout->program;
    uint32_t stretch = 0;
    f->first_loop = program->op_count;
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct px_op *op = op_of(f, i);
        stretch += f->layout->joins[i] || op->code != PX_FORM;
        f->stretch[i] = stretch;
        stretch += op->code != PX_FORM;
        note_targets(f, op, i);
        if (!f->layout->skips[i])
            count_operands(f, op, i);
    }
}

static bool is_form(const struct px_op *op, int form)
{
    return op->code == PX_FORM && op->guard == PX_NONE && op->form == form;
}

static const struct px_register_info *info(const struct finder *f, px_register reg)
{
    return &f->layout->program->registers[f->layout->same[reg]];
}

static bool is_uniform(const struct finder *f, px_register reg)
{
    const enum px_fill fill = info(f, reg)->fill;
    return fill == PX_FILL_ARGUMENT || fill == PX_FILL_CONSTANT || fill == PX_FILL_VARIABLE;
}

static bool is_constant(const struct finder *f, px_register reg, uint64_t value)
{
    return info(f, reg)->fill == PX_FILL_CONSTANT && info(f, reg)->value == value;
}

// The operation that makes a register, if it is the only one; or PX_NONE.
static uint32_t maker_of(const struct finder *f, px_register reg)
{
    return reg < f->layout->program->register_count && f->writes[reg] == 1 &&
                   f->layout->same[reg] == reg
               ? f->writer[reg]
               : PX_NONE;
}

// Whether the index has its value of the operation `multiply` at `access`.
static bool is_unchanged(const struct finder *f, const struct px_affine *a, uint32_t access)
{
    const px_register index = f->layout->same[a->index];
    const uint32_t writer = f->writes[index] ? f->writer[index] : 0;
    if (f->writes[index] > 1)
        return false;
    const uint32_t first = a->convert != PX_NONE ? a->convert : a->multiply;
    if (first > a->multiply || a->multiply >= a->add || a->add >= access)
        return false;
    if (f->stretch[first] == f->stretch[access])
        return !f->writes[index] || writer < first || writer > access;
    return a->add < f->first_loop && (!f->writes[index] || writer < first);
}

// Takes the offset of an address apart: index times element size.
static bool find_index(const struct finder *f, struct px_affine *a, px_register offset)
{
    a->multiply = maker_of(f, offset);
    if (a->multiply == PX_NONE)
        return false;
    const struct px_op *op = op_of(f, a->multiply);
    if (is_form(op, f->shift) && is_constant(f, op->operands[2], ELEMENT_SHIFT)) {
        a->convert = maker_of(f, op->operands[1]);
        if (a->convert == PX_NONE)
            return false;
        op = op_of(f, a->convert);
        a->is_signed = is_form(op, f->extend_s32);
        a->index = op->operands[1];
        return a->is_signed || is_form(op, f->extend_u32);
    }
    a->is_signed = is_form(op, f->wide_s32);
    if (!a->is_signed && !is_form(op, f->wide_u32))
        return false;
    const px_register *sources = op->operands + 1;
    a->index = sources[is_constant(f, sources[0], ELEMENT_B)];
    return is_constant(f, sources[0], ELEMENT_B) || is_constant(f, sources[1], ELEMENT_B);
}

static struct px_affine find(const struct finder *f, uint32_t access)
{
    const struct px_affine not_found = {.add = PX_NONE};
    const struct px_op *op = op_of(f, access);
    if (!is_form(op, f->load) && !is_form(op, f->store))
        return not_found;
    struct px_affine a = {.add = maker_of(f, op->operands[op->destinations]), .convert = PX_NONE};
    if (a.add == PX_NONE || !is_form(op_of(f, a.add), f->add))
        return not_found;
    const px_register *sources = op_of(f, a.add)->operands + 1;
    const bool second = is_uniform(f, sources[1]);
    a.base = sources[second];
    if (!is_uniform(f, a.base) || !find_index(f, &a, sources[!second]) ||
        !is_unchanged(f, &a, access))
        return not_found;
    return a;
}

// Drops operations whose results only accesses that were found read.
static void drop(struct finder *f)
{
    const uint32_t count = f->layout->program->op_count;
    struct px_affine *of = f->out->of;
    for (uint32_t i = 0; i < count; i++)
        if (of[i].add != PX_NONE)
            f->used[op_of(f, of[i].add)->operands[0]]++;
    for (uint32_t i = 0; i < count; i++) {
        if (of[i].add == PX_NONE || f->out->drops[of[i].add])
            continue;
        const px_register address = op_of(f, of[i].add)->operands[0];
        f->out->drops[of[i].add] = f->used[address] == f->reads[address];
        if (f->out->drops[of[i].add])
            f->used[op_of(f, of[i].multiply)->operands[0]]++;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (of[i].add == PX_NONE)
            continue;
        f->out->pins[f->layout->same[of[i].index]] = true;
        if (f->out->drops[of[i].multiply])
            continue;
        const px_register offset = op_of(f, of[i].multiply)->operands[0];
        f->out->pins[f->layout->same[offset]] = true;
        f->out->drops[of[i].multiply] = f->used[offset] == f->reads[offset];
        if (f->out->drops[of[i].multiply] && of[i].convert != PX_NONE)
            f->used[op_of(f, of[i].convert)->operands[0]]++;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (of[i].add == PX_NONE || of[i].convert == PX_NONE)
            continue;
        const px_register index = op_of(f, of[i].convert)->operands[0];
        f->out->pins[f->layout->same[index]] = true;
        f->out->drops[of[i].convert] = f->used[index] == f->reads[index];
    }
    for (uint32_t i = 0; i < count; i++)
        f->layout->skips[i] |= f->out->drops[i];
}

bool px_affine_find(struct px_affines *out, const struct px_layout *layout)
{
    const struct px_program *program = layout->program;
    const uint64_t ops = program->op_count + 1ull, registers = program->register_count + 1ull;
    struct finder f = {.layout = layout,
                       .out = out,
                       .add = kn_form_find("add.64"),
                       .wide_s32 = kn_form_find("mul.wide.s32"),
                       .wide_u32 = kn_form_find("mul.wide.u32"),
                       .shift = kn_form_find("shl.64"),
                       .extend_s32 = kn_form_find("cvt.s64.s32"),
                       .extend_u32 = kn_form_find("cvt.u64.u32"),
                       .load = kn_form_find("ld.generic.32:32"),
                       .store = kn_form_find("st.generic.32:32")};
    out->of = dm_alloc(ops * sizeof *out->of + ops + registers);
    f.stretch = dm_calloc(ops + 4 * registers, sizeof *f.stretch);
    if (out->of && f.stretch) {
        out->drops = (bool *)(out->of + ops);
        out->pins = out->drops + ops;
        memset(out->drops, 0, ops + registers);
        f.writer = f.stretch + ops;
        f.writes = f.writer + registers;
        f.reads = f.writes + registers;
        f.used = f.reads + registers;
        look_at_all(&f);
        for (uint32_t i = 0; i < program->op_count; i++)
            out->of[i] = find(&f, i);
        drop(&f);
    }
    const bool complete = out->of && f.stretch;
    dm_free(f.stretch);
    return complete;
}

void px_affine_free(struct px_affines *affines)
{
    dm_free(affines->of);
}

uint32_t px_affine_count(const struct px_affines *affines, uint32_t access)
{
    const struct px_affine *a = &affines->of[access];
    const bool multiply = affines->drops[a->add] && affines->drops[a->multiply];
    const bool convert = multiply && a->convert != PX_NONE && affines->drops[a->convert];
    return 1u + affines->drops[a->add] + multiply + convert;
}
