// SPDX-License-Identifier: MIT
// Changes products and sums that are to be joined. Recorded: product_sums, random_joins joined_….
#include <stdio.h>
#include <string.h>

#include "join_state.h"
#include "kn_lanes.h"

// Which value the product's register has from now on.
struct kept {
    const char *form;
    px_register value, sign;
    unsigned factor;         // which it replaces, or 2
    enum px_join_reading by; // sums that read it
};
static bool choose_kept(const struct px_join_state *j, const struct px_join_product *product,
                        uint32_t made, struct kept *kept)
{
    unsigned count[3] = {0};
    for (unsigned i = 0; i < product->count; i++)
        count[product->sums[i].reading]++;
    const bool both = product->stays[0] && product->stays[1];
    const struct px_join_number *type = product->type;
    if (count[PX_JOIN_MINUS_SUM]) { // a * b - c: it has -c
        const struct px_join_sum *sum = product->sums;
        while (sum->reading != PX_JOIN_MINUS_SUM)
            sum++;
        const px_register c = px_join_source(&j->l->ops[sum->at], !sum->n);
        const bool stays = c != product->p && px_join_is_kept(j->l, c, made, sum->at);
        *kept = (struct kept){type->negate, c, PX_NONE, 2, PX_JOIN_MINUS_SUM};
        return both && stays && count[PX_JOIN_MINUS_SUM] == 1 && !count[PX_JOIN_MINUS];
    }
    const unsigned factor = product->stays[1] ? 0 : 1; // the other one keeps its value
    *kept = (struct kept){count[PX_JOIN_MINUS] ? type->negate : type->move, product->factor[factor],
                          PX_NONE, factor, count[PX_JOIN_MINUS] ? PX_JOIN_MINUS : PX_JOIN_PLUS};
    return product->stays[!factor] && (both || !count[PX_JOIN_MINUS] || !count[PX_JOIN_PLUS]);
}

static bool join_sum(struct px_join_state *j, const struct px_join_product *product,
                     const struct kept *kept, const struct px_join_sum *sum)
{
    struct px_op *op = &j->l->ops[sum->at];
    px_register fma[3] = {product->factor[0], product->factor[1], px_join_source(op, !sum->n)};
    if (sum->reading == kept->by)
        fma[kept->factor] = product->p;
    if (kept->factor == 1) { // the kept one comes first
        const px_register other = fma[0];
        fma[0] = fma[1];
        fma[1] = other;
    }
    char name[40];
    snprintf(name, sizeof name, "fma.rn%s%s%s", px_join_flushes(op) ? ".ftz" : "",
             strstr(px_join_form_name(op), ".sat") ? ".sat" : "", product->type->name);
    const px_register *list = px_join_operands(j->l, op->operands[0], fma[0], fma[1], fma[2], 4);
    if (list)
        px_join_change(op, name, list, 3);
    return list;
}

bool px_join_alone(struct px_join_state *j, const struct px_join_product *product, uint32_t made)
{
    struct px_lower *l = j->l;
    struct px_op *mul = &l->ops[made];
    struct kept kept;
    if (!choose_kept(j, product, made, &kept))
        return false;
    const bool negates = kept.form == product->type->negate;
    if (negates)
        kept.sign = px_constant(l, product->type->letter, product->type->sign);
    const px_register *list =
        px_join_operands(l, product->p, kept.value, kept.sign, 0, negates ? 3 : 2);
    for (unsigned k = 0; list && k < product->count; k++)
        if (!join_sum(j, product, &kept, &product->sums[k]))
            return false;
    if (!list)
        return false;
    px_join_change(mul, kept.form, list, negates ? 2 : 1);
    j->reads[product->p] -= product->count; // they read a factor or a negative now
    return true;
}

