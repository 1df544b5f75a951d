// SPDX-License-Identifier: MIT
// Products, and the sums that read them.
#include <string.h>

#include "join_state.h"
#include "kn_lanes.h"

// Operations from the first sum to the end of the product's life.
enum { FAR = 1000 };

const char *px_join_form_name(const struct px_op *op)
{
    unsigned count;
    return kn_forms(&count)[op->form].name;
}

bool px_join_is(const struct px_op *op, const char *root)
{
    return op->joins && op->guard == PX_NONE && !strncmp(px_join_form_name(op), root, strlen(root));
}

bool px_join_ends_stretch(const struct px_op *op)
{
    return op->code != PX_FORM && op->code != PX_FORM_TOGETHER;
}

bool px_join_unchanged(const struct px_join_state *j, px_register reg, uint32_t since)
{
    return j->facts[reg].written == PX_JOIN_NEVER || j->facts[reg].written < since;
}

const px_register *px_join_operands(struct px_lower *l, px_register d, px_register a, px_register b,
                                    px_register c, unsigned count)
{
    px_register *out = px_arena_array(&l->arena, count, sizeof *out);
    if (!out) {
        px_lower_no_memory(l);
        return NULL;
    }
    const px_register all[4] = {d, a, b, c};
    memcpy(out, all, count * sizeof *out);
    return out;
}

void px_join_change(struct px_op *op, const char *form, const px_register *list, unsigned sources)
{
    op->form = kn_form_find(form);
    op->operands = list;
    op->destinations = 1;
    op->sources = (uint8_t)sources;
    op->joins = false;
}

const struct px_join_number *px_join_type(const struct px_op *op)
{
    static const struct px_join_number types[] = {
        {".f32", 'w', 0x80000000, "mov.32", "xor.32"},
        {".f64", 'l', UINT64_C(0x8000000000000000), "mov.64", "xor.64"},
        {".f16", 'h', 0x8000, "mov.16", "xor.16"},
        {".bf16", 'h', 0x8000, "mov.16", "xor.16"},
        {".f16x2", 'w', 0x80008000, "mov.32", "xor.32"},
        {".bf16x2", 'w', 0x80008000, "mov.32", "xor.32"},
    };
    const char *end = strrchr(px_join_form_name(op), '.');
    size_t i = 0;
    while (strcmp(end, types[i].name) != 0)
        i++;
    return &types[i];
}

bool px_join_is_difference(const struct px_op *op)
{
    return px_join_is(op, "sub.") || px_join_is(op, "subr.");
}

bool px_join_is_sum(const struct px_op *op)
{
    return px_join_is(op, "add.") || px_join_is_difference(op);
}

bool px_join_flushes(const struct px_op *op)
{
    return strstr(px_join_form_name(op), ".ftz");
}

// Adds a sum that reads the product. Returns false if it cannot be joined.
static bool add_sum(const struct px_join_state *j, struct px_join_product *product,
                    const struct px_op *mul, size_t at)
{
    const struct px_op *op = &j->l->ops[at];
    if (product->count == PX_JOIN_SUMS || !px_join_is_sum(op) ||
        px_join_type(op) != product->type || px_join_flushes(op) != px_join_flushes(mul) ||
        px_join_source(op, 0) == px_join_source(op, 1))
        return false;
    const unsigned n = px_join_source(op, 1) == product->p;
    const bool first = px_join_is(op, "subr.") ? n == 1 : n == 0; // it is the minuend
    product->sums[product->count++] = (struct px_join_sum){at, n,
                                                           !px_join_is_difference(op) ? PX_JOIN_PLUS
                                                           : first ? PX_JOIN_MINUS_SUM
                                                                   : PX_JOIN_MINUS};
    return true;
}

bool px_join_writes(const struct px_op *op, px_register reg)
{
    for (unsigned n = 0; n < op->destinations; n++)
        if (op->operands[n] == reg)
            return true;
    return false;
}

static unsigned times_read(const struct px_op *op, px_register reg)
{
    unsigned times = (op->guard != PX_NONE && px_join_writes(op, reg)) + (op->members == reg);
    for (unsigned n = 0; n < op->sources; n++)
        times += px_join_source(op, n) == reg;
    return times;
}

bool px_join_find_readers(const struct px_join_state *j, struct px_join_product *product,
                          const struct px_op *mul, size_t first)
{
    const struct px_lower *l = j->l;
    unsigned found = 0;
    bool changed[2] = {false, false}; // factors, after the last sum that was found
    for (size_t i = first; i < l->op_count && i < first + FAR; i++) {
        const struct px_op *op = &l->ops[i];
        if (i > first && (j->meets[i] || px_join_ends_stretch(op - 1)))
            return false;
        const unsigned times = times_read(op, product->p);
        if (times && (times > 1 || !add_sum(j, product, mul, i)))
            return false;
        for (unsigned n = 0; times && n < 2; n++)
            product->stays[n] = product->stays[n] && !changed[n];
        found += times;
        if (found == j->reads[product->p] || px_join_writes(op, product->p))
            return true;
        for (unsigned n = 0; n < 2; n++)
            changed[n] = changed[n] || px_join_writes(op, product->factor[n]);
    }
    return false;
}

bool px_join_is_kept(const struct px_lower *l, px_register reg, size_t from, size_t to)
{
    while (from < to && !px_join_writes(&l->ops[from], reg))
        from++;
    return from == to;
}
