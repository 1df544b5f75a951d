// SPDX-License-Identifier: MIT
// Tests of suld, sust and sured over random images, block-linear ones and ones in rows, against a
// model that looks at one lane and one byte at a time.
#include <stdio.h>
#include <string.h>

#include "checkasm.h"
#include "kn_lanes.h"
#include "kn_surface.h"
#include "kn_tile.h"

enum {
    MEMORY_B = 1 << 18,
    REGISTERS = 16,
    REGISTER_B = 512,
    HANDLE = 7,
    // The registers by their numbers. 0 is the predicate of operations without a guard.
    AT_HANDLE = 1,
    AT_X,
    AT_Y,
    AT_Z,
    AT_LAYER,
    AT_VALUES,
};

struct surface_case {
    struct kn_image image;
    enum kn_geometry geometry;
    enum kn_boundary boundary;
    unsigned value_B, count; // of an access: `count` values
    uint32_t active;
};

static const struct kn_image *image_now;
static const void *find(const struct kn_objects *objects, enum kn_object_kind kind, uint64_t handle)
{
    (void)objects;
    return kind == KN_OBJECT_SURFACE && handle == HANDLE ? image_now : NULL;
}

static const struct kn_op *stop(const struct kn_op *op, struct kn_warp *w)
{
    (void)op;
    w->stop = KN_STOP_OTHER;
    return NULL;
}

// ---- cases ----

static void draw_image(struct surface_case *c, uint8_t *base)
{
    struct kn_image *m = &c->image;
    const unsigned dimensions = 1 + (unsigned)ca_below(3);
    *m = (struct kn_image){.base = base,
                           .element_B = (uint8_t)(1u << ca_below(5)),
                           .height = dimensions > 1 ? 1 + (uint32_t)ca_below(20) : 1,
                           .depth = dimensions > 2 ? 1 + (uint32_t)ca_below(5) : 1,
                           .layers = 1,
                           .dimensions = (uint8_t)dimensions,
                           .layered = dimensions < 3 && ca_below(2),
                           .block_linear = ca_below(2)};
    m->width = 1 + (uint32_t)ca_below(200 / m->element_B);
    if (m->layered)
        m->layers = 1 + (uint32_t)ca_below(4);
    const uint32_t row_B = m->width * m->element_B;
    if (m->block_linear) {
        const uint32_t block = (uint32_t)ca_below(3);
        m->tiled = (struct kn_tiled){.width_gob = (row_B + 63) / 64,
                                     .block_height_log2 = (uint8_t)block,
                                     .block_depth_log2 = (uint8_t)ca_below(2)};
        m->tiled.height_gob = ((m->height + 7) / 8 + (1u << block) - 1) >> block << block;
        m->layer_B = kn_tiled_size_B(&m->tiled, m->depth);
    } else {
        m->pitch_B = (row_B + 15) / 16 * 16 + 16 * ca_below(4);
        m->slice_B = m->pitch_B * m->height;
        m->layer_B = m->slice_B * m->depth;
    }
    c->geometry = dimensions == 3 ? KN_GEOMETRY_3D
                  : m->layered    ? (dimensions == 1 ? KN_GEOMETRY_A1D : KN_GEOMETRY_A2D)
                                  : (dimensions == 1 ? KN_GEOMETRY_1D : KN_GEOMETRY_2D);
}

// A coordinate that is mostly inside of 0 … size - 1.
static int32_t draw_coordinate(uint32_t size, bool exists)
{
    return exists ? (int32_t)ca_below(size + 4) - 2 : 0;
}

static void draw_registers(const struct surface_case *c, uint8_t *file)
{
    const struct kn_image *m = &c->image;
    const uint32_t size_B = c->value_B * c->count;
    ca_random_bytes(file, REGISTERS * REGISTER_B);
    memset(file, 0, 4);
    for (unsigned i = 0; i < KN_LANES; i++) {
        const uint64_t handle = HANDLE;
        const int32_t at[4] = {
            draw_coordinate(m->width * m->element_B / size_B + 1, true) * (int32_t)size_B,
            draw_coordinate(m->height, m->dimensions > 1),
            draw_coordinate(m->depth, m->dimensions > 2), draw_coordinate(m->layers, m->layered)};
        memcpy(file + AT_HANDLE * REGISTER_B + 8 * i, &handle, 8);
        for (unsigned n = 0; n < 4; n++)
            memcpy(file + (AT_X + n) * REGISTER_B + 4 * i, &at[n], 4);
    }
}

// ---- the model ----

static int32_t coordinate(const uint8_t *file, unsigned at, unsigned lane)
{
    int32_t value;
    memcpy(&value, file + at * REGISTER_B + 4 * lane, 4);
    return value;
}

// Moves a coordinate inside. Returns whether it was outside.
static bool clamp(int32_t *value, int64_t last)
{
    const int32_t given = *value;
    *value = given < 0 ? 0 : given > last ? (int32_t)last : given;
    return *value != given;
}

