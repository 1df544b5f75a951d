// SPDX-License-Identifier: MIT
// Lowering of wmma: an operation on large fragments becomes several mma on tiles of them.
//
//     m16n16k16 = 1 x 2 tiles of m16n8k16      m32n8k16 = 2 x 1      m8n32k16: transposed m32n8k16
//
// The registers of a fragment are those of its tiles, one tile after the other, row by row. If the
// shape is transposed, A has the registers of the other shape's B, B those of A, and C is turned.
#include <string.h>

#include "kn_matrix.h"
#include "lower_matrix.h"

enum { REGISTERS_MOST = KN_FRAGMENT_MOST, ALL_MOST = 4 * REGISTERS_MOST };

struct wmma {
    unsigned m, n, k;      // the shape
    unsigned factor;       // the type of A and B
    unsigned across, down; // tiles of C
    unsigned a, b, c;      // registers of a tile
    bool tall;             // tiles have 16 rows
    bool transposed;       // A and B change places; m is 32, and n is 8
};

// "m16n8k32": three numbers.
static void shape_read(const char *text, struct wmma *w)
{
    unsigned *const out[] = {&w->m, &w->n, &w->k};
    for (unsigned i = 0; i < 3; i++) {
        for (text++; *text >= '0' && *text <= '9'; text++)
            *out[i] = *out[i] * 10 + (unsigned)(*text - '0');
    }
}

// `sum` is the type of C.
static struct wmma wmma_of(const char *shape, unsigned factor, unsigned sum)
{
    struct wmma w = {.factor = factor};
    shape_read(shape, &w);
    w.transposed = w.m < w.n;
    if (w.transposed) {
        w.m = w.n;
        w.n = 8;
    }
    const unsigned word = factor == PX_F64 ? 64 : 32, rows = w.m < 16 ? 8 : 16;
    w.tall = rows == 16;
    w.across = w.n / 8;
    w.down = w.m / rows;
    w.a = rows * w.k * px_type_bits(factor) / (32 * word);
    w.b = 8 * w.k * px_type_bits(factor) / (32 * word);
    w.c = rows * 8 / 32 / (px_type_bits(sum) == 16 ? 2 : 1);
    return w;
}

// The fragment of the shape that is not transposed.
static enum kn_matrix_fragment turned(const struct wmma *w, enum kn_matrix_fragment which)
{
    if (!w->transposed || which == KN_FRAGMENT_C)
        return which;
    return which == KN_FRAGMENT_A ? KN_FRAGMENT_B : KN_FRAGMENT_A;
}

// "wmma with .f16 has 8 registers of A and B, whatever the shape": they repeat the tiles.
static unsigned registers_of(const struct wmma *w, enum kn_matrix_fragment of)
{
    const enum kn_matrix_fragment which = turned(w, of);
    if (which == KN_FRAGMENT_C)
        return w->c * w->across * w->down;
    if (w->factor == PX_F16)
        return REGISTERS_MOST;
    return which == KN_FRAGMENT_A ? w->a * w->down : w->b * w->across;
}

static void check_count(struct px_lower *l, const struct wmma *w, enum kn_matrix_fragment which,
                        unsigned count)
{
    const unsigned needed = registers_of(w, which);
    if (!px_failed(l) && count != needed)
        px_refuse(l, "a fragment has %u registers; this shape and type need %u", count, needed);
}

// ---- wmma.load, wmma.store ----

static int64_t fragment_of(const struct wmma *w, enum kn_matrix_fragment of, unsigned type,
                           bool columns)
{
    const enum kn_matrix_fragment which = turned(w, of);
    const unsigned tiles = which == KN_FRAGMENT_A   ? w->down
                           : which == KN_FRAGMENT_B ? w->across
                                                    : w->across * w->down;
    const unsigned registers = which == KN_FRAGMENT_A ? w->a : which == KN_FRAGMENT_B ? w->b : w->c;
    return (int64_t)which << KN_FRAGMENT_WHICH |
           (int64_t)__builtin_ctz(px_type_bits(type)) << KN_FRAGMENT_WIDTH |
           (int64_t)(columns != w->transposed) << KN_FRAGMENT_COLUMNS |
           (int64_t)w->tall << KN_FRAGMENT_TALL | (int64_t)(w->across - 1) << KN_FRAGMENT_ACROSS |
           (int64_t)(tiles - 1) << KN_FRAGMENT_TILES |
           (int64_t)(registers - 1) << KN_FRAGMENT_REGISTERS;
}

