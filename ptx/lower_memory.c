// SPDX-License-Identifier: MIT
// Lowering of ld, st, atom, red and of instructions about addresses and the order of accesses.
//
// Constant memory is global memory whose variables the program should not write. Caches have no
// effect here, so operators, priorities and prefetches are dropped.
#include "lower.h"

enum { VECTOR_MOST = 8 };

static unsigned bits_of_letter(char letter)
{
    return letter == 'h' ? 16 : letter == 'w' ? 32 : letter == 'l' ? 64 : letter == 'x' ? 128 : 0;
}

static enum px_space space_of(const struct px_statement *s)
{
    if (px_has(s, PX_MOD_SHARED) || px_has(s, PX_MOD_SHARED_CTA) ||
        px_has(s, PX_MOD_SHARED_CLUSTER))
        return PX_SHARED;
    if (px_has(s, PX_MOD_LOCAL))
        return PX_LOCAL;
    if (px_has(s, PX_MOD_PARAM) || px_has(s, PX_MOD_PARAM_ENTRY))
        return PX_PARAMETER;
    if (px_has(s, PX_MOD_CONST))
        return PX_CONSTANT;
    return px_has(s, PX_MOD_GLOBAL) ? PX_GLOBAL : PX_GENERIC;
}

static const char *name_of_space(enum px_space space)
{
    return space == PX_SHARED ? "shared" : space == PX_LOCAL ? "local" : "generic";
}

// Other threads may write there, in order to be seen by this instruction.
static bool is_strong(const struct px_statement *s)
{
    return px_has(s, PX_MOD_VOLATILE) || px_has(s, PX_MOD_RELAXED) || px_has(s, PX_MOD_ACQUIRE) ||
           px_has(s, PX_MOD_MMIO);
}

static void note_strong(struct px_lower *l, enum px_space space)
{
    px_waits(l);
    if (space != PX_SHARED && space != PX_LOCAL)
        px_ordered(l);
}

void px_lower_ld(struct px_lower *l, const struct px_statement *s)
{
    const enum px_space space = space_of(s);
    px_register out[VECTOR_MOST + 1];
    const unsigned type = s->types[0], bits = px_type_bits(type);
    const unsigned count = px_destinations(l, s, 0, out, VECTOR_MOST);
    const struct px_address a = px_address(l, &s->a[0], space);
    if (px_failed(l))
        return;
    const char letter = px_letter(l, out[0]);
    const unsigned wide = bits_of_letter(letter);
    const char *kind = bits == wide ? "" : px_type_kind(type) == 's' ? "s" : "u";
    out[count] = a.base;
    px_emit_form(l,
                 px_name(l, "ld.%s.%s%u:%u%s", name_of_space(space), kind, bits, wide,
                         count > 1 ? ".v" : ""),
                 a.offset, PX_NONE, out, count + 1)
        ->strong = is_strong(s);
    if (is_strong(s))
        note_strong(l, space);
    if (px_has(s, PX_MOD_ACQUIRE))
        px_emit_form(l, "fence.light", 0, PX_NONE, NULL, 0);
}

void px_lower_st(struct px_lower *l, const struct px_statement *s)
{
    const enum px_space space = space_of(s);
    px_register in[VECTOR_MOST + 1];
    const unsigned bits = px_type_bits(s->types[0]);
    const unsigned count = px_sources(l, s, 1, in + 1, VECTOR_MOST);
    const struct px_address a = px_address(l, &s->a[0], space);
    if (px_failed(l))
        return;
    if (px_has(s, PX_MOD_RELEASE))
        px_emit_form(l, "fence.light", 0, PX_NONE, NULL, 0);
    in[0] = a.base;
    px_emit_form(l,
                 px_name(l, "st.%s.%u:%u%s", name_of_space(space), bits,
                         bits_of_letter(px_letter(l, in[1])), count > 1 ? ".v" : ""),
                 a.offset, PX_NONE, in, count + 1)
        ->strong = is_strong(s) || px_has(s, PX_MOD_RELEASE);
}

// ---- atom and red ----

// The type's name in a form: the sign matters for min and max only.
static const char *form_type(struct px_lower *l, const struct px_statement *s, unsigned operation)
{
    const unsigned type = s->types[0], bits = px_type_bits(type);
    const char kind = px_type_kind(type);
    if (operation == PX_MOD_MIN || operation == PX_MOD_MAX || kind == 'f' || kind == 'o')
        return px_modifier_name(type);
    return px_name(l, "%u", bits);
}

