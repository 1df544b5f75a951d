// SPDX-License-Identifier: MIT
// An index is the sum of %tid and a product of %ctaid. Both are the same whenever the operation
// runs, so it does not matter when it does, if no other operation writes the register.
#include "index.h"

#include "alloc.h"

enum { MOST = PX_INDICES_MOST - PX_INDICES_SPECIAL };

struct finder {
    const struct px_layout *layout;
    const struct px_program *program;
    uint32_t *writes, *reads; // by register
    uint32_t *writer;         // by register: an operation that writes it
    int add, mul, shl, mad;
};

static const struct px_register_info *info(const struct finder *f, px_register reg)
{
    return &f->program->registers[f->layout->same[reg]];
}

// Whether a register is one of three special registers, from `x` on.
static bool is_special(const struct finder *f, px_register reg, enum px_special x)
{
    return reg < f->program->register_count && info(f, reg)->letter == 'w' &&
           info(f, reg)->fill == PX_FILL_SPECIAL && info(f, reg)->index - x < 3;
}

static bool is_constant(const struct finder *f, px_register reg)
{
    return reg < f->program->register_count && info(f, reg)->fill == PX_FILL_CONSTANT;
}

// Whether only this operation, for all lanes alike, writes its one result of 32 bits.
static bool is_only_writer(const struct finder *f, const struct px_op *op)
{
    if (op->code != PX_FORM || op->guard != PX_NONE || op->destinations != 1)
        return false;
    const px_register reg = op->operands[0];
    return reg < f->program->register_count && f->layout->same[reg] == reg &&
           info(f, reg)->letter == 'w' && info(f, reg)->fill == PX_FILL_BY_OPS &&
           f->writes[reg] == 1;
}

// A block's number times a constant or the extent of a block.
static bool find_factors(const struct finder *f, px_register a, px_register b, struct px_index *out)
{
    const bool first = is_special(f, a, PX_SPECIAL_CTAID_X);
    const px_register number = first ? a : b, factor = first ? b : a;
    if (!is_special(f, number, PX_SPECIAL_CTAID_X))
        return false;
    out->block = info(f, number)->index;
    if (is_special(f, factor, PX_SPECIAL_NTID_X))
        out->extent = info(f, factor)->index;
    else if (is_constant(f, factor))
        out->factor = (uint32_t)info(f, factor)->value;
    else
        return false;
    return true;
}

// The same as the result of an operation.
static bool find_product(const struct finder *f, px_register reg, struct px_index *out)
{
    if (reg >= f->program->register_count || f->writes[reg] != 1)
        return false;
    const struct px_op *op = &f->program->ops[f->writer[reg]];
    const px_register *s = op->operands + 1;
    if (!is_only_writer(f, op))
        return false;
    if (op->form == f->mul)
        return find_factors(f, s[0], s[1], out);
    if (op->form != f->shl || !is_special(f, s[0], PX_SPECIAL_CTAID_X) || !is_constant(f, s[1]) ||
        info(f, s[1])->value > 31)
        return false;
    out->block = info(f, s[0])->index;
    out->factor = UINT32_C(1) << info(f, s[1])->value;
    return true;
}

static bool find_index(const struct finder *f, const struct px_op *op, struct px_index *out)
{
    if (!is_only_writer(f, op))
        return false;
    *out = (struct px_index){.at = op->operands[0], .block = PX_NONE, .extent = PX_NONE};
    const px_register *s = op->operands + 1;
    if (op->form == f->mad && is_special(f, s[2], PX_SPECIAL_TID_X)) {
        out->thread = info(f, s[2])->index;
        return find_factors(f, s[0], s[1], out);
    }
    if (op->form != f->add)
        return false;
    const bool first = is_special(f, s[0], PX_SPECIAL_TID_X);
    if (!is_special(f, s[!first], PX_SPECIAL_TID_X))
        return false;
    out->thread = info(f, s[!first])->index;
    return find_product(f, s[first], out);
}

static void count_operands(struct finder *f)
{
    for (uint32_t i = 0; i < f->program->op_count; i++) {
        const struct px_op *op = &f->program->ops[i];
        for (unsigned n = 0; n < (unsigned)op->destinations + op->sources; n++) {
            const px_register reg = op->operands[n];
            if (reg >= f->program->register_count || f->layout->skips[i])
                continue;
            if (n >= op->destinations) {
                f->reads[reg]++;
                continue;
            }
            f->writes[reg]++;
            f->writer[reg] = i;
        }
        if (op->code == PX_FORM_TOGETHER && op->members < f->program->register_count)
            f->reads[op->members]++;
    }
}

// Skips an operation, and the product that nothing else reads.
static void skip(const struct finder *f, uint32_t i)
{
    const struct px_op *op = &f->program->ops[i];
    struct px_index unused = {0};
    f->layout->skips[i] = true;
    if (op->form != f->add)
        return;
    for (unsigned n = 1; n <= 2; n++)
        if (find_product(f, op->operands[n], &unused) && !--f->reads[op->operands[n]])
            f->layout->skips[f->writer[op->operands[n]]] = true;
}

bool px_indices_find(struct px_decoded *decoded, const struct px_layout *layout)
{
    const struct px_program *program = layout->program;
    const uint64_t registers = program->register_count + 1ull;
    struct finder f = {.layout = layout,
                       .program = program,
                       .add = kn_form_find("add.32"),
                       .mul = kn_form_find("mul.lo.32"),
                       .shl = kn_form_find("shl.32"),
                       .mad = kn_form_find("mad.lo.32")};
    struct px_index index;
    f.writes = dm_calloc(3 * registers, sizeof *f.writes);
    if (!f.writes)
        return false;
    f.reads = f.writes + registers;
    f.writer = f.reads + registers;
    count_operands(&f);
    for (uint32_t i = 0; i < program->op_count && decoded->index_count < MOST; i++) {
        if (layout->skips[i] || !find_index(&f, &program->ops[i], &index))
            continue;
        decoded->indices[decoded->index_count++] = index;
        skip(&f, i);
    }
    dm_free(f.writes);
    return true;
}
