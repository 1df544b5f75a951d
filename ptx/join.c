// SPDX-License-Identifier: MIT
// Finds products and sums to join. All sums that read the product must be between two branches or
// labels with it, because lanes could come from elsewhere otherwise, and nothing else may read it.
// The negative of a product and copies of it may stand between (recorded: product_sums).
#include "join.h"

#include <string.h>

#include "alloc.h"
#include "join_state.h"

static void count_reads(const struct px_lower *l, uint32_t *reads)
{
    for (size_t i = 0; i < l->op_count; i++) {
        const struct px_op *op = &l->ops[i];
        for (unsigned n = 0; n < op->sources; n++)
            if (px_join_source(op, n) < l->register_count)
                reads[px_join_source(op, n)]++;
        if (op->members < l->register_count)
            reads[op->members]++;
    }
}

// Whether an operation is the negative of a product that nothing else reads. Then the product was
// made by operation *made. The compiler does not join negatives of .bf16x2.
static bool is_negative(const struct px_join_state *j, const struct px_op *op, uint32_t *made)
{
    if (op->code != PX_FORM || op->guard != PX_NONE ||
        strncmp(px_join_form_name(op), "neg.", 4) != 0 || px_join_source(op, 0) >= j->registers)
        return false;
    const px_register p = px_join_source(op, 0);
    const struct px_join_fact *fact = &j->of_negatives[op->operands[0]];
    const bool only = op->operands[0] == p ? !fact->read : j->reads[p] == 1;
    if (fact->written == PX_JOIN_NEVER || fact->written < j->start || !only)
        return false;
    const struct px_op *mul = &j->l->ops[fact->written];
    if (!px_join_is(mul, "mul.") || px_join_flushes(mul) != px_join_flushes(op) ||
        strcmp(px_join_type(mul)->name, strrchr(px_join_form_name(op), '.')) != 0 ||
        !strcmp(px_join_type(mul)->name, ".bf16x2"))
        return false;
    *made = fact->written;
    return true;
}

// Joins the sum `at` and the product that is its source n, or whose negative it is, with all other
// sums that read the product. Returns false if it cannot.
static bool join(struct px_join_state *j, size_t at, unsigned n)
{
    struct px_lower *l = j->l;
    const px_register p = px_join_source(&l->ops[at], n);
    if (p >= j->registers)
        return false;
    const struct px_join_fact *fact = &j->facts[p];
    if (fact->written == PX_JOIN_NEVER || fact->written < j->start || fact->read)
        return false;
    uint32_t made = fact->written;
    struct px_op *const last = &l->ops[made];
    const bool negated = is_negative(j, last, &made);
    struct px_op *mul = &l->ops[made];
    if (!px_join_is(mul, "mul."))
        return false;
    struct px_join_product product = {.p = p, .negated = negated, .type = px_join_type(mul)};
    for (unsigned k = 0; k < 2; k++) {
        product.factor[k] = px_join_source(mul, k);
        product.stays[k] = product.factor[k] != p && product.factor[k] != mul->operands[0] &&
                           px_join_unchanged(j, product.factor[k], made);
    }
    if (negated)
        j->reads[px_join_source(last, 0)]--; // the negative's own
    if (!px_join_find_readers(j, &product, mul, at)) {
        j->reads[px_join_source(last, 0)] += negated;
        return false;
    }
    if (negated)
        return px_join_with_more(j, &product, made) && px_join_make_dead(j, &product, last);
    return px_join_alone(j, &product, made) || px_join_difference(j, &product, made) ||
           px_join_with_more(j, &product, made);
}

// A copy of a product that nothing else reads becomes the product.
static void move_product(struct px_join_state *j, const struct px_op *copy, uint32_t made)
{
    struct px_lower *l = j->l;
    struct px_op *mul = &l->ops[made], *to = &l->ops[copy - l->ops];
    const px_register p = px_join_source(copy, 0), d = copy->operands[0];
    const px_register a = px_join_source(mul, 0), b = px_join_source(mul, 1);
    if (a == p || b == p || !px_join_unchanged(j, a, made) || !px_join_unchanged(j, b, made))
        return;
    const px_register *list = px_join_operands(l, d, a, b, 0, 3),
                      *dead = px_join_operands(l, p, a, 0, 0, 2);
    if (!list || !dead)
        return;
    px_join_change(to, px_join_form_name(mul), list, 2);
    to->joins = true;
    px_join_change(mul, px_join_type(to)->move, dead, 1);
}

