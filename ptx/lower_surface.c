// SPDX-License-Identifier: MIT
// Lowering of suld, sust, sured, suq and istypep. Caches have no effect here, so cache operators
// are dropped.
#include "lower_object.h"

enum { VALUES_MOST = 4, OPERANDS_MOST = 5 + VALUES_MOST, BITS_MOST = 128 };

static unsigned geometry_of(const struct px_statement *s)
{
    return px_has(s, PX_MOD_1D)    ? PX_MOD_1D
           : px_has(s, PX_MOD_2D)  ? PX_MOD_2D
           : px_has(s, PX_MOD_3D)  ? PX_MOD_3D
           : px_has(s, PX_MOD_A1D) ? PX_MOD_A1D
                                   : PX_MOD_A2D;
}

// kn_op.i.
static int64_t access_of(const struct px_statement *s)
{
    const enum kn_boundary boundary = px_has(s, PX_MOD_CLAMP)  ? KN_BOUNDARY_CLAMP
                                      : px_has(s, PX_MOD_ZERO) ? KN_BOUNDARY_ZERO
                                                               : KN_BOUNDARY_TRAP;
    return KN_SURFACE_ACCESS(px_geometry(geometry_of(s)), boundary);
}

// Writes the handle and the coordinates, which are the first sources of each form.
static unsigned address_read(struct px_lower *l, const struct px_statement *s, px_register *out)
{
    struct px_coordinates c;
    out[0] = px_object_handle(l, &s->a[0], PX_SURFACE_REFERENCE);
    px_object_coordinates(l, &s->a[0], px_geometry(geometry_of(s)), PX_S32, &c);
    out[1] = c.x;
    out[2] = c.y;
    out[3] = c.z;
    out[4] = c.layer;
    return 5;
}

// "The vector has at most 128 bits", and as many elements as the modifier says.
static bool is_vector(struct px_lower *l, const struct px_statement *s, unsigned count)
{
    const unsigned expected = px_has(s, PX_MOD_V2) ? 2 : px_has(s, PX_MOD_V4) ? 4 : 1;
    if (!px_failed(l) && count != expected)
        px_refuse(l, "the vector has %u elements instead of %u", count, expected);
    if (!px_failed(l) && count * px_type_bits(s->types[0]) > BITS_MOST)
        px_refuse(l, "the vector has more than %u bits", BITS_MOST);
    return !px_failed(l);
}

static unsigned width_of(char letter)
{
    return letter == 'h' ? 16 : letter == 'w' ? 32 : letter == 'l' ? 64 : 0;
}

// Registers may be wider than the values, as those of ld.
void px_lower_suld(struct px_lower *l, const struct px_statement *s)
{
    px_register r[OPERANDS_MOST], to[VALUES_MOST];
    const char letter = px_type_letter(s->types[0]);
    const unsigned count = px_destinations(l, s, 0, to, VALUES_MOST);
    if (!is_vector(l, s, count))
        return;
    for (unsigned i = 0; i < count; i++)
        r[i] = px_letter(l, to[i]) == letter ? to[i] : px_temporary(l, letter);
    const unsigned sources = address_read(l, s, r + count);
    px_emit_form(l, px_name(l, "suld.b%u", px_type_bits(s->types[0])), access_of(s), PX_NONE, r,
                 count + sources);
    for (unsigned i = 0; i < count; i++)
        if (r[i] != to[i])
            px_emit(l, px_name(l, "cvt.u%u.u%u", width_of(px_letter(l, to[i])), width_of(letter)),
                    to[i], r[i]);
}

static void store(struct px_lower *l, const struct px_statement *s, const char *root)
{
    px_register r[OPERANDS_MOST];
    const unsigned first = address_read(l, s, r);
    const unsigned count = px_sources(l, s, 1, r + first, VALUES_MOST);
    if (!is_vector(l, s, count))
        return;
    for (unsigned i = first; i < first + count; i++)
        r[i] = px_widen(l, r[i], px_type_letter(s->types[0]));
    px_emit_form(l, px_name(l, "%s.b%u", root, px_type_bits(s->types[0])), access_of(s), PX_NONE, r,
                 first + count);
}

void px_lower_sust(struct px_lower *l, const struct px_statement *s)
{
    store(l, s, "sust");
}

void px_lower_sust_formatted(struct px_lower *l, const struct px_statement *s)
{
    store(l, s, "sust.p");
}

static void reduce(struct px_lower *l, const struct px_statement *s, const char *form)
{
    px_register r[OPERANDS_MOST];
    const unsigned first = address_read(l, s, r);
    r[first] = px_source(l, s, 1);
    px_emit_form(l, "fence.light", 0, PX_NONE, NULL, 0);
    px_emit_form(l, form, access_of(s), PX_NONE, r, first + 1);
}

// The sign matters for min and max only.
void px_lower_sured(struct px_lower *l, const struct px_statement *s)
{
    const unsigned operation = s->choice[0], type = s->types[0];
    const char *name = px_modifier_name(operation);
    reduce(l, s,
           operation == PX_MOD_MIN || operation == PX_MOD_MAX
               ? px_name(l, "sured.b.%s.%s", name, px_modifier_name(type))
               : px_name(l, "sured.b.%s.%u", name, px_type_bits(type)));
}

void px_lower_sured_formatted(struct px_lower *l, const struct px_statement *s)
{
    reduce(
        l, s,
        px_name(l, "sured.p.%s.%s", px_modifier_name(s->choice[0]), px_modifier_name(s->types[0])));
}

void px_lower_suq(struct px_lower *l, const struct px_statement *s)
{
    px_emit_immediate(l, "suq",
                      px_has(s, PX_MOD_WIDTH)    ? KN_QUERY_WIDTH
                      : px_has(s, PX_MOD_HEIGHT) ? KN_QUERY_HEIGHT
                                                 : KN_QUERY_DEPTH,
                      px_destination(l, s, 0), px_object_handle(l, &s->a[0], PX_SURFACE_REFERENCE));
}

// (recorded: x_surf query/suq.…)
void px_lower_suq_other(struct px_lower *l, const struct px_statement *s)
{
    px_refused_by_card(l, "NVIDIA's compiler refuses texts with this query; use .width, .height or "
                          ".depth, or pass the answer as a parameter");
}

// "Writes true if the register points to an opaque variable of the specified type": a handle does
// not (recorded: x_surf query/istypep).
void px_lower_istypep(struct px_lower *l, const struct px_statement *s)
{
    static const struct {
        unsigned modifier;
        enum px_space space;
    } types[] = {{PX_TEXREF, PX_TEXTURE_REFERENCE},
                 {PX_SURFREF, PX_SURFACE_REFERENCE},
                 {PX_SAMPLERREF, PX_SAMPLER_REFERENCE}};
    bool is = false;
    for (unsigned i = 0; i < sizeof(types) / sizeof(*types); i++)
        is = is ||
             (s->types[0] == types[i].modifier && px_is_reference(l, &s->a[0], types[i].space));
    px_emit(l, "mov.pred", px_destination(l, s, 0), px_constant(l, 'p', is));
}
