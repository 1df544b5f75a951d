// SPDX-License-Identifier: MIT
// Forms of tex, tld4 and txq. "tex" has four destinations; its sources are the handle, x, y, z and
// the layer. ".level" adds the level of detail, ".grad" six gradients, and ".offset" three offsets
// after them. Operands that an instruction lacks are 0. kn_op.i is KN_TEXTURE_ACCESS(geometry,
// whether coordinates are integers, the component of tld4).
//
// The lanes of each handle take their turn together.
#include <stddef.h>

#include "families.h"
#include "kn_sample.h"
#include "kn_surface.h"
#include "object.inc.h"

enum { DESTINATIONS = 4, FIRST_MORE = DESTINATIONS - 1 + 2 }; // in kn_op.more, after z and layer

static inline const uint32_t *word(const struct kn_warp *w, uint32_t at)
{
    return KN_REGISTER(const uint32_t, at);
}

// The operands that all of these have. `dimensions` of the coordinates count.
static inline struct kn_fetch fetch_of(const struct kn_op *op, const struct kn_warp *w)
{
    const uint32_t *more = op->more;
    struct kn_fetch f = {.x = word(w, op->b),
                         .y = word(w, op->c),
                         .z = word(w, more[3]),
                         .layer = word(w, more[4]),
                         .component = KN_TEXTURE_COMPONENT(op->i)};
    for (int i = 0; i < DESTINATIONS; i++)
        f.out[i] = KN_REGISTER(uint32_t, i ? more[i - 1] : op->d);
    return f;
}

static inline void words_read(const struct kn_warp *w, const uint32_t *more, const uint32_t *out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = word(w, more[i]);
}

// Whether an instruction of a geometry reads any texel of a texture (recorded: x_surf
// geometry/tex.…). 1D and 2D textures and their layers are of one kind.
static bool fits(const struct kn_texture *t, enum kn_geometry geometry, bool integer)
{
    switch (t->shape) {
    case KN_TEXTURE_LINEAR:
        return geometry == KN_GEOMETRY_1D || geometry == KN_GEOMETRY_2D;
    case KN_TEXTURE_1D:
        return (geometry == KN_GEOMETRY_1D && !integer) || geometry == KN_GEOMETRY_2D ||
               geometry == KN_GEOMETRY_A2D;
    case KN_TEXTURE_2D:
    case KN_TEXTURE_2D_LAYERED:
        return geometry == KN_GEOMETRY_2D || geometry == KN_GEOMETRY_A2D ||
               (geometry == KN_GEOMETRY_1D && !integer);
    case KN_TEXTURE_1D_LAYERED:
        return geometry == KN_GEOMETRY_A1D || (geometry == KN_GEOMETRY_1D && integer);
    case KN_TEXTURE_3D:
        return geometry == KN_GEOMETRY_3D;
    default:
        return geometry == KN_GEOMETRY_CUBE || geometry == KN_GEOMETRY_ACUBE;
    }
}

// What an instruction reads from a texture that does not fit, or from no texture.
static void fetch_nothing(const struct kn_fetch *f)
{
    for (int n = 0; n < DESTINATIONS; n++)
        KN_EACH_OF(f->active, i)
    f->out[n][i] = 0;
}

typedef void each_fn(const struct kn_texture *t, const struct kn_fetch *f);

// Calls `fetch` for each texture that lanes name. Returns false after a fault.
static bool each_texture(const struct kn_op *op, struct kn_warp *w, struct kn_fetch *f,
                         each_fn *fetch)
{
    const uint64_t *handle = KN_REGISTER(const uint64_t, op->a);
    w->at = op;
    for (uint32_t rest = kn_mask_of(op, w); rest; rest &= ~f->active) {
        const uint64_t first = handle[kn_lowest(rest)];
        const struct kn_texture *t = kn_object(w, KN_OBJECT_TEXTURE, first);
        f->active = kn_same_handle(handle, rest);
        if (!t) {
            kn_object_fault(op, w, KN_OBJECT_TEXTURE, f->active, first);
            return false;
        }
        if (t->levels && fits(t, KN_TEXTURE_GEOMETRY(op->i), KN_TEXTURE_INTEGER(op->i)))
            fetch(t, f);
        else
            fetch_nothing(f);
    }
    return true;
}

static void fetch_plain(const struct kn_texture *t, const struct kn_fetch *f)
{
    kn_texture_fetch(t, f);
}

static void fetch_level(const struct kn_texture *t, const struct kn_fetch *f)
{
    kn_texture_fetch_level(t, f);
}

static void fetch_gradient(const struct kn_texture *t, const struct kn_fetch *f)
{
    kn_texture_fetch_gradient(t, f);
}