// The type of the other operands, of which the number of registers depends: for .f16, A and B have
// the same size whatever C is.
static struct wmma wmma_moved(const char *shape, unsigned type, enum kn_matrix_fragment which)
{
    if (which != KN_FRAGMENT_C)
        return wmma_of(shape, type, PX_F32);
    return wmma_of(shape, type == PX_F64 ? PX_F64 : PX_F16, type);
}

// The address with its offset, and the stride: "in elements; by default the rows or columns are
// adjacent".
static void move_operands(struct px_lower *l, const struct px_statement *s, const struct wmma *w,
                          enum kn_matrix_fragment which, bool columns, px_register *out)
{
    const bool shared = px_has(s, PX_MOD_SHARED) || px_has(s, PX_MOD_SHARED_CTA);
    const unsigned n = which == KN_FRAGMENT_C && !px_has(s, PX_MOD_LOAD) ? 2 : 1;
    const unsigned m = w->transposed ? w->n : w->m, width = w->transposed ? w->m : w->n;
    const unsigned rows = which == KN_FRAGMENT_B ? w->k : m;
    const unsigned across = which == KN_FRAGMENT_A ? w->k : width;
    const struct px_address a = px_generic_address(l, &s->a[0], shared ? PX_SHARED : PX_GENERIC);
    out[0] = px_temporary(l, 'l');
    px_emit(l, "add.64", out[0], a.base, px_constant(l, 'l', (uint64_t)a.offset));
    out[1] = s->a[n].kind == PX_OPERAND_NONE ? px_constant(l, 'w', columns ? rows : across)
                                             : px_source(l, s, n);
}

void px_lower_wmma_load(struct px_lower *l, const struct px_statement *s)
{
    const enum kn_matrix_fragment which = px_has(s, PX_MOD_A)   ? KN_FRAGMENT_A
                                          : px_has(s, PX_MOD_B) ? KN_FRAGMENT_B
                                                                : KN_FRAGMENT_C;
    const unsigned type = s->types[0];
    const bool columns = px_has(s, PX_MOD_COL);
    const struct wmma w = wmma_moved(px_matrix_shape(s), type, which);
    px_register r[REGISTERS_MOST + 2];
    const unsigned n = px_destinations(l, s, 0, r, REGISTERS_MOST);
    check_count(l, &w, which, n);
    move_operands(l, s, &w, which, columns, r + n);
    px_emit_form(l, type == PX_F64 ? "wmma.load.64" : "wmma.load.32",
                 fragment_of(&w, which, type, columns), px_matrix_lanes(l), r, n + 2);
}

void px_lower_wmma_store(struct px_lower *l, const struct px_statement *s)
{
    const unsigned type = s->types[0];
    const bool columns = px_has(s, PX_MOD_COL);
    const struct wmma w = wmma_moved(px_matrix_shape(s), type, KN_FRAGMENT_C);
    px_register r[REGISTERS_MOST + 2];
    move_operands(l, s, &w, KN_FRAGMENT_C, columns, r);
    const unsigned n = px_sources(l, s, 1, r + 2, REGISTERS_MOST);
    check_count(l, &w, KN_FRAGMENT_C, n);
    px_emit_form(l, type == PX_F64 ? "wmma.store.64" : "wmma.store.32",
                 fragment_of(&w, KN_FRAGMENT_C, type, columns), px_matrix_lanes(l), r, n + 2);
}

// ---- wmma.mma ----

// The registers of the four fragments.
struct fragments {
    px_register d[REGISTERS_MOST], a[REGISTERS_MOST], b[REGISTERS_MOST], c[REGISTERS_MOST];
};