// Sums of integers, and their like: the value in memory at the end does not depend on the order.
static bool is_sum(const struct px_statement *s)
{
    const char kind = px_type_kind(s->types[0]);
    return kind != 'f' && kind != 'o' && !px_has(s, PX_MOD_EXCH) && !px_has(s, PX_MOD_CAS) &&
           !px_has(s, PX_MOD_INC) && !px_has(s, PX_MOD_DEC);
}

static void note_atomic(struct px_lower *l, const struct px_statement *s, enum px_space space,
                        bool result)
{
    if (result)
        px_waits(l);
    if (space != PX_SHARED && (result || !is_sum(s)))
        px_ordered(l);
}

// The modifier that names the operation, which has several places.
static unsigned operation_of(const struct px_statement *s)
{
    static const unsigned operations[] = {PX_MOD_AND, PX_MOD_OR,  PX_MOD_XOR,
                                          PX_MOD_MIN, PX_MOD_MAX, PX_MOD_INC,
                                          PX_MOD_DEC, PX_MOD_CAS, PX_MOD_EXCH};
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (px_has(s, operations[i]))
            return operations[i];
    return PX_MOD_ADD;
}

// The values of a vector are replaced one after the other. Those that come later and are in a
// register that receives the result of an earlier one are copied before.
static void keep_sources(struct px_lower *l, const px_register *results, px_register *values,
                         unsigned count)
{
    for (unsigned i = 1; i < count; i++)
        for (unsigned j = 0; j < i; j++) {
            if (values[i] != results[j])
                continue;
            const char letter = px_letter(l, values[i]);
            const px_register copy = px_temporary(l, letter);
            px_emit(l, letter == 'h' ? "mov.16" : "mov.32", copy, values[i]);
            values[i] = copy;
            break;
        }
}

static void lower_atomic(struct px_lower *l, const struct px_statement *s, bool result)
{
    const enum px_space space = space_of(s);
    px_register r[3 * VECTOR_MOST];
    const unsigned operation = operation_of(s);
    unsigned n = 0, values = 0;
    if (result)
        n = px_destinations(l, s, 0, r, VECTOR_MOST);
    const struct px_address a = px_address(l, &s->a[0], space);
    r[n++] = a.base;
    values = px_sources(l, s, 1, r + n, VECTOR_MOST);
    if (result && values > 1 && !px_failed(l))
        keep_sources(l, r, r + n, values);
    n += values;
    if (operation == PX_MOD_CAS)
        n += px_sources(l, s, 2, r + n, VECTOR_MOST);
    if (px_failed(l))
        return;
    // "The optional .sem qualifier … the default is .relaxed."
    if (px_has(s, PX_MOD_RELEASE) || px_has(s, PX_MOD_ACQ_REL))
        px_emit_form(l, "fence.light", 0, PX_NONE, NULL, 0);
    struct px_op *op = px_emit_form(
        l,
        px_name(l, "%s.%s.%s.%s%s", result ? "atom" : "red",
                space == PX_SHARED && values == 1 ? "shared" : "generic",
                px_modifier_name(operation), form_type(l, s, operation), values > 1 ? ".v" : ""),
        a.offset, PX_NONE, r, n);
    op->sum = result && space != PX_SHARED && is_sum(s);
    note_atomic(l, s, space, result);
    if (px_has(s, PX_MOD_ACQUIRE) || px_has(s, PX_MOD_ACQ_REL))
        px_emit_form(l, "fence.light", 0, PX_NONE, NULL, 0);
}

void px_lower_atom(struct px_lower *l, const struct px_statement *s)
{
    const bool has_red =
        !px_has(s, PX_MOD_CAS) && !(px_has(s, PX_MOD_EXCH) && px_type_bits(s->types[0]) == 128);
    lower_atomic(l, s, !(has_red && s->d[0].kind == PX_OPERAND_SINK));
}

void px_lower_red(struct px_lower *l, const struct px_statement *s)
{
    lower_atomic(l, s, false);
}

// ---- order and addresses ----

void px_lower_fence(struct px_lower *l, const struct px_statement *s)
{
    px_emit_form(l, "fence", 0, PX_NONE, NULL, 0);
}

void px_lower_no_effect(struct px_lower *l, const struct px_statement *s)
{
}

void px_lower_createpolicy(struct px_lower *l, const struct px_statement *s)
{
    px_emit(l, "mov.64", px_destination(l, s, 0), px_constant(l, 'l', 0));
}