static void fetch_gather(const struct kn_texture *t, const struct kn_fetch *f)
{
    kn_texture_gather(t, f);
}

// A 1D texture has one row for instructions about two dimensions.
static void fetch_integer(const struct kn_texture *t, const struct kn_fetch *f)
{
    struct kn_texture row;
    if (t->shape == KN_TEXTURE_1D) {
        row = *t;
        row.shape = KN_TEXTURE_2D;
        t = &row;
    }
    kn_texture_fetch_integer(t, f);
}

// A form and its twin with offsets. `read` reads the operands at `more`, of which there are
// `count`.
#define FETCH(name, count, read, fetch)                                                            \
    KN_OPERATION(name)                                                                             \
    {                                                                                              \
        const uint32_t *more = op->more + FIRST_MORE;                                              \
        struct kn_fetch f = fetch_of(op, w);                                                       \
        (void)more;                                                                                \
        read;                                                                                      \
        if (!each_texture(op, w, &f, fetch))                                                       \
            return NULL;                                                                           \
        KN_RETURN_NEXT;                                                                            \
    }                                                                                              \
    KN_OPERATION(name##_offset)                                                                    \
    {                                                                                              \
        const uint32_t *more = op->more + FIRST_MORE;                                              \
        struct kn_fetch f = fetch_of(op, w);                                                       \
        read;                                                                                      \
        words_read(w, more + (count), f.offset);                                                   \
        if (!each_texture(op, w, &f, fetch))                                                       \
            return NULL;                                                                           \
        KN_RETURN_NEXT;                                                                            \
    }
#define READ_LOD f.lod = word(w, more[0])
#define READ_GRADIENTS                                                                             \
    words_read(w, more, f.dx);                                                                     \
    words_read(w, more + 3, f.dy)
#define IS_INTEGER KN_TEXTURE_INTEGER(op->i)
FETCH(tex, 0, , IS_INTEGER ? fetch_integer : fetch_plain)
FETCH(tex_level, 1, READ_LOD, IS_INTEGER ? fetch_integer : fetch_level)
FETCH(tex_grad, 6, READ_GRADIENTS, fetch_gradient)
FETCH(tld4, 0, , fetch_gather)

// ---- txq ----

// Levels that do not exist have no extent. The number of layers is the extent of the dimension
// after the last one (recorded: x_tex forms/txq.…, x_surf query/txq.…).
static uint32_t answer(const struct kn_texture *t, enum kn_object_query query, uint32_t level)
{
    if (level >= t->levels)
        return 0;
    switch (query) {
    case KN_QUERY_WIDTH:
        return t->level[level].width;
    case KN_QUERY_HEIGHT:
        return t->shape == KN_TEXTURE_1D_LAYERED ? t->layers : t->level[level].height;
    default:
        return t->shape == KN_TEXTURE_3D ? t->level[level].depth
               : t->shape == KN_TEXTURE_2D_LAYERED || t->shape == KN_TEXTURE_CUBE_LAYERED
                   ? t->layers
                   : 0;
    }
}

KN_OPERATION(txq)
{
    const uint64_t *handle = KN_REGISTER(const uint64_t, op->a);
    const uint32_t *level = word(w, op->b);
    uint32_t *d = KN_REGISTER(uint32_t, op->d), lanes;
    w->at = op;
    for (uint32_t rest = kn_mask_of(op, w); rest; rest &= ~lanes) {
        const uint64_t first = handle[kn_lowest(rest)];
        const struct kn_texture *t = kn_object(w, KN_OBJECT_TEXTURE, first);
        lanes = kn_same_handle(handle, rest);
        if (!t)
            return kn_object_fault(op, w, KN_OBJECT_TEXTURE, lanes, first);
        KN_EACH_OF(lanes, i)
        d[i] = answer(t, (enum kn_object_query)op->i, level[i]);
    }
    KN_NEXT;
}

// ---- forms ----

#define FETCH_ROWS(operation, text, operands)                                                      \
    KN_ROW_OF(operation, text, "wwww=lwwww" operands "i"),                                         \
        KN_ROW_OF(operation##_offset, text ".offset", "wwww=lwwww" operands "wwwi")

const struct kn_form KN_FAMILY(texture)[] = {
    FETCH_ROWS(tex, "tex", ""),
    FETCH_ROWS(tex_level, "tex.level", "w"),
    FETCH_ROWS(tex_grad, "tex.grad", "wwwwww"),
    FETCH_ROWS(tld4, "tld4", ""),
    KN_ROW_OF(txq, "txq", "w=lwi"),
    {0},
};
