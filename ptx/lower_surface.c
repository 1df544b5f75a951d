// SPDX-License-Identifier: MIT
// Lowering of suld, sust and sured. Caches have no effect here, so cache operators are dropped.
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

// kn_op.i. "The default is .trap."
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

void px_lower_suld(struct px_lower *l, const struct px_statement *s)
{
    px_register r[OPERANDS_MOST];
    unsigned count = px_destinations(l, s, 0, r, VALUES_MOST);
    if (!is_vector(l, s, count))
        return;
    count += address_read(l, s, r + count);
    px_emit_form(l, px_name(l, "suld.b%u", px_type_bits(s->types[0])), access_of(s), PX_NONE, r,
                 count);
}

static void store(struct px_lower *l, const struct px_statement *s, const char *root)
{
    px_register r[OPERANDS_MOST];
    const unsigned first = address_read(l, s, r);
    const unsigned count = px_sources(l, s, 1, r + first, VALUES_MOST);
    if (is_vector(l, s, count))
        px_emit_form(l, px_name(l, "%s.b%u", root, px_type_bits(s->types[0])), access_of(s),
                     PX_NONE, r, first + count);
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

// (recorded: x_ptx surf/suq-…)
void px_lower_suq(struct px_lower *l, const struct px_statement *s)
{
    px_refused_by_card(l,
                       "NVIDIA's compiler refuses texts with queries of surface objects; pass the "
                       "answer as a parameter");
}
