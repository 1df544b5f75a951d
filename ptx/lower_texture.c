// SPDX-License-Identifier: MIT
// Lowering of tex, tld4 and txq. Results are words; those of 16 bits are converted afterwards.
#include "lower_object.h"

#include "body.h"

enum { WORDS = 4, SOURCES_MOST = 5 + 6 + 3, OPERANDS_MOST = WORDS + SOURCES_MOST };

// An instruction in the making: four destinations, then sources.
struct fetch {
    px_register r[OPERANDS_MOST];
    unsigned count;
    enum kn_geometry geometry;
    bool integer;
};

static void add(struct fetch *f, px_register reg)
{
    f->r[f->count++] = reg;
}

// "In the unified mode, texture and sampler information is accessed through a single .texref
// handle; in the independent mode, through two." NVIDIA's driver does not load texts of the latter
// kind if they fetch (recorded: x_surf syntax/texmode_independent).
static void check_sampler(struct px_lower *l, const struct px_operand *address)
{
    const struct px_module_state *state = l->module->state;
    const bool needed = state->parts[state->functions[l->function].part].samplers;
    if (address->count > 2 && !needed)
        px_refuse(l, "a sampler apart from the texture needs .target texmode_independent");
    else if (address->count == 2 && needed)
        px_refuse(l, "needs a sampler after the texture, because of .target texmode_independent");
    else if (needed)
        px_not_loaded(l, "samplers apart from textures (.target texmode_independent) are not "
                         "supported, and NVIDIA's driver does not load such a text; use "
                         "texmode_unified, in which a texture has its sampler");
}

// The handle and the coordinates.
static void begin(struct px_lower *l, const struct px_statement *s, unsigned geometry,
                  struct fetch *f)
{
    struct px_coordinates c;
    const unsigned type = s->types[s->type_count - 1];
    *f = (struct fetch){.geometry = px_geometry(geometry), .integer = type == PX_S32};
    f->count = WORDS;
    check_sampler(l, &s->a[0]);
    if (f->integer && px_geometry_dimensions(f->geometry) == 3 && f->geometry != KN_GEOMETRY_3D)
        px_refuse(l, "coordinates of cubes must have the type .f32");
    add(f, px_object_handle(l, &s->a[0], PX_TEXTURE_REFERENCE));
    px_object_coordinates(l, &s->a[0], f->geometry, type, &c);
    add(f, c.x);
    add(f, c.y);
    add(f, c.z);
    add(f, c.layer);
}

static const struct px_operand *part(const struct px_operand *o, unsigned i)
{
    return o->kind == PX_OPERAND_VECTOR ? &o->parts[i] : o;
}

static unsigned parts(const struct px_operand *o)
{
    return o->kind == PX_OPERAND_VECTOR ? o->count : 1;
}

// Three registers from a vector of the geometry's dimensions; those that it lacks are 0.
static void add_vector(struct px_lower *l, const struct px_operand *o, unsigned type,
                       struct fetch *f)
{
    const unsigned dimensions = px_geometry_dimensions(f->geometry), count = parts(o);
    if (count < dimensions || count == 3 || count > 4) {
        px_refuse(l, "a vector has %u elements; the geometry has %u dimensions", count, dimensions);
        return;
    }
    for (unsigned i = 0; i < 3; i++)
        add(f, i < dimensions ? px_value(l, part(o, i), type) : px_constant(l, 'w', 0));
}

// The operands from `n` on: offsets, then a value for depth compare, which textures that hold no
// depths ignore (recorded: x_surf syntax/tex-depth-compare). CUDA has no others.
static bool add_offsets(struct px_lower *l, const struct px_statement *s, unsigned n,
                        struct fetch *f)
{
    const struct px_operand *first = &s->a[n], *second = &s->a[n + 1];
    const unsigned dimensions = px_geometry_dimensions(f->geometry);
    const bool is_offset = first->kind == PX_OPERAND_VECTOR ||
                           (dimensions == 1 && first->kind != PX_OPERAND_NONE &&
                            !(first->kind == PX_OPERAND_REGISTER && first->type == PX_F32));
    const struct px_operand *compared = is_offset ? second : first;
    if (compared->kind != PX_OPERAND_NONE)
        px_value(l, compared, PX_F32);
    if (!is_offset && second->kind != PX_OPERAND_NONE)
        px_refuse(l, "the offsets must stand before the value for depth compare");
    if (!is_offset || px_failed(l))
        return false;
    if (dimensions == 3 && f->geometry != KN_GEOMETRY_3D)
        px_refuse(l, "offsets are not possible for cubes");
    else
        add_vector(l, first, PX_S32, f);
    return true;
}

