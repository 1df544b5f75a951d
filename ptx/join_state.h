// SPDX-License-Identifier: MIT
// The state of joining products and sums, for join.c, join_product.c and join_change.c.
#pragma once
#include "join_insert.h"
#include "lower_state.h"

#define PX_JOIN_NEVER UINT32_MAX
enum { PX_JOIN_SUMS = 8 }; // of one product

// Facts about a register. Those of an earlier stretch do not count.
struct px_join_fact {
    uint32_t written; // the operation that wrote it last, or PX_JOIN_NEVER
    bool read;        // since then
};

struct px_join_state {
    struct px_lower *l;
    const bool *meets;
    struct px_join_fact *facts;        // by register
    struct px_join_fact *of_negatives; // by register that has a negative: of its source then
    uint32_t *reads;                   // by register: how many operands it is
    size_t registers;                  // of these; operations that are changed may have more
    uint32_t start; // of the stretch, the operations between two branches or labels
    struct px_insertions more;
};

// The parts of names and constants of products and sums of a type.
struct px_join_number {
    const char *name; // the end of its name
    char letter;      // of its registers
    uint64_t sign;    // the bits that make a negative
    const char *move, *negate;
};

// How a sum reads a product p.
enum px_join_reading {
    PX_JOIN_PLUS,      // p + c
    PX_JOIN_MINUS_SUM, // p - c
    PX_JOIN_MINUS,     // c - p
};

struct px_join_sum {
    size_t at;
    unsigned n; // the source that is the product
    enum px_join_reading reading;
};

// A product with the sums that read it, and whether its factors keep their values until the last of
// them.
struct px_join_product {
    px_register p, factor[2];
    bool stays[2];
    bool negated; // p is the negative of the product
    const struct px_join_number *type;
    struct px_join_sum sums[PX_JOIN_SUMS];
    unsigned count;
};

static inline px_register px_join_source(const struct px_op *op, unsigned n)
{
    return op->operands[op->destinations + n];
}

// ---- join_product.c ----

const char *px_join_form_name(const struct px_op *op);
// Whether an operation without a guard may be joined, and its form's name begins with `root`.
bool px_join_is(const struct px_op *op, const char *root);
bool px_join_ends_stretch(const struct px_op *op);
// Whether a register has kept its value since an operation.
bool px_join_unchanged(const struct px_join_state *j, px_register reg, uint32_t since);
// A list of the first `count` of four operands, or NULL if host memory is short.
const px_register *px_join_operands(struct px_lower *l, px_register d, px_register a, px_register b,
                                    px_register c, unsigned count);
// Gives an operation another form and operands: a destination and sources.
void px_join_change(struct px_op *op, const char *form, const px_register *list, unsigned sources);
// Precondition: the operation is marked to be joined.
const struct px_join_number *px_join_type(const struct px_op *op);
bool px_join_is_difference(const struct px_op *op);
bool px_join_is_sum(const struct px_op *op);
bool px_join_flushes(const struct px_op *op);
bool px_join_writes(const struct px_op *op, px_register reg);
// Finds the sums that read the product from the first one on. Returns false if something else may
// read it.
bool px_join_find_readers(const struct px_join_state *j, struct px_join_product *product,
                          const struct px_op *mul, size_t first);
// Whether no operation from `from` to before `to` writes the register.
bool px_join_is_kept(const struct px_lower *l, px_register reg, size_t from, size_t to);

// ---- join_change.c ----

// Joins a product and the sums that read it without more operations. Its register has a factor from
// then on, or a negative. Returns false if it cannot.
//
//      mul %p, %a, %b            mov %p, %a             the register of the product has a factor
//      …                  ──▶    …
//      add %d, %p, %c            fma %d, %p, %b, %c     or, for a difference, a negative
//      …                         …
//      add %e, %p, %f            fma %e, %p, %b, %f
bool px_join_alone(struct px_join_state *j, const struct px_join_product *product, uint32_t made);
// Joins the difference of two products: a * b - x * y becomes fma(a, b, -x * y).
//
//      mul %p, %a, %b            xor %p, %x, sign
//      mul %q, %x, %y     ──▶    mul %q, %p, %y
//      sub %d, %p, %q            fma %d, %a, %b, %q
bool px_join_difference(struct px_join_state *j, const struct px_join_product *product,
                        uint32_t made);
// Joins any sums and a product with more operations: at the product, copies of factors that change,
// and a negative one; before a sum that subtracts, the negative of its subtrahend.
//
//      mul %p, %a, %b            mov %t, %a
//      mov %a, …          ──▶    mov %a, …
//      sub %d, %p, %c            xor %n, %c, sign
//                                fma %d, %t, %b, %n
bool px_join_with_more(struct px_join_state *j, const struct px_join_product *product,
                       uint32_t made);
// Makes an operation a copy that nothing reads.
bool px_join_make_dead(struct px_join_state *j, const struct px_join_product *product,
                       struct px_op *op);