static const char *name_of_tile(struct px_lower *l, const struct wmma *w, bool half)
{
    const unsigned bits = px_type_bits(w->factor);
    const char kind = px_type_kind(w->factor);
    if (w->factor == PX_F64)
        return "mma.m8n8k4.f64";
    if (kind == 's' || kind == 'u' || w->factor == PX_B1)
        return px_name(l, "mma.m%un8k%u.%u", w->tall ? 16 : 8, w->k, bits);
    return px_name(l, "mma.m16n8k%u.%s.%s", w->k, px_modifier_name(w->factor),
                   half ? "f16" : "f32");
}

// One mma: parts of the registers of a tile of A and of B.
static void part_emit(struct px_lower *l, const struct fragments *f, const char *name,
                      const unsigned *first, const unsigned *count, int64_t flags)
{
    enum { A, B, C };
    px_register r[ALL_MOST];
    unsigned n = 0;
    for (unsigned i = 0; i < count[C]; i++)
        r[n++] = f->d[first[C] + i];
    for (unsigned i = 0; i < count[A]; i++)
        r[n++] = f->a[first[A] + i];
    for (unsigned i = 0; i < count[B]; i++)
        r[n++] = f->b[first[B] + i];
    for (unsigned i = 0; i < count[C]; i++)
        r[n++] = f->c[first[C] + i];
    px_emit_form(l, name, flags, px_matrix_lanes(l), r, n);
}

// The hardware multiplies tf32 in two steps of four columns of A (measured).
static void tile_emit(struct px_lower *l, const struct wmma *w, struct fragments *f, unsigned row,
                      unsigned column, int64_t flags, bool half)
{
    const unsigned c = (row * w->across + column) * w->c, steps = w->factor == PX_TF32 ? 2 : 1;
    const unsigned count[] = {w->a / steps, w->b / steps, w->c};
    const char *name = steps == 2 ? "mma.m16n8k4.tf32.f32" : name_of_tile(l, w, half);
    for (unsigned step = 0; step < steps; step++) {
        const unsigned first[] = {row * w->a + step * count[0], column * w->b + step * count[1], c};
        part_emit(l, f, name, first, count, flags);
        for (unsigned i = 0; i < w->c; i++)
            f->c[c + i] = f->d[c + i]; // for the next step
    }
}

// The types are those of D, A, B and C, or for .f16 of D and C.
void px_lower_wmma(struct px_lower *l, const struct px_statement *s)
{
    const bool four = s->type_count == 4;
    const unsigned to = s->types[0], sum = s->types[four ? 3 : 1];
    const unsigned a = four ? s->types[1] : PX_F16, b = four ? s->types[2] : PX_F16;
    const struct wmma w = wmma_of(px_matrix_shape(s), a, sum);
    const struct wmma w_to = wmma_of(px_matrix_shape(s), a, to);
    const bool half = sum == PX_F16;
    struct fragments f;
    check_count(l, &w_to, KN_FRAGMENT_C, px_destinations(l, s, 0, f.d, REGISTERS_MOST));
    check_count(l, &w, KN_FRAGMENT_A,
                px_sources(l, s, 0, w.transposed ? f.b : f.a, REGISTERS_MOST));
    check_count(l, &w, KN_FRAGMENT_B,
                px_sources(l, s, 1, w.transposed ? f.a : f.b, REGISTERS_MOST));
    check_count(l, &w, KN_FRAGMENT_C, px_sources(l, s, 2, f.c, REGISTERS_MOST));
    if (to != sum)
        px_unsupported(l, "destinations of type .%s with C of type .%s are not supported",
                       px_modifier_name(to), px_modifier_name(sum));
    if (px_failed(l))
        return;
    // A tile should not overwrite registers that later tiles read, so results are moved at the end.
    px_register results[REGISTERS_MOST];
    const unsigned count = registers_of(&w, KN_FRAGMENT_C);
    memcpy(results, f.d, sizeof(results));
    for (unsigned i = 0; i < count; i++)
        f.d[i] = px_temporary(l, px_letter(l, results[i]));
    for (unsigned row = 0; row < w.down; row++)
        for (unsigned column = 0; column < w.across; column++)
            tile_emit(l, &w, &f, row, column, px_matrix_flags(s, a, b), half);
    for (unsigned i = 0; i < count; i++)
        px_emit(l, a == PX_F64 ? "mov.64" : "mov.32", results[i], f.d[i]);
}