// Makes sums that read a copy of a product read the product, if sums alone read either of them.
static void share_product(struct px_join_state *j, size_t at, uint32_t made)
{
    struct px_lower *l = j->l;
    const struct px_op *mul = &l->ops[made];
    const px_register p = px_join_source(&l->ops[at], 0), d = l->ops[at].operands[0];
    struct px_join_product own = {.p = p, .type = px_join_type(mul)},
                           of_copy = {.p = d, .type = own.type};
    j->reads[p]--; // the copy
    const bool all = px_join_find_readers(j, &own, mul, at + 1) &&
                     px_join_find_readers(j, &of_copy, mul, at + 1) &&
                     own.count + of_copy.count <= PX_JOIN_SUMS && of_copy.count &&
                     px_join_is_kept(l, p, at + 1, of_copy.sums[of_copy.count - 1].at);
    for (unsigned i = 0; all && i < of_copy.count; i++) {
        struct px_op *op = &l->ops[of_copy.sums[i].at];
        const unsigned n = of_copy.sums[i].n;
        const px_register *list = px_join_operands(
            l, op->operands[0], n ? px_join_source(op, 0) : p, n ? p : px_join_source(op, 1), 0, 3);
        if (!list)
            return;
        op->operands = list;
        j->reads[p]++;
        j->reads[d]--;
    }
    const px_register *dead = px_join_operands(l, d, px_join_source(mul, 0), 0, 0, 2);
    if (all && dead)
        px_join_change(&l->ops[at], own.type->move, dead, 1);
    else
        j->reads[p]++;
}

static void follow_copy(struct px_join_state *j, size_t at)
{
    const struct px_op *copy = &j->l->ops[at];
    if (copy->code != PX_FORM || copy->guard != PX_NONE || copy->sources != 1 ||
        strncmp(px_join_form_name(copy), "mov.", 4) != 0)
        return;
    const px_register p = px_join_source(copy, 0), d = copy->operands[0];
    if (p >= j->registers || d == p || j->meets[at + 1])
        return;
    const struct px_join_fact *fact = &j->facts[p];
    if (fact->written == PX_JOIN_NEVER || fact->written < j->start || fact->read ||
        !px_join_is(&j->l->ops[fact->written], "mul."))
        return;
    if (j->reads[p] == 1)
        move_product(j, copy, fact->written);
    else
        share_product(j, at, fact->written);
}

static void note_op(struct px_join_state *j, size_t i)
{
    const struct px_op *op = &j->l->ops[i];
    if (op->code == PX_FORM && op->destinations == 1 && op->sources == 1 &&
        op->operands[0] < j->registers && px_join_source(op, 0) < j->registers)
        j->of_negatives[op->operands[0]] = j->facts[px_join_source(op, 0)];
    for (unsigned n = 0; n < op->sources; n++)
        if (px_join_source(op, n) < j->registers)
            j->facts[px_join_source(op, n)].read = true;
    for (unsigned n = 0; n < op->destinations; n++)
        if (op->operands[n] < j->registers)
            j->facts[op->operands[n]] =
                (struct px_join_fact){(uint32_t)i, op->guard != PX_NONE || op->code != PX_FORM};
}

static void join_all(struct px_join_state *j)
{
    struct px_lower *l = j->l;
    for (size_t i = 0; i < l->op_count && !l->error; i++) {
        if (j->meets[i] || !i || px_join_ends_stretch(&l->ops[i - 1]))
            j->start = (uint32_t)i;
        follow_copy(j, i);
        if (px_join_is_sum(&l->ops[i]))
            (void)(join(j, i, l->ops[i].exchanged) || join(j, i, !l->ops[i].exchanged));
        note_op(j, i);
    }
}

// Whether there are sums. The constants that differences need are made before registers are
// counted.
static bool find_sums(struct px_lower *l)
{
    bool found = false;
    for (size_t i = 0; i < l->op_count; i++) {
        const struct px_op *op = &l->ops[i];
        if (px_join_is_difference(op))
            px_constant(l, px_join_type(op)->letter, px_join_type(op)->sign);
        found = found || px_join_is_sum(op);
    }
    return found;
}

void px_join_products(struct px_lower *l, bool **meets)
{
    if (!find_sums(l))
        return;
    const size_t registers = l->register_count;
    struct px_join_state j = {.l = l,
                              .meets = *meets,
                              .registers = registers,
                              .facts = dm_calloc(registers + 1, sizeof *j.facts),
                              .of_negatives = dm_calloc(registers + 1, sizeof *j.of_negatives),
                              .reads = dm_calloc(registers + 1, sizeof *j.reads)};
    if (!j.facts || !j.of_negatives || !j.reads)
        px_lower_no_memory(l);
    for (size_t r = 0; !l->error && r < registers; r++)
        j.facts[r].written = j.of_negatives[r].written = PX_JOIN_NEVER;
    if (!l->error) {
        count_reads(l, j.reads);
        join_all(&j);
    }
    px_insert_all(l, &j.more, meets);
    dm_free(j.reads);
    dm_free(j.of_negatives);
    dm_free(j.facts);
}
