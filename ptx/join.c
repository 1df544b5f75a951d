// SPDX-License-Identifier: MIT
// Joins products and sums.
//
//      mul %p, %a, %b            mov %p, %a             the register of the product has a factor
//      …                  ──▶    …
//      add %d, %p, %c            fma %d, %p, %b, %c     or, for a difference, its negative
//
// Both must be between two branches or labels, because lanes could come from elsewhere otherwise.
#include "join.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "kn_lanes.h"

#define NEVER UINT32_MAX

// Facts about a register. Those of an earlier stretch do not count.
struct fact {
    uint32_t written; // the operation that wrote it last, or NEVER
    bool read;        // since then
};

struct joins {
    struct px_lower *l;
    struct fact *facts; // by register
    bool *last;         // by operation: nothing reads source 0 or 1 later (two each)
    uint32_t start;     // of the stretch, the operations between two branches or labels
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

// ---- which values nothing reads later ----

// How a register is used next, in the stretch with this number.
struct next {
    uint32_t stretch;
    char use; // 'r' read, 'w' written
};

// `reads` counts all reads of a register.
static void note_last(struct joins *j, const bool *meets, struct next *next, const uint32_t *reads)
{
    struct px_lower *l = j->l;
    const size_t registers = l->register_count;
    uint32_t stretch = 1;
    for (size_t i = l->op_count; i-- > 0;) {
        const struct px_op *op = &l->ops[i];
        stretch += ends_stretch(op) || (i + 1 < l->op_count && meets[i + 1]);
        const struct next written = {stretch, 'w'}, read = {stretch, 'r'};
        for (unsigned n = 0; n < 2 && op->joins; n++) {
            const px_register reg = source(op, n);
            const char use = next[reg].stretch == stretch ? next[reg].use : 0;
            const bool rewritten = use == 'w' || op->operands[0] == reg;
            j->last[2 * i + n] = rewritten || (!use && reads[reg] == 1);
        }
        for (unsigned n = 0; n < op->destinations; n++)
            if (op->operands[n] < registers && op->guard == PX_NONE)
                next[op->operands[n]] = written;
        for (unsigned n = 0; n < op->sources; n++)
            if (source(op, n) < registers)
                next[source(op, n)] = read;
        if (op->guard < registers) {
            next[op->guard] = read;
            for (unsigned n = 0; n < op->destinations; n++) // a false guard keeps the value
                if (op->operands[n] < registers)
                    next[op->operands[n]] = read;
        }
    }
}

static void count_reads(const struct px_lower *l, uint32_t *reads)
{
    for (size_t i = 0; i < l->op_count; i++) {
        const struct px_op *op = &l->ops[i];
        for (unsigned n = 0; n < op->sources; n++)
            if (source(op, n) < l->register_count)
                reads[source(op, n)]++;
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

// What products and sums of a type, and what becomes of them, consist of.
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

// Joins the sum `at` and the product that is its source n. Returns false if it cannot.
static bool join(struct joins *j, size_t at, unsigned n)
{
    struct px_lower *l = j->l;
    struct px_op *sum = &l->ops[at];
    const px_register p = source(sum, n), c = source(sum, !n);
    const struct fact *fact = &j->facts[p];
    if (p == c || fact->written == NEVER || fact->written < j->start || fact->read ||
        !j->last[2 * at + n])
        return false;
    const uint32_t made = fact->written;
    struct px_op *product = &l->ops[made];
    const struct joined_type *type = type_of(sum);
    if (!is_form(product, "mul.") || type_of(product) != type)
        return false;
    const bool flushes = strstr(form_name(product), ".ftz"), subtracts = is_form(sum, "sub.");
    if (flushes != !!strstr(form_name(sum), ".ftz"))
        return false;
    px_register a = source(product, 0), b = source(product, 1), kept = a;
    const bool free_a = a != p && unchanged(j, a, made), free_b = b != p && unchanged(j, b, made);
    const px_register sign = subtracts ? px_constant(l, type->letter, type->sign) : PX_NONE;
    px_register fma[3];
    if (l->error)
        return false;
    if (subtracts && n == 0) { // a * b - c: the register of the product has -c
        if (!free_a || !free_b || c == p || !unchanged(j, c, made))
            return false;
        kept = c;
        memcpy(fma, (px_register[]){a, b, p}, sizeof fma);
    } else { // one of the factors may change later: that one is kept, or its negative
        if (!free_b && !free_a)
            return false;
        if (!free_b) {
            kept = b;
            b = a;
        }
        memcpy(fma, (px_register[]){p, b, c}, sizeof fma);
    }
    char name[40];
    snprintf(name, sizeof name, "fma.rn%s%s%s", flushes ? ".ftz" : "",
             strstr(form_name(sum), ".sat") ? ".sat" : "", type->name);
    const px_register *first = operands(l, p, kept, sign, 0, subtracts ? 3 : 2);
    const px_register *second = operands(l, sum->operands[0], fma[0], fma[1], fma[2], 4);
    if (l->error)
        return false;
    change(product, subtracts ? type->negate : type->move, first, subtracts ? 2 : 1);
    change(sum, name, second, 3);
    return true;
}

static void note_op(struct joins *j, size_t i)
{
    const struct px_op *op = &j->l->ops[i];
    for (unsigned n = 0; n < op->sources; n++)
        if (source(op, n) < j->l->register_count)
            j->facts[source(op, n)].read = true;
    for (unsigned n = 0; n < op->destinations; n++)
        if (op->operands[n] < j->l->register_count)
            j->facts[op->operands[n]] =
                (struct fact){(uint32_t)i, op->guard != PX_NONE || op->code != PX_FORM};
}

static void join_all(struct joins *j, const bool *meets)
{
    struct px_lower *l = j->l;
    for (size_t i = 0; i < l->op_count && !l->error; i++) {
        if (meets[i] || !i || ends_stretch(&l->ops[i - 1]))
            j->start = (uint32_t)i;
        if (is_form(&l->ops[i], "add.") || is_form(&l->ops[i], "sub."))
            (void)(join(j, i, 0) || join(j, i, 1));
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
        const bool subtracts = is_form(op, "sub.");
        if (subtracts)
            px_constant(l, type_of(op)->letter, type_of(op)->sign);
        found = found || subtracts || is_form(op, "add.");
    }
    return found;
}

void px_join_products(struct px_lower *l, const bool *meets)
{
    if (!find_sums(l))
        return;
    const size_t registers = l->register_count;
    struct joins j = {.l = l,
                      .facts = dm_calloc(registers + 1, sizeof *j.facts),
                      .last = dm_calloc(2 * l->op_count + 1, sizeof *j.last)};
    struct next *next = dm_calloc(registers + 1, sizeof *next);
    uint32_t *reads = dm_calloc(registers + 1, sizeof *reads);
    if (!j.facts || !j.last || !next || !reads)
        px_lower_no_memory(l);
    for (size_t r = 0; !l->error && r < registers; r++)
        j.facts[r].written = NEVER;
    if (!l->error) {
        count_reads(l, reads);
        note_last(&j, meets, next, reads);
        join_all(&j, meets);
    }
    dm_free(reads);
    dm_free(next);
    dm_free(j.last);
    dm_free(j.facts);
}
