// SPDX-License-Identifier: MIT
// Lowering of matrix instructions: mma, ldmatrix, stmatrix, movmatrix.
//
// A row should have the types of D, A, B and C in this order. Instructions are `.aligned`: all
// lanes of the warp execute them together.
#include "kn_matrix.h"
#include "lower_matrix.h"

enum {
    REGISTERS_MOST = 32,
    FRAGMENT_MOST = 8, // registers of a fragment
};

const char *px_matrix_shape(const struct px_statement *s)
{
    for (unsigned i = 0; i < s->modifier_count; i++) {
        const char *name = px_modifier_name(s->modifiers[i]);
        if (*name == 'm' && name[1] >= '0' && name[1] <= '9')
            return name;
    }
    return "";
}

px_register px_matrix_lanes(struct px_lower *l)
{
    return px_constant(l, 'w', UINT32_MAX);
}

// ---- mma ----

// The name of the type of A and B in forms: integers of one width have the same.
static const char *name_of_factors(struct px_lower *l, unsigned a, unsigned b)
{
    if (px_type_kind(a) == 's' || px_type_kind(a) == 'u' || a == PX_B1)
        return px_name(l, "%u", px_type_bits(a));
    if (px_type_bits(a) == 8)
        return px_name(l, "%s_%s.", px_modifier_name(a), px_modifier_name(b));
    return a == PX_F64 ? "f64" : px_name(l, "%s.", px_modifier_name(a));
}

// The operands of a statement that are vectors, then the metadata.
static unsigned fragments(struct px_lower *l, const struct px_statement *s, px_register *r)
{
    unsigned n = px_destinations(l, s, 0, r, FRAGMENT_MOST);
    for (unsigned i = 0; i < 3; i++)
        n += px_sources(l, s, i, r + n, FRAGMENT_MOST);
    if (s->row->sources > 3)
        r[n++] = px_source(l, s, 3);
    return n;
}

// "The sparsity selector is 0 … 3 if one lane of four has the metadata, 0 or 1 if two have it, and
// 0 if all have it." The bits of metadata of a row follow from the shape and the type.
static int64_t selector(struct px_lower *l, const struct px_statement *s, unsigned k, unsigned type)
{
    const unsigned bits = px_type_bits(type);
    const unsigned lanes = type == PX_TF32 ? k / 8 : bits == 4 ? k / 32 : k / 16;
    const int64_t value = px_integer(l, &s->a[4], 0);
    if (value < 0 || value >= (int64_t)(4 / (lanes ? lanes : 1)))
        px_refuse(l, "the sparsity selector (%lld) must be from 0 to %u", (long long)value,
                  4 / (lanes ? lanes : 1) - 1);
    return (int64_t)((uint64_t)value << KN_MATRIX_SELECTOR);
}

// The number after the last letter of a shape: 16 of m8n8k16.
static unsigned depth_of(const char *shape)
{
    unsigned k = 0;
    for (const char *c = shape; *c; c++)
        k = *c == 'k' ? 0 : k * 10 + (unsigned)(*c - '0') % 10;
    return k;
}

static bool is_signed(unsigned type)
{
    return px_type_kind(type) == 's';
}

static int64_t rounding(const struct px_statement *s)
{
    return px_has(s, PX_MOD_RZ) ? 1 : px_has(s, PX_MOD_RM) ? 2 : px_has(s, PX_MOD_RP) ? 3 : 0;
}

int64_t px_matrix_flags(const struct px_statement *s, unsigned a, unsigned b)
{
    if (a == PX_F64)
        return rounding(s);
    return (is_signed(a) ? KN_MATRIX_A_SIGNED : 0) | (is_signed(b) ? KN_MATRIX_B_SIGNED : 0) |
           (px_has(s, PX_MOD_SATFINITE) ? KN_MATRIX_SATURATED : 0) |
           (px_has(s, PX_MOD_XOR) ? KN_MATRIX_XOR : 0);
}