bool px_join_difference(struct px_join_state *j, const struct px_join_product *product,
                        uint32_t made)
{
    struct px_lower *l = j->l;
    const struct px_join_sum *sum = product->sums;
    const struct px_join_number *type = product->type;
    const px_register q = px_join_source(&l->ops[sum->at], !sum->n);
    const uint32_t second = j->facts[q].written;
    if (product->count != 1 || sum->reading != PX_JOIN_MINUS_SUM || q == product->p ||
        !product->stays[0] || !product->stays[1] || second == PX_JOIN_NEVER || second < made ||
        j->facts[q].read || j->reads[q] != 1)
        return false;
    struct px_op *mul = &l->ops[second];
    if (!px_join_is(mul, "mul.") || px_join_type(mul) != type ||
        px_join_flushes(mul) != px_join_flushes(&l->ops[made]))
        return false;
    const unsigned n = !px_join_is_kept(l, px_join_source(mul, 0), made, second);
    const px_register x = px_join_source(mul, n), y = px_join_source(mul, !n);
    if (x == product->p || y == product->p || !px_join_is_kept(l, x, made, second))
        return false;
    const px_register sign = px_constant(l, type->letter, type->sign);
    const px_register *negative = px_join_operands(l, product->p, x, sign, 0, 3),
                      *factors = px_join_operands(l, q, product->p, y, 0, 3);
    const struct kept kept = {.factor = 2, .by = PX_JOIN_MINUS};
    if (!negative || !factors || !join_sum(j, product, &kept, sum))
        return false;
    px_join_change(mul, px_join_form_name(mul), factors, 2);
    px_join_change(&l->ops[made], type->negate, negative, 2);
    j->reads[product->p]--;
    return true;
}

static px_register temporary(const struct px_join_state *j, const struct px_join_product *product)
{
    return px_temporary(j->l, product->type->letter);
}

// Puts "form d, a" or "form d, a, b" before an operation, whose line it gets.
static void put(struct px_join_state *j, size_t before, const char *form,
                const px_register operand[3])
{
    struct px_op op = j->l->ops[before];
    const unsigned sources = operand[2] == PX_NONE ? 1 : 2;
    const px_register *list =
        px_join_operands(j->l, operand[0], operand[1], operand[2], PX_NONE, sources + 1);
    if (!list)
        return;
    op.guard = PX_NONE;
    px_join_change(&op, form, list, sources);
    px_insert(j->l, &j->more, (uint32_t)before, &op);
}

static px_register put_negative(struct px_join_state *j, const struct px_join_product *product,
                                size_t before, px_register reg)
{
    const px_register negative = temporary(j, product);
    const px_register sign = px_constant(j->l, product->type->letter, product->type->sign);
    put(j, before, product->type->negate, (px_register[3]){negative, reg, sign});
    return negative;
}

bool px_join_make_dead(struct px_join_state *j, const struct px_join_product *product,
                       struct px_op *op)
{
    const px_register *dead = px_join_operands(j->l, op->operands[0], product->factor[0], 0, 0, 2);
    if (dead)
        px_join_change(op, product->type->move, dead, 1);
    return dead;
}

bool px_join_with_more(struct px_join_state *j, const struct px_join_product *product,
                       uint32_t made)
{
    const struct px_join_number *type = product->type;
    px_register factor[2] = {product->factor[0], product->factor[1]}, negative = PX_NONE;
    for (unsigned n = 0; n < 2; n++) {
        if (product->stays[n])
            continue;
        factor[n] = temporary(j, product);
        put(j, made, type->move, (px_register[3]){factor[n], product->factor[n], PX_NONE});
    }
    for (unsigned i = 0; i < product->count && !j->l->error; i++) {
        const struct px_join_sum *sum = &product->sums[i];
        struct px_op *op = &j->l->ops[sum->at];
        struct px_join_product with = *product;
        px_register other = px_join_source(op, !sum->n);
        const bool minus = (sum->reading == PX_JOIN_MINUS) != product->negated;
        if (minus && negative == PX_NONE)
            negative = put_negative(j, product, made, factor[0]);
        if (sum->reading == PX_JOIN_MINUS_SUM)
            other = put_negative(j, product, sum->at, other);
        const char *form =
            px_name(j->l, "fma.rn%s%s%s", px_join_flushes(op) ? ".ftz" : "",
                    strstr(px_join_form_name(op), ".sat") ? ".sat" : "", with.type->name);
        const px_register *list = px_join_operands(
            j->l, op->operands[0], minus ? negative : factor[0], factor[1], other, 4);
        if (list)
            px_join_change(op, form, list, 3);
    }
    j->reads[product->p] -= product->count;
    return px_join_make_dead(j, product, &j->l->ops[made]);
}