// The first byte that a lane accesses, or NULL. *outside: of the image.
static uint8_t *model_place(const struct surface_case *c, const uint8_t *file, unsigned lane,
                            bool *outside)
{
    const struct kn_image *m = &c->image;
    const int32_t size_B = (int32_t)(c->value_B * c->count);
    int32_t x = coordinate(file, AT_X, lane), y = coordinate(file, AT_Y, lane),
            z = coordinate(file, AT_Z, lane), layer = coordinate(file, AT_LAYER, lane);
    const int64_t row_B = (int64_t)m->width * m->element_B;
    *outside = row_B < size_B;
    if (*outside)
        return NULL;
    *outside |= clamp(&x, row_B - size_B);
    *outside |= clamp(&y, m->height - 1);
    *outside |= clamp(&z, m->depth - 1);
    if (m->dimensions < 3)
        layer = layer < 0 ? INT32_MAX : layer; // a number without a sign
    *outside |= clamp(&layer, m->layers - 1);
    x = x / size_B * size_B;
    if (*outside && c->boundary != KN_BOUNDARY_CLAMP)
        return NULL;
    const uint64_t in_layer =
        m->block_linear ? kn_tiled_offset_B(&m->tiled, (uint64_t)x, (uint64_t)y, (uint64_t)z)
                        : (uint64_t)z * m->slice_B + (uint64_t)y * m->pitch_B + (uint64_t)x;
    return m->base + (uint64_t)layer * (m->dimensions < 3 ? m->layer_B : 0) + in_layer;
}

// ---- runs ----

// Runs one operation. Returns whether it was a fault outside of the image.
static bool run(const struct surface_case *c, const char *name, uint8_t *file, bool loads)
{
    unsigned count;
    const struct kn_form *form = &kn_forms(&count)[kn_form_find(name)];
    uint32_t more[8], mores = 0;
    struct kn_objects objects = {.find = find};
    const struct kn_memory memory = {.objects = &objects};
    struct kn_warp w = {.r = (char *)file, .lanes = UINT32_MAX, .memory = &memory};
    struct kn_op ops[2] = {{.run = {form->run[0], form->run[1]},
                            .d = AT_VALUES * REGISTER_B,
                            .a = AT_HANDLE * REGISTER_B,
                            .b = AT_X * REGISTER_B,
                            .c = AT_Y * REGISTER_B,
                            .guard_flip = UINT32_MAX,
                            .count = c->count,
                            .more = more,
                            .i = KN_SURFACE_ACCESS(c->geometry, c->boundary)},
                           {.run = {stop, stop}}};
    for (unsigned n = 1; loads && n < c->count; n++)
        more[mores++] = (AT_VALUES + n) * REGISTER_B;
    more[mores++] = AT_Z * REGISTER_B;
    more[mores++] = AT_LAYER * REGISTER_B;
    for (unsigned n = 0; !loads && n < c->count; n++)
        more[mores++] = (AT_VALUES + n) * REGISTER_B;
    image_now = &c->image;
    kn_warp_activate(&w, c->active);
    kn_warp_run(&w, ops);
    return w.stop == KN_STOP_FAULT && w.fault.kind == KN_FAULT_OUTSIDE;
}

static unsigned register_B(unsigned value_B)
{
    return value_B < 2 ? 2 : value_B; // bytes live in registers of 16 bits
}

// What the operation does by the model. Returns whether it is a fault.
static bool model(const struct surface_case *c, uint8_t *file, bool loads)
{
    for (unsigned lane = 0; lane < KN_LANES; lane++) {
        bool outside;
        if (!(c->active >> lane & 1))
            continue;
        model_place(c, file, lane, &outside);
        if (outside && c->boundary == KN_BOUNDARY_TRAP)
            return true;
    }
    for (unsigned lane = 0; lane < KN_LANES; lane++) {
        bool outside;
        uint8_t *at;
        if (!(c->active >> lane & 1))
            continue;
        at = model_place(c, file, lane, &outside);
        for (unsigned n = 0; n < c->count; n++) {
            const unsigned value_B = register_B(c->value_B);
            uint8_t *value = file + (AT_VALUES + n) * REGISTER_B + value_B * lane;
            if (loads) {
                memset(value, 0, value_B);
                if (at)
                    memcpy(value, at + n * c->value_B, c->value_B);
            } else if (at) {
                memcpy(at + n * c->value_B, value, c->value_B);
            }
        }
    }
    return false;
}

static void check(const char *root, bool loads)
{
    static uint8_t memories[2][MEMORY_B];
    static _Alignas(64) uint8_t files[2][REGISTERS * REGISTER_B];
    static const enum kn_boundary boundaries[] = {KN_BOUNDARY_TRAP, KN_BOUNDARY_CLAMP,
                                                  KN_BOUNDARY_ZERO};
    char name[16];
    for (unsigned i = 0; i < ca_cases(400); i++) {
        struct surface_case c;
        c.value_B = 1u << ca_below(4);
        c.count = 1u << ca_below(3);
        if (c.value_B * c.count > 16)
            c.count = 16 / c.value_B;
        snprintf(name, sizeof name, "%s.b%u", root, 8 * c.value_B);
        ca_begin(name);
        draw_image(&c, memories[0]);
        c.boundary = boundaries[ca_below(3)];
        c.active = ca_below(3) ? (uint32_t)ca_random() : UINT32_MAX;
        draw_registers(&c, files[0]);
        memcpy(files[1], files[0], sizeof files[0]);
        ca_random_bytes(memories[0], MEMORY_B);
        memcpy(memories[1], memories[0], MEMORY_B);
        const bool got = run(&c, name, files[0], loads);
        c.image.base = memories[1];
        const bool want = model(&c, files[1], loads);
        if (got != want)
            ca_fail(name, "%s a fault", got ? "is" : "is not");
        else if (!want && memcmp(files[0], files[1], sizeof files[0]))
            ca_fail(name, "other values in registers: %u values, lanes %08x", c.count, c.active);
        else if (!want && memcmp(memories[0], memories[1], MEMORY_B))
            ca_fail(name, "other bytes in memory: %u values, lanes %08x", c.count, c.active);
    }
}

void ca_check_surface(const struct kn_dsp *dsp)
{
    (void)dsp;
    check("suld", true);
    check("sust", false);
}
