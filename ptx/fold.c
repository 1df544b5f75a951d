// SPDX-License-Identifier: MIT
// Computes approximate functions of constants.
#include "fold.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "kn_lanes.h"

enum { SIGN = 0x80000000, EXPONENT = 0x7f800000, NAN_F32 = 0x7fffffff };

// The value of a register, if the constant was written in this stretch, the operations between two
// branches or labels.
struct value {
    uint32_t stretch; // counted from 1
    uint32_t bits;
};

struct folding {
    struct px_lower *l;
    struct value *values; // by register
    size_t count;         // of registers, when it began
    uint32_t stretch;
};

static const char *form_name(const struct px_op *op)
{
    unsigned count;
    return kn_forms(&count)[op->form].name;
}

static bool is_constant(const struct folding *f, px_register reg, uint32_t *bits)
{
    if (reg >= f->l->register_count)
        return false;
    const struct px_register_info *info = &f->l->registers[reg];
    const bool written = reg < f->count && f->values[reg].stretch == f->stretch;
    if (info->fill == PX_FILL_CONSTANT)
        *bits = (uint32_t)info->value;
    else if (written)
        *bits = f->values[reg].bits;
    return written || info->fill == PX_FILL_CONSTANT;
}

static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t flushed(uint32_t bits)
{
    return bits & EXPONENT ? bits : bits & SIGN;
}

static uint32_t rounded(double value)
{
    const float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return isnan(narrow) ? NAN_F32 : bits;
}

static double reciprocal(double x)
{
    return 1 / x;
}

static double reciprocal_root(double x)
{
    return 1 / sqrt(x);
}

static const struct {
    const char *name; // of the form
    double (*function)(double);
    bool flushes; // subnormal operands and results
} functions[] = {
    {"sin.approx.f32", sin, true},
    {"sin.approx.ftz.f32", sin, true},
    {"cos.approx.f32", cos, true},
    {"cos.approx.ftz.f32", cos, true},
    {"ex2.approx.f32", exp2, false},
    {"ex2.approx.ftz.f32", exp2, true},
    {"lg2.approx.f32", log2, false},
    {"lg2.approx.ftz.f32", log2, true},
    {"rcp.approx.f32", reciprocal, false},
    {"rcp.approx.ftz.f32", reciprocal, true},
    {"rsqrt.approx.f32", reciprocal_root, false},
    {"rsqrt.approx.ftz.f32", reciprocal_root, true},
    {"sqrt.approx.f32", sqrt, false},
    {"sqrt.approx.ftz.f32", sqrt, true},
};

static uint32_t apply(double (*function)(double), uint32_t bits, bool flushes)
{
    const uint32_t y = rounded(function((double)as_float(flushes ? flushed(bits) : bits)));
    return flushes ? flushed(y) : y;
}

// Makes `form` of the operation, with a constant as its last source.
static void replace(struct folding *f, struct px_op *op, const char *form, unsigned sources,
                    uint32_t constant)
{
    const px_register c = px_constant(f->l, 'w', constant);
    px_register *list = px_arena_array(&f->l->arena, op->destinations + op->sources, sizeof *list);
    if (!list)
        px_lower_no_memory(f->l);
    if (f->l->error)
        return;
    memcpy(list, op->operands, (op->destinations + op->sources) * sizeof *list);
    list[op->destinations + sources - 1] = c;
    op->operands = list;
    op->sources = (uint8_t)sources;
    op->form = kn_form_find(form);
    op->joins = false;
}

static void fold_function(struct folding *f, struct px_op *op)
{
    uint32_t bits;
    if (op->sources != 1 || !is_constant(f, op->operands[op->destinations], &bits))
        return;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(form_name(op), functions[i].name)) {
            replace(f, op, "mov.32", 1, apply(functions[i].function, bits, functions[i].flushes));
            return;
        }
}

// The two divisions differ for divisors so large that the reciprocal is subnormal, and scale then.
// A subnormal dividend is flushed only if it is no constant.
static void fold_division(struct folding *f, struct px_op *op)
{
    const char *name = form_name(op);
    const bool approx = !strncmp(name, "div.approx", 10), ftz = strstr(name, ".ftz") != NULL;
    uint32_t bits, dividend;
    if (op->sources != 2 || (!approx && strncmp(name, "div.full", 8) != 0) ||
        !is_constant(f, op->operands[op->destinations + 1], &bits))
        return;
    const uint32_t exponent = (bits & EXPONENT) >> 23;
    if ((!approx && (exponent == 253 || exponent == 254)) || (!ftz && !exponent && bits & ~SIGN))
        return;
    const uint32_t by = apply(reciprocal, bits, true);
    if (!is_constant(f, op->operands[op->destinations], &dividend)) {
        replace(f, op, ftz ? "mul.rn.ftz.f32" : "mul.rn.f32", 2, by);
        return;
    }
    const uint32_t product = rounded((double)as_float(dividend) * (double)as_float(by));
    replace(f, op, "mov.32", 1, ftz ? flushed(product) : product);
}

static void note_op(struct folding *f, const struct px_op *op)
{
    uint32_t bits = 0;
    const bool moves = op->code == PX_FORM && op->guard == PX_NONE && op->sources == 1 &&
                       op->destinations == 1 && !strcmp(form_name(op), "mov.32") &&
                       is_constant(f, op->operands[1], &bits);
    for (unsigned n = 0; n < op->destinations; n++)
        if (op->operands[n] < f->count)
            f->values[op->operands[n]] = (struct value){moves ? f->stretch : 0, bits};
}

void px_fold_constants(struct px_lower *l, const bool *meets)
{
    struct folding f = {.l = l, .count = l->register_count};
    f.values = dm_calloc(f.count + 1, sizeof *f.values);
    if (!f.values)
        px_lower_no_memory(l);
    for (size_t i = 0; !l->error && i < l->op_count; i++) {
        struct px_op *op = &l->ops[i];
        const bool is_form = op->code == PX_FORM;
        if (meets[i] || !i ||
            (l->ops[i - 1].code != PX_FORM && l->ops[i - 1].code != PX_FORM_TOGETHER))
            f.stretch++;
        if (is_form)
            fold_function(&f, op);
        if (is_form)
            fold_division(&f, op);
        note_op(&f, op);
    }
    dm_free(f.values);
}
