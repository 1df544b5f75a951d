// SPDX-License-Identifier: MIT
// Joins products and sums.
//
//      mul %p, %a, %b            mov %p, %a             the register of the product has a factor
//      …                  ──▶    …
//      add %d, %p, %c            fma %d, %p, %b, %c     or, for a difference, a negative
//      …                         …
//      add %e, %p, %f            fma %e, %p, %b, %f
//
// All sums that read the product must be between two branches or labels with it, because lanes
// could come from elsewhere otherwise, and nothing else may read it.
#include "join.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "join_insert.h"
#include "kn_lanes.h"

#define NEVER UINT32_MAX
enum {
    SUMS = 8,   // of one product
    FAR = 1000, // operations from the first sum to the end of the product's life
};

// Facts about a register. Those of an earlier stretch do not count.
struct fact {
    uint32_t written; // the operation that wrote it last, or NEVER
    bool read;        // since then
};

struct joins {
    struct px_lower *l;
    const bool *meets;
    struct fact *facts;        // by register
    struct fact *of_negatives; // by register that has a negative: of its source then
    uint32_t *reads;           // by register: how many operands it is
    size_t registers;          // of these; operations that are changed may have more
    uint32_t start;            // of the stretch, the operations between two branches or labels
    struct px_insertions more;
};

static const char *form_name(const struct px_op *op)
{
    unsigned count;
    return kn_forms(&count)[op->form].name;
}

static bool is_form(const struct px_op *op, const char *root)
{
    return op->joins && op->guard == PX_NONE && !strncmp(form_name(op), root, strlen(root));
}

static bool ends_stretch(const struct px_op *op)
{
    return op->code != PX_FORM && op->code != PX_FORM_TOGETHER;
}

static px_register source(const struct px_op *op, unsigned n)
{
    return op->operands[op->destinations + n];
}

static void count_reads(const struct px_lower *l, uint32_t *reads)
{
    for (size_t i = 0; i < l->op_count; i++) {
        const struct px_op *op = &l->ops[i];
        for (unsigned n = 0; n < op->sources; n++)
            if (source(op, n) < l->register_count)
                reads[source(op, n)]++;
        if (op->members < l->register_count)
            reads[op->members]++;
    }
}

// ---- joining ----

static bool unchanged(const struct joins *j, px_register reg, uint32_t since)
{
    return j->facts[reg].written == NEVER || j->facts[reg].written < since;
}

