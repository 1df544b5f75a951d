// SPDX-License-Identifier: MIT
// Finds comparisons with constants, and accesses of shared memory at addresses with a pattern.
//
// The stride of a register is the difference of its values in threads that are neighbours in x:
//
//     mov.u32  %r1, %tid.x          1
//     shl.b32  %r2, %r1, 2          4
//     add.s32  %r3, %r2, buffer     4
//
// It is known if only one operation writes the register, for all lanes alike, and computes it from
// registers with known strides. All of this is modulo 2^32.
#include "known.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"

enum { ELEMENT_B = 4, VARYING = PX_VARYING };

struct finder {
    const struct px_layout *layout;
    const struct px_program *program;
    struct px_known *out;
    int32_t *strides; // by register, or VARYING
    uint32_t *writes; // by register
    int mov, add, sub, shl, mul, mad, load, store;
    int load_row, load_same, store_row;
};

static const struct px_register_info *info(const struct finder *f, px_register reg)
{
    return &f->program->registers[f->layout->same[reg]];
}

static bool is_constant(const struct finder *f, px_register reg)
{
    return reg < f->program->register_count && info(f, reg)->fill == PX_FILL_CONSTANT;
}

// ---- constants ----

// The name of the comparison with the operands exchanged.
static const char *exchanged(const char *name)
{
    static const char *const pairs[][2] = {{"setp.lt.u32", "setp.gt.u32"},
                                           {"setp.le.u32", "setp.ge.u32"},
                                           {"setp.lt.s32", "setp.gt.s32"},
                                           {"setp.le.s32", "setp.ge.s32"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (!strcmp(name, pairs[i][0]))
            return pairs[i][1];
    return name;
}

static struct px_known_form comparison(const struct finder *f, const struct px_op *op)
{
    const struct px_known_form none = {.form = -1, .constant = PX_NONE};
    const char *name = f->layout->forms[op->form].name;
    char text[64];
    if (strncmp(name, "setp.", 5) || op->sources != 2 || op->destinations != 1)
        return none;
    const px_register a = op->operands[1], b = op->operands[2];
    const bool first = is_constant(f, a);
    if (first == is_constant(f, b))
        return none;
    snprintf(text, sizeof text, "%s.constant", first ? exchanged(name) : name);
    return (struct px_known_form){.form = kn_form_find(text),
                                  .constant = first ? a : b,
                                  .other = first ? b : a,
                                  .value = (uint32_t)info(f, first ? a : b)->value};
}

// ---- strides ----

static int32_t stride_of_fill(const struct px_register_info *r)
{
    if (r->letter != 'w')
        return VARYING;
    switch (r->fill) {
    case PX_FILL_CONSTANT:
    case PX_FILL_VARIABLE:
    case PX_FILL_WINDOW:
    case PX_FILL_ARGUMENT:
        return 0;
    case PX_FILL_SPECIAL:
        break;
    default:
        return VARYING;
    }
    switch ((enum px_special)r->index) {
    case PX_SPECIAL_TID_X:
        return 1;
    case PX_SPECIAL_TID_Y:
    case PX_SPECIAL_TID_Z:
    case PX_SPECIAL_NTID_X:
    case PX_SPECIAL_NTID_Y:
    case PX_SPECIAL_NTID_Z:
    case PX_SPECIAL_CTAID_X:
    case PX_SPECIAL_CTAID_Y:
    case PX_SPECIAL_CTAID_Z:
    case PX_SPECIAL_NCTAID_X:
    case PX_SPECIAL_NCTAID_Y:
    case PX_SPECIAL_NCTAID_Z:
        return 0;
    default:
        return VARYING;
    }
}

static int32_t stride_of(const struct finder *f, px_register reg)
{
    return reg < f->program->register_count ? f->strides[f->layout->same[reg]] : VARYING;
}

// Strides of this size or more are of no use, and would overflow.
static int32_t small(int64_t stride)
{
    return stride > -(1 << 16) && stride < 1 << 16 ? (int32_t)stride : VARYING;
}

static int32_t product(const struct finder *f, px_register a, px_register b)
{
    const px_register factor = is_constant(f, b) ? b : a, other = is_constant(f, b) ? a : b;
    const int32_t x = stride_of(f, a), y = stride_of(f, b);
    if (!x && !y)
        return 0;
    if (!is_constant(f, factor) || stride_of(f, other) == VARYING)
        return VARYING;
    const int32_t by = small((int32_t)info(f, factor)->value);
    return by == VARYING ? VARYING : small((int64_t)stride_of(f, other) * by);
}

static int32_t sum(int32_t a, int32_t b)
{
    return a == VARYING || b == VARYING ? VARYING : small((int64_t)a + b);
}

static int32_t stride_of_result(const struct finder *f, const struct px_op *op)
{
    const px_register *s = op->operands + 1;
    if (op->form == f->mov)
        return stride_of(f, s[0]);
    if (op->form == f->add)
        return sum(stride_of(f, s[0]), stride_of(f, s[1]));
    if (op->form == f->sub && stride_of(f, s[1]) != VARYING)
        return sum(stride_of(f, s[0]), -stride_of(f, s[1]));
    if (op->form == f->mul)
        return product(f, s[0], s[1]);
    if (op->form == f->mad)
        return sum(product(f, s[0], s[1]), stride_of(f, s[2]));
    if (op->form == f->shl && is_constant(f, s[1]) && info(f, s[1])->value < 16 &&
        stride_of(f, s[0]) != VARYING)
        return small((int64_t)stride_of(f, s[0]) * (1 << info(f, s[1])->value));
    return VARYING;
}

static void find_strides(struct finder *f)
{
    for (uint32_t i = 0; i < f->program->register_count; i++)
        f->strides[i] = stride_of_fill(&f->program->registers[i]);
    for (uint32_t i = 0; i < f->program->op_count; i++)
        for (unsigned n = 0; n < f->program->ops[i].destinations; n++)
            if (f->program->ops[i].operands[n] < f->program->register_count)
                f->writes[f->program->ops[i].operands[n]]++;
    for (uint32_t i = 0; i < f->program->op_count; i++) {
        const struct px_op *op = &f->program->ops[i];
        if (op->code == PX_FORM && op->guard == PX_NONE && op->destinations == 1 &&
            op->operands[0] < f->program->register_count && f->writes[op->operands[0]] == 1 &&
            info(f, op->operands[0])->letter == 'w' &&
            info(f, op->operands[0])->fill == PX_FILL_BY_OPS)
            f->strides[op->operands[0]] = stride_of_result(f, op);
    }
}

static struct px_known_form access(const struct finder *f, const struct px_op *op)
{
    struct px_known_form k = {.form = -1, .constant = PX_NONE};
    if (op->form == f->load && stride_of(f, op->operands[1]) == ELEMENT_B)
        k.form = f->load_row;
    else if (op->form == f->load && stride_of(f, op->operands[1]) == 0)
        k.form = f->load_same;
    else if (op->form == f->store && stride_of(f, op->operands[0]) == ELEMENT_B)
        k.form = f->store_row;
    return k;
}

// ---- all ----

static void note_read(const struct finder *f, px_register reg)
{
    if (reg < f->program->register_count)
        f->out->unread[f->layout->same[reg]] = false;
}

// Registers that the program writes keep their places. Special registers have no place, if only
// skipped operations read them.
static void find_unread(const struct finder *f)
{
    for (uint32_t i = 0; i < f->program->register_count; i++)
        f->out->unread[i] = f->program->registers[i].fill == PX_FILL_CONSTANT ||
                            f->program->registers[i].fill == PX_FILL_SPECIAL;
    for (uint32_t i = 0; i < f->program->op_count; i++) {
        const struct px_op *op = &f->program->ops[i];
        if (f->layout->skips[i])
            continue;
        note_read(f, op->guard);
        note_read(f, op->members);
        for (unsigned n = 0; n < (unsigned)op->destinations + op->sources; n++)
            if (f->out->of[i].form < 0 || op->operands[n] != f->out->of[i].constant)
                note_read(f, op->operands[n]);
    }
}

bool px_known_find(struct px_known *out, const struct px_layout *layout)
{
    const struct px_program *program = layout->program;
    const uint64_t ops = program->op_count + 1ull, registers = program->register_count + 1ull;
    struct finder f = {.layout = layout,
                       .program = program,
                       .out = out,
                       .mov = kn_form_find("mov.32"),
                       .add = kn_form_find("add.32"),
                       .sub = kn_form_find("sub.32"),
                       .shl = kn_form_find("shl.32"),
                       .mul = kn_form_find("mul.lo.32"),
                       .mad = kn_form_find("mad.lo.32"),
                       .load = kn_form_find("ld.shared.32:32"),
                       .store = kn_form_find("st.shared.32:32"),
                       .load_row = kn_form_find("ld.shared.32:32.row"),
                       .load_same = kn_form_find("ld.shared.32:32.same"),
                       .store_row = kn_form_find("st.shared.32:32.row")};
    out->of = dm_alloc(ops * sizeof *out->of + registers * (sizeof *f.strides + sizeof(bool)));
    f.writes = dm_calloc(registers, sizeof *f.writes);
    if (out->of && f.writes) {
        f.strides = out->strides = (int32_t *)(out->of + ops);
        out->unread = (bool *)(f.strides + registers);
        out->register_count = program->register_count;
        find_strides(&f);
        for (uint32_t i = 0; i < program->op_count; i++) {
            const struct px_op *op = &program->ops[i];
            out->of[i] = (struct px_known_form){.form = -1, .constant = PX_NONE};
            if (op->code == PX_FORM)
                out->of[i] = comparison(&f, op);
            if (op->code == PX_FORM && out->of[i].form < 0)
                out->of[i] = access(&f, op);
        }
        find_unread(&f);
        for (uint32_t i = 0; i < program->register_count; i++)
            f.strides[i] = f.strides[layout->same[i]];
    }
    const bool complete = out->of && f.writes;
    dm_free(f.writes);
    return complete;
}

void px_known_free(struct px_known *known)
{
    dm_free(known->of);
}