// The four result registers, and what becomes of them.
static void finish(struct px_lower *l, const struct px_statement *s, const char *form,
                   int64_t access, struct fetch *f)
{
    const unsigned type = s->types[0];
    const bool halves = type == PX_F16, pairs = type == PX_F16X2;
    const struct px_operand *d = &s->d[0];
    const unsigned count = parts(d), expected = pairs ? 2 : 4;
    px_register out[WORDS];
    if (px_has(s, PX_MOD_V2) != pairs)
        px_refuse(l, ".v2 goes with .f16x2, and .v4 with all other types");
    if (d->kind == PX_OPERAND_REGISTER && d->length == expected) {
        for (unsigned i = 0; i < expected; i++)
            out[i] = d->reg + i;
    } else if (count != expected) {
        px_refuse(l, "the destination has %u elements instead of %u", count, expected);
    } else {
        for (unsigned i = 0; i < count; i++)
            out[i] = px_target(l, part(d, i), type);
    }
    if (px_failed(l))
        return;
    for (unsigned i = 0; i < WORDS; i++)
        f->r[i] = halves || pairs ? px_temporary(l, 'w') : out[i];
    px_emit_form(l, form, access, PX_NONE, f->r, f->count);
    for (unsigned i = 0; halves && i < WORDS; i++)
        px_emit(l, "cvt.rn.f16.f32", out[i], f->r[i]);
    for (unsigned i = 0; pairs && i < 2; i++) // the first source is the upper half
        px_emit(l, "cvt.rn.f16x2.f32", out[i], f->r[2 * i + 1], f->r[2 * i]);
    if (s->d[1].kind != PX_OPERAND_NONE) // all memory is resident
        px_emit(l, "mov.pred", px_target(l, &s->d[1], PX_PRED), px_constant(l, 'p', 1));
}

void px_lower_tex(struct px_lower *l, const struct px_statement *s)
{
    struct fetch f;
    begin(l, s, s->choice[px_has(s, PX_MOD_BASE)], &f);
    const bool offset = add_offsets(l, s, 1, &f);
    finish(l, s, offset ? "tex.offset" : "tex", KN_TEXTURE_ACCESS(f.geometry, f.integer, 0), &f);
}

// A texel of one sample has the samples of a multi-sample texture at the same place: the number of
// the sample, which stands before the coordinates, is ignored (recorded: x_surf syntax/tex.2dms).
void px_lower_tex_samples(struct px_lower *l, const struct px_statement *s)
{
    struct fetch f;
    begin(l, s, PX_MOD_A2D, &f);
    f.geometry = KN_GEOMETRY_2D;
    f.r[f.count - 1] = px_constant(l, 'w', 0); // the layer
    add_offsets(l, s, 1, &f);
    finish(l, s, "tex", KN_TEXTURE_ACCESS(f.geometry, f.integer, 0), &f);
}

void px_lower_tex_level(struct px_lower *l, const struct px_statement *s)
{
    struct fetch f;
    begin(l, s, s->choice[1], &f);
    add(&f, px_value(l, &s->a[1], f.integer ? PX_S32 : PX_F32));
    const bool offset = add_offsets(l, s, 2, &f);
    finish(l, s, offset ? "tex.level.offset" : "tex.level",
           KN_TEXTURE_ACCESS(f.geometry, f.integer, 0), &f);
}

void px_lower_tex_grad(struct px_lower *l, const struct px_statement *s)
{
    struct fetch f;
    begin(l, s, s->choice[1], &f);
    add_vector(l, &s->a[1], PX_F32, &f);
    add_vector(l, &s->a[2], PX_F32, &f);
    if (px_failed(l))
        return;
    const bool offset = add_offsets(l, s, 3, &f);
    finish(l, s, offset ? "tex.grad.offset" : "tex.grad", KN_TEXTURE_ACCESS(f.geometry, false, 0),
           &f);
}

void px_lower_tld4(struct px_lower *l, const struct px_statement *s)
{
    struct fetch f;
    const unsigned component = s->choice[0];
    begin(l, s, s->choice[1], &f);
    const bool offset = add_offsets(l, s, 1, &f);
    finish(l, s, offset ? "tld4.offset" : "tld4",
           KN_TEXTURE_ACCESS(f.geometry, false,
                             component == PX_MOD_R   ? 0
                             : component == PX_MOD_G ? 1
                             : component == PX_MOD_B ? 2
                                                     : 3),
           &f);
}

void px_lower_txq(struct px_lower *l, const struct px_statement *s)
{
    const bool level = px_has(s, PX_MOD_LEVEL);
    const unsigned query = s->choice[0];
    px_emit_immediate(l, "txq",
                      query == PX_MOD_WIDTH    ? KN_QUERY_WIDTH
                      : query == PX_MOD_HEIGHT ? KN_QUERY_HEIGHT
                                               : KN_QUERY_DEPTH,
                      px_destination(l, s, 0), px_object_handle(l, &s->a[0], PX_TEXTURE_REFERENCE),
                      level ? px_source(l, s, 1) : px_constant(l, 'w', 0));
}

// (recorded: x_ptx tex/txq-format-…, x_tex forms/txq.…)
void px_lower_txq_other(struct px_lower *l, const struct px_statement *s)
{
    px_left_out(l, "NVIDIA's compiler leaves out kernels with this query of a texture object; pass "
                   "the answer as a parameter");
}