// Rows have the types of D, A, B and C, in this order; those of f64 have f64 only.
void px_lower_mma(struct px_lower *l, const struct px_statement *s)
{
    px_register r[REGISTERS_MOST + 2];
    const char *shape = px_matrix_shape(s);
    const unsigned a = s->types[1], b = s->types[2], to = s->types[0];
    const bool sparse = s->row->sources > 3, is_integer = to == PX_S32;
    int64_t flags = px_matrix_flags(s, a, b);
    if (!is_integer && s->types[3] != to)
        px_refuse(l, "the types of the destination (.%s) and of C (.%s) must be the same",
                  px_modifier_name(to), px_modifier_name(s->types[3]));
    if (sparse)
        flags |= selector(l, s, depth_of(shape), a);
    const unsigned n = fragments(l, s, r);
    if (px_failed(l))
        return;
    px_emit_form(l,
                 px_name(l, "mma.%s%s.%s%s", sparse ? "sp." : "", shape, name_of_factors(l, a, b),
                         is_integer || to == PX_F64 ? "" : px_modifier_name(to)),
                 flags, px_matrix_lanes(l), r, n);
}

// choice[0] and choice[1] are the layouts of A and B. "Supported for .target sm_70 to run on later
// ones with less speed."
void px_lower_mma_quad(struct px_lower *l, const struct px_statement *s)
{
    px_register r[REGISTERS_MOST + 2];
    const unsigned to = s->types[0];
    const unsigned n = fragments(l, s, r);
    if (s->types[3] != to)
        px_unsupported(l, "a destination of type .%s with C of type .%s is not supported",
                       px_modifier_name(to), px_modifier_name(s->types[3]));
    if (px_failed(l))
        return;
    px_emit_form(l, to == PX_F16 ? "mma.m8n8k4.f16.f16" : "mma.m8n8k4.f16.f32",
                 (s->choice[0] == PX_MOD_COL ? KN_MATRIX_A_COLUMNS : 0) |
                     (s->choice[1] == PX_MOD_COL ? KN_MATRIX_B_COLUMNS : 0),
                 px_matrix_lanes(l), r, n);
}

// ---- ldmatrix, stmatrix, movmatrix ----

// "The number of elements of the vector must be that of the matrices (.x1, .x2, .x4)."
static void check_count(struct px_lower *l, const struct px_statement *s, unsigned count)
{
    const unsigned needed = px_has(s, PX_MOD_X4) ? 4 : px_has(s, PX_MOD_X2) ? 2 : 1;
    if (count != needed)
        px_refuse(l, "the vector has %u registers; .x%u needs %u", count, needed, needed);
}

static enum px_space space_of(const struct px_statement *s)
{
    return px_has(s, PX_MOD_SHARED) || px_has(s, PX_MOD_SHARED_CTA) ? PX_SHARED : PX_GENERIC;
}

void px_lower_ldmatrix(struct px_lower *l, const struct px_statement *s)
{
    px_register r[FRAGMENT_MOST + 1];
    const unsigned n = px_destinations(l, s, 0, r, FRAGMENT_MOST);
    const struct px_address a = px_generic_address(l, &s->a[0], space_of(s));
    check_count(l, s, n);
    r[n] = a.base;
    px_emit_form(l, px_has(s, PX_MOD_TRANS) ? "ldmatrix.trans" : "ldmatrix", a.offset,
                 px_matrix_lanes(l), r, n + 1);
}

void px_lower_stmatrix(struct px_lower *l, const struct px_statement *s)
{
    px_register r[FRAGMENT_MOST + 1];
    const struct px_address a = px_generic_address(l, &s->a[0], space_of(s));
    const unsigned n = px_sources(l, s, 1, r + 1, FRAGMENT_MOST);
    check_count(l, s, n);
    r[0] = a.base;
    px_emit_form(l, px_has(s, PX_MOD_TRANS) ? "stmatrix.trans" : "stmatrix", a.offset,
                 px_matrix_lanes(l), r, n + 1);
}

void px_lower_movmatrix(struct px_lower *l, const struct px_statement *s)
{
    px_emit_together(l, "movmatrix.trans", 0, px_matrix_lanes(l), px_destination(l, s, 0),
                     px_source(l, s, 0));
}