static const px_register *operands(struct px_lower *l, px_register d, px_register a, px_register b,
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

static void change(struct px_op *op, const char *form, const px_register *list, unsigned sources)
{
    op->form = kn_form_find(form);
    op->operands = list;
    op->destinations = 1;
    op->sources = (uint8_t)sources;
    op->joins = false;
}

// The parts of names and constants of products and sums of a type.
struct joined_type {
    const char *name; // the end of its name
    char letter;      // of its registers
    uint64_t sign;    // the bits that make a negative
    const char *move, *negate;
};

// Precondition: the operation is marked to be joined.
static const struct joined_type *type_of(const struct px_op *op)
{
    static const struct joined_type types[] = {
        {".f32", 'w', 0x80000000, "mov.32", "xor.32"},
        {".f64", 'l', UINT64_C(0x8000000000000000), "mov.64", "xor.64"},
        {".f16", 'h', 0x8000, "mov.16", "xor.16"},
        {".bf16", 'h', 0x8000, "mov.16", "xor.16"},
        {".f16x2", 'w', 0x80008000, "mov.32", "xor.32"},
        {".bf16x2", 'w', 0x80008000, "mov.32", "xor.32"},
    };
    const char *end = strrchr(form_name(op), '.');
    size_t i = 0;
    while (strcmp(end, types[i].name) != 0)
        i++;
    return &types[i];
}

// How a sum reads a product p.
enum reading {
    PLUS,      // p + c
    MINUS_SUM, // p - c
    MINUS,     // c - p
};

struct sum {
    size_t at;
    unsigned n; // the source that is the product
    enum reading reading;
};

// A product with the sums that read it, and whether its factors keep their values until the last of
// them.
struct product {
    px_register p, factor[2];
    bool stays[2];
    bool negated; // p is the negative of the product
    const struct joined_type *type;
    struct sum sums[SUMS];
    unsigned count;
};

static bool is_difference(const struct px_op *op)
{
    return is_form(op, "sub.") || is_form(op, "subr.");
}

static bool is_sum(const struct px_op *op)
{
    return is_form(op, "add.") || is_difference(op);
}

static bool flushes(const struct px_op *op)
{
    return strstr(form_name(op), ".ftz");
}

// Adds a sum that reads the product. Returns false if it cannot be joined.
static bool add_sum(const struct joins *j, struct product *product, const struct px_op *mul,
                    size_t at)
{
    const struct px_op *op = &j->l->ops[at];
    if (product->count == SUMS || !is_sum(op) || type_of(op) != product->type ||
        flushes(op) != flushes(mul) || source(op, 0) == source(op, 1))
        return false;
    const unsigned n = source(op, 1) == product->p;
    const bool first = is_form(op, "subr.") ? n == 1 : n == 0; // it is the minuend
    product->sums[product->count++] = (struct sum){at, n,
                                                   !is_difference(op) ? PLUS
                                                   : first            ? MINUS_SUM
                                                                      : MINUS};
    return true;
}

static bool writes(const struct px_op *op, px_register reg)
{
    for (unsigned n = 0; n < op->destinations; n++)
        if (op->operands[n] == reg)
            return true;
    return false;
}

static unsigned times_read(const struct px_op *op, px_register reg)
{
    unsigned times = (op->guard != PX_NONE && writes(op, reg)) + (op->members == reg);
    for (unsigned n = 0; n < op->sources; n++)
        times += source(op, n) == reg;
    return times;
}

// Finds the sums that read the product from the first one on. Returns false if something else may
// read it.
static bool find_readers(const struct joins *j, struct product *product, const struct px_op *mul,
                         size_t first)
{
    const struct px_lower *l = j->l;
    unsigned found = 0;
    bool changed[2] = {false, false}; // factors, after the last sum that was found
    for (size_t i = first; i < l->op_count && i < first + FAR; i++) {
        const struct px_op *op = &l->ops[i];
        if (i > first && (j->meets[i] || ends_stretch(op - 1)))
            return false;
        const unsigned times = times_read(op, product->p);
        if (times && (times > 1 || !add_sum(j, product, mul, i)))
            return false;
        for (unsigned n = 0; times && n < 2; n++)
            product->stays[n] = product->stays[n] && !changed[n];
        found += times;
        if (found == j->reads[product->p] || writes(op, product->p))
            return true;
        for (unsigned n = 0; n < 2; n++)
            changed[n] = changed[n] || writes(op, product->factor[n]);
    }
    return false;
}

// Which value the product's register has from now on.
struct kept {
    const char *form;
    px_register value, sign;
    unsigned factor; // which it replaces, or 2
    enum reading by; // sums that read it
};

// Whether no operation from `from` to before `to` writes the register.
static bool is_kept(const struct px_lower *l, px_register reg, size_t from, size_t to)
{
    while (from < to && !writes(&l->ops[from], reg))
        from++;
    return from == to;
}

static bool choose_kept(const struct joins *j, const struct product *product, uint32_t made,
                        struct kept *kept)
{
    unsigned count[3] = {0};
    for (unsigned i = 0; i < product->count; i++)
        count[product->sums[i].reading]++;
    const bool both = product->stays[0] && product->stays[1];
    const struct joined_type *type = product->type;
    if (count[MINUS_SUM]) { // a * b - c: it has -c
        const struct sum *sum = product->sums;
        while (sum->reading != MINUS_SUM)
            sum++;
        const px_register c = source(&j->l->ops[sum->at], !sum->n);
        const bool stays = c != product->p && is_kept(j->l, c, made, sum->at);
        *kept = (struct kept){type->negate, c, PX_NONE, 2, MINUS_SUM};
        return both && stays && count[MINUS_SUM] == 1 && !count[MINUS];
    }
    const unsigned factor = product->stays[1] ? 0 : 1; // the other one keeps its value
    *kept = (struct kept){count[MINUS] ? type->negate : type->move, product->factor[factor],
                          PX_NONE, factor, count[MINUS] ? MINUS : PLUS};
    return product->stays[!factor] && (both || !count[MINUS] || !count[PLUS]);
}

static bool join_sum(struct joins *j, const struct product *product, const struct kept *kept,
                     const struct sum *sum)
{
    struct px_op *op = &j->l->ops[sum->at];
    px_register fma[3] = {product->factor[0], product->factor[1], source(op, !sum->n)};
    if (sum->reading == kept->by)
        fma[kept->factor] = product->p;
    if (kept->factor == 1) { // the kept one comes first
        const px_register other = fma[0];
        fma[0] = fma[1];
        fma[1] = other;
    }
    char name[40];
    snprintf(name, sizeof name, "fma.rn%s%s%s", flushes(op) ? ".ftz" : "",
             strstr(form_name(op), ".sat") ? ".sat" : "", product->type->name);
    const px_register *list = operands(j->l, op->operands[0], fma[0], fma[1], fma[2], 4);
    if (list)
        change(op, name, list, 3);
    return list;
}

// Joins the difference of two products: a * b - x * y becomes fma(a, b, -x * y).
//
//      mul %p, %a, %b            xor %p, %x, sign
//      mul %q, %x, %y     ──▶    mul %q, %p, %y
//      sub %d, %p, %q            fma %d, %a, %b, %q
static bool join_difference(struct joins *j, const struct product *product, uint32_t made)
{
    struct px_lower *l = j->l;
    const struct sum *sum = product->sums;
    const struct joined_type *type = product->type;
    const px_register q = source(&l->ops[sum->at], !sum->n);
    const uint32_t second = j->facts[q].written;
    if (product->count != 1 || sum->reading != MINUS_SUM || q == product->p || !product->stays[0] ||
        !product->stays[1] || second == NEVER || second < made || j->facts[q].read ||
        j->reads[q] != 1)
        return false;
    struct px_op *mul = &l->ops[second];
    if (!is_form(mul, "mul.") || type_of(mul) != type || flushes(mul) != flushes(&l->ops[made]))
        return false;
    const unsigned n = !is_kept(l, source(mul, 0), made, second);
    const px_register x = source(mul, n), y = source(mul, !n);
    if (x == product->p || y == product->p || !is_kept(l, x, made, second))
        return false;
    const px_register sign = px_constant(l, type->letter, type->sign);
    const px_register *negative = operands(l, product->p, x, sign, 0, 3),
                      *factors = operands(l, q, product->p, y, 0, 3);
    const struct kept kept = {.factor = 2, .by = MINUS};
    if (!negative || !factors || !join_sum(j, product, &kept, sum))
        return false;
    change(mul, form_name(mul), factors, 2);
    change(&l->ops[made], type->negate, negative, 2);
    j->reads[product->p]--;
    return true;
}

static px_register temporary(const struct joins *j, const struct product *product)
{
    return px_temporary(j->l, product->type->letter);
}

// Puts "form d, a" or "form d, a, b" before an operation, whose line it gets.
static void put(struct joins *j, size_t before, const char *form, const px_register operand[3])
{
    struct px_op op = j->l->ops[before];
    const unsigned sources = operand[2] == PX_NONE ? 1 : 2;
    const px_register *list =
        operands(j->l, operand[0], operand[1], operand[2], PX_NONE, sources + 1);
    if (!list)
        return;
    op.guard = PX_NONE;
    change(&op, form, list, sources);
    px_insert(j->l, &j->more, (uint32_t)before, &op);
}

static px_register put_negative(struct joins *j, const struct product *product, size_t before,
                                px_register reg)
{
    const px_register negative = temporary(j, product);
    const px_register sign = px_constant(j->l, product->type->letter, product->type->sign);
    put(j, before, product->type->negate, (px_register[3]){negative, reg, sign});
    return negative;
}

// Makes an operation a copy that nothing reads.
static bool make_dead(struct joins *j, const struct product *product, struct px_op *op)
{
    const px_register *dead = operands(j->l, op->operands[0], product->factor[0], 0, 0, 2);
    if (dead)
        change(op, product->type->move, dead, 1);
    return dead;
}

// Joins any sums and a product with more operations: where the product was made, copies of factors
// that change, and a negative one; before a sum that subtracts, the negative of what it subtracts.
//
//      mul %p, %a, %b            mov %t, %a
//      mov %a, …          ──▶    mov %a, …
//      sub %d, %p, %c            xor %n, %c, sign
//                                fma %d, %t, %b, %n
static bool join_with_more(struct joins *j, const struct product *product, uint32_t made)
{
    const struct joined_type *type = product->type;
    px_register factor[2] = {product->factor[0], product->factor[1]}, negative = PX_NONE;
    for (unsigned n = 0; n < 2; n++) {
        if (product->stays[n])
            continue;
        factor[n] = temporary(j, product);
        put(j, made, type->move, (px_register[3]){factor[n], product->factor[n], PX_NONE});
    }
    for (unsigned i = 0; i < product->count && !j->l->error; i++) {
        const struct sum *sum = &product->sums[i];
        struct px_op *op = &j->l->ops[sum->at];
        struct product with = *product;
        px_register other = source(op, !sum->n);
        const bool minus = (sum->reading == MINUS) != product->negated;
        if (minus && negative == PX_NONE)
            negative = put_negative(j, product, made, factor[0]);
        if (sum->reading == MINUS_SUM)
            other = put_negative(j, product, sum->at, other);
        const char *form = px_name(j->l, "fma.rn%s%s%s", flushes(op) ? ".ftz" : "",
                                   strstr(form_name(op), ".sat") ? ".sat" : "", with.type->name);
        const px_register *list =
            operands(j->l, op->operands[0], minus ? negative : factor[0], factor[1], other, 4);
        if (list)
            change(op, form, list, 3);
    }
    j->reads[product->p] -= product->count;
    return make_dead(j, product, &j->l->ops[made]);
}

// Whether an operation is the negative of a product that nothing else reads. Then the product was
// made by operation *made.
static bool is_negative(const struct joins *j, const struct px_op *op, uint32_t *made)
{
    if (op->code != PX_FORM || op->guard != PX_NONE || strncmp(form_name(op), "neg.", 4) != 0 ||
        source(op, 0) >= j->registers)
        return false;
    const px_register p = source(op, 0);
    const struct fact *fact = &j->of_negatives[op->operands[0]];
    const bool only = op->operands[0] == p ? !fact->read : j->reads[p] == 1;
    if (fact->written == NEVER || fact->written < j->start || !only)
        return false;
    const struct px_op *mul = &j->l->ops[fact->written];
    if (!is_form(mul, "mul.") || strcmp(type_of(mul)->name, strrchr(form_name(op), '.')) != 0 ||
        !strcmp(type_of(mul)->name, ".bf16x2"))
        return false;
    *made = fact->written;
    return true;
}

// Joins the sum `at` and the product that is its source n, or whose negative it is, with all other
// sums that read the product. Returns false if it cannot.
static bool join(struct joins *j, size_t at, unsigned n)
{
    struct px_lower *l = j->l;
    const px_register p = source(&l->ops[at], n);
    if (p >= j->registers)
        return false;
    const struct fact *fact = &j->facts[p];
    if (fact->written == NEVER || fact->written < j->start || fact->read)
        return false;
    uint32_t made = fact->written;
    struct px_op *const last = &l->ops[made];
    const bool negated = is_negative(j, last, &made);
    struct px_op *mul = &l->ops[made];
    if (!is_form(mul, "mul."))
        return false;
    struct product product = {.p = p, .negated = negated, .type = type_of(mul)};
    for (unsigned k = 0; k < 2; k++) {
        product.factor[k] = source(mul, k);
        product.stays[k] = product.factor[k] != p && product.factor[k] != mul->operands[0] &&
                           unchanged(j, product.factor[k], made);
    }
    struct kept kept;
    if (negated)
        j->reads[source(last, 0)]--; // the negative's own
    if (!find_readers(j, &product, mul, at)) {
        j->reads[source(last, 0)] += negated;
        return false;
    }
    if (negated)
        return join_with_more(j, &product, made) && make_dead(j, &product, last);
    if (!choose_kept(j, &product, made, &kept))
        return join_difference(j, &product, made) || join_with_more(j, &product, made);
    const bool negates = kept.form == product.type->negate;
    if (negates)
        kept.sign = px_constant(l, product.type->letter, product.type->sign);
    const px_register *list = operands(l, p, kept.value, kept.sign, 0, negates ? 3 : 2);
    for (unsigned k = 0; list && k < product.count; k++)
        if (!join_sum(j, &product, &kept, &product.sums[k]))
            return false;
    if (!list)
        return false;
    change(mul, kept.form, list, negates ? 2 : 1);
    j->reads[p] -= product.count; // they read a factor or a negative now
    return true;
}

// A copy of a product that nothing else reads becomes the product.
static void move_product(struct joins *j, const struct px_op *copy, uint32_t made)
{
    struct px_lower *l = j->l;
    struct px_op *mul = &l->ops[made], *to = &l->ops[copy - l->ops];
    const px_register p = source(copy, 0), d = copy->operands[0];
    const px_register a = source(mul, 0), b = source(mul, 1);
    if (a == p || b == p || !unchanged(j, a, made) || !unchanged(j, b, made))
        return;
    const px_register *list = operands(l, d, a, b, 0, 3), *dead = operands(l, p, a, 0, 0, 2);
    if (!list || !dead)
        return;
    change(to, form_name(mul), list, 2);
    to->joins = true;
    change(mul, type_of(to)->move, dead, 1);
}

// Makes sums that read a copy of a product read the product, if sums alone read either of them.
static void share_product(struct joins *j, size_t at, uint32_t made)
{
    struct px_lower *l = j->l;
    const struct px_op *mul = &l->ops[made];
    const px_register p = source(&l->ops[at], 0), d = l->ops[at].operands[0];
    struct product own = {.p = p, .type = type_of(mul)}, of_copy = {.p = d, .type = own.type};
    j->reads[p]--; // the copy
    const bool all = find_readers(j, &own, mul, at + 1) && find_readers(j, &of_copy, mul, at + 1) &&
                     own.count + of_copy.count <= SUMS && of_copy.count &&
                     is_kept(l, p, at + 1, of_copy.sums[of_copy.count - 1].at);
    for (unsigned i = 0; all && i < of_copy.count; i++) {
        struct px_op *op = &l->ops[of_copy.sums[i].at];
        const unsigned n = of_copy.sums[i].n;
        const px_register *list =
            operands(l, op->operands[0], n ? source(op, 0) : p, n ? p : source(op, 1), 0, 3);
        if (!list)
            return;
        op->operands = list;
        j->reads[p]++;
        j->reads[d]--;
    }
    const px_register *dead = operands(l, d, source(mul, 0), 0, 0, 2);
    if (all && dead)
        change(&l->ops[at], own.type->move, dead, 1);
    else
        j->reads[p]++;
}

static void follow_copy(struct joins *j, size_t at)
{
    const struct px_op *copy = &j->l->ops[at];
    if (copy->code != PX_FORM || copy->guard != PX_NONE || copy->sources != 1 ||
        strncmp(form_name(copy), "mov.", 4) != 0)
        return;
    const px_register p = source(copy, 0), d = copy->operands[0];
    if (p >= j->registers || d == p || j->meets[at + 1])
        return;
    const struct fact *fact = &j->facts[p];
    if (fact->written == NEVER || fact->written < j->start || fact->read ||
        !is_form(&j->l->ops[fact->written], "mul."))
        return;
    if (j->reads[p] == 1)
        move_product(j, copy, fact->written);
    else
        share_product(j, at, fact->written);
}

static void note_op(struct joins *j, size_t i)
{
    const struct px_op *op = &j->l->ops[i];
    if (op->code == PX_FORM && op->destinations == 1 && op->sources == 1 &&
        op->operands[0] < j->registers && source(op, 0) < j->registers)
        j->of_negatives[op->operands[0]] = j->facts[source(op, 0)];
    for (unsigned n = 0; n < op->sources; n++)
        if (source(op, n) < j->registers)
            j->facts[source(op, n)].read = true;
    for (unsigned n = 0; n < op->destinations; n++)
        if (op->operands[n] < j->registers)
            j->facts[op->operands[n]] =
                (struct fact){(uint32_t)i, op->guard != PX_NONE || op->code != PX_FORM};
}

static void join_all(struct joins *j)
{
    struct px_lower *l = j->l;
    for (size_t i = 0; i < l->op_count && !l->error; i++) {
        if (j->meets[i] || !i || ends_stretch(&l->ops[i - 1]))
            j->start = (uint32_t)i;
        follow_copy(j, i);
        if (is_sum(&l->ops[i]))
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
        if (is_difference(op))
            px_constant(l, type_of(op)->letter, type_of(op)->sign);
        found = found || is_sum(op);
    }
    return found;
}

void px_join_products(struct px_lower *l, bool **meets)
{
    if (!find_sums(l))
        return;
    const size_t registers = l->register_count;
    struct joins j = {.l = l,
                      .meets = *meets,
                      .registers = registers,
                      .facts = dm_calloc(registers + 1, sizeof *j.facts),
                      .of_negatives = dm_calloc(registers + 1, sizeof *j.of_negatives),
                      .reads = dm_calloc(registers + 1, sizeof *j.reads)};
    if (!j.facts || !j.of_negatives || !j.reads)
        px_lower_no_memory(l);
    for (size_t r = 0; !l->error && r < registers; r++)
        j.facts[r].written = j.of_negatives[r].written = NEVER;
    if (!l->error) {
        count_reads(l, j.reads);
        join_all(&j);
    }
    px_insert_all(l, &j.more, meets);
    dm_free(j.reads);
    dm_free(j.of_negatives);
    dm_free(j.facts);
}
