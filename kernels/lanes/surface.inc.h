// SPDX-License-Identifier: MIT
// For the families of surfaces: finds the elements that the lanes of an operation access, handle by
// handle.
//
// The sources of suld, sust and sured are the handle, x, y, z and the layer; coordinates that an
// instruction lacks are 0. kn_op.i is KN_SURFACE_ACCESS(geometry, boundary).
#pragma once

#include "kn_surface.h"
#include "object.inc.h"

// The registers of a surface operation.
struct operands {
    const uint64_t *handle;
    const int32_t *x, *y, *z, *layer;
    const uint32_t *values; // offsets of the values' registers: sust and sured
};

static inline struct operands operands_of(const struct kn_op *op, const struct kn_warp *w,
                                          unsigned destinations)
{
    const uint32_t *more = op->more + (destinations ? destinations - 1 : 0);
    return (struct operands){
        KN_REGISTER(const uint64_t, op->a),  KN_REGISTER(const int32_t, op->b),
        KN_REGISTER(const int32_t, op->c),   KN_REGISTER(const int32_t, more[0]),
        KN_REGISTER(const int32_t, more[1]), more + 2};
}

// How an operation counts x: in bytes, or in elements of unit_B bytes.
struct access {
    uint32_t size_B, unit_B;
    bool write;
};
#define BYTES(size, writes)                                                                        \
    (struct access)                                                                                \
    {                                                                                              \
        .size_B = (size), .unit_B = 1, .write = (writes)                                           \
    }

// The last coordinates inside. `mask` rounds the last byte of a row down to a whole access.
struct limits {
    int32_t x, y, z, layer;
    uint32_t unit_B, mask;
};

// The offsets of bytes in a block-linear layer: kn_tiled_offset_B in 32 bits, because the numbers
// of GOBs fit.
static inline void tiled_offsets(const struct kn_tiled *t, const uint32_t *x, const uint32_t *y,
                                 const uint32_t *z, uint64_t *offsets)
{
    const uint32_t a = t->block_height_log2, b = t->block_depth_log2;
    const uint32_t rows = t->height_gob >> a, width = t->width_gob;
    KN_EACH_LANE
    {
        const uint32_t gy = y[i] >> 3;
        const uint32_t block = ((z[i] >> b) * rows + (gy >> a)) * width + (x[i] >> 6);
        const uint32_t gob =
            block << (a + b) | (z[i] & ((1u << b) - 1)) << a | (gy & ((1u << a) - 1));
        const uint32_t inner =
            (x[i] & 32) << 3 | (y[i] & 4) << 5 | (x[i] & 16) << 2 | (y[i] & 3) << 4 | (x[i] & 15);
        offsets[i] = ((uint64_t)gob << 9) + inner;
    }
}

// Writes the address of each lane's element, or of the nearest one inside. Returns the lanes that
// are outside. Lanes that do not take part have an address inside, too.
static __attribute__((noinline)) uint32_t place(const struct kn_image *m, const struct operands *o,
                                                const struct limits *last, uint64_t *addresses)
{
    _Alignas(64) int32_t outside[KN_LANES];
    _Alignas(64) uint32_t x[KN_LANES], y[KN_LANES], z[KN_LANES], layer[KN_LANES];
    KN_EACH_LANE
    {
        const int32_t a = o->x[i] < 0 ? 0 : o->x[i] > last->x ? last->x : o->x[i];
        const int32_t b = o->y[i] < 0 ? 0 : o->y[i] > last->y ? last->y : o->y[i];
        const int32_t c = o->z[i] < 0 ? 0 : o->z[i] > last->z ? last->z : o->z[i];
        // Layers are numbers without a sign.
        const uint32_t most = (uint32_t)last->layer, is = (uint32_t)o->layer[i];
        const int32_t d = (int32_t)(is < most ? is : most);
        outside[i] = -(((a ^ o->x[i]) | (b ^ o->y[i]) | (c ^ o->z[i]) | (d ^ o->layer[i])) != 0);
        x[i] = ((uint32_t)a & last->mask) * last->unit_B;
        y[i] = (uint32_t)b;
        z[i] = (uint32_t)c;
        layer[i] = (uint32_t)d;
    }
    const uintptr_t base = (uintptr_t)m->base;
    if (m->block_linear) {
        const uint64_t layer_B = m->layer_B;
        tiled_offsets(&m->tiled, x, y, z, addresses);
        KN_EACH_LANE
        addresses[i] += base + layer[i] * layer_B;
    } else {
        KN_EACH_LANE
        addresses[i] = base + layer[i] * m->layer_B + z[i] * m->slice_B + y[i] * m->pitch_B + x[i];
    }
    return kn_bits_32(outside);
}

// Whether an instruction of a geometry reaches any element of an image: the number of dimensions
// must be the same, except that instructions for two dimensions see the first slice of a 3D image,
// whatever the layer is (recorded: x_surf geometry/suld.…).
static inline bool fits(const struct kn_image *m, enum kn_geometry geometry)
{
    const unsigned dimensions = geometry == KN_GEOMETRY_3D                                  ? 3
                                : geometry == KN_GEOMETRY_2D || geometry == KN_GEOMETRY_A2D ? 2
                                                                                            : 1;
    return dimensions == m->dimensions || (dimensions == 2 && m->dimensions == 3);
}

// The lanes whose accesses are misaligned.
static inline uint32_t misaligned(const struct operands *o, uint32_t lanes, uint32_t size_B)
{
    uint32_t bits = 0, bad = 0;
    KN_EACH_LANE
    bits |= (uint32_t)o->x[i];
    if (!(bits & (size_B - 1)))
        return 0;
    KN_EACH_OF(lanes, i)
    bad |= ((uint32_t)o->x[i] & (size_B - 1)) ? UINT32_C(1) << i : 0;
    return bad;
}

// The elements that some lanes of an operation access: those with the handle of the lowest one.
struct turn {
    const struct kn_image *image;
    uint32_t lanes, outside;
};

static inline bool fault(struct kn_warp *w, const struct operands *o, const struct access *access,
                         enum kn_fault_kind kind, uint32_t lanes, uint64_t address)
{
    const int lane = kn_lowest(lanes);
    w->fault = (struct kn_fault){.kind = kind,
                                 .lanes = lanes,
                                 .address = address,
                                 .size_B = access->size_B,
                                 .write = access->write,
                                 .at = {o->x[lane], o->y[lane], o->z[lane], o->layer[lane]}};
    w->stop = KN_STOP_FAULT;
    return false;
}

// Writes the addresses of elements, and the lanes that are outside of an image. Returns false if it
// has no element for any lane, even if coordinates are clamped.
static inline bool find_elements(const struct kn_image *m, const struct operands *o,
                                 enum kn_geometry geometry, const struct access *access,
                                 uint64_t *addresses, uint32_t *outside)
{
    const uint64_t row_B = (uint64_t)m->width * m->element_B;
    const bool bytes = access->unit_B == 1;
    *outside = UINT32_MAX;
    if (!fits(m, geometry) || access->size_B > row_B)
        return false;
    const struct limits last = {
        .x = (int32_t)(bytes ? row_B - access->size_B : row_B / access->unit_B - 1),
        .y = (int32_t)m->height - 1,
        .z = (int32_t)m->depth - 1,
        .layer = m->dimensions == 3 ? INT32_MAX : (int32_t)m->layers - 1,
        .unit_B = access->unit_B,
        .mask = bytes ? -access->size_B : UINT32_MAX};
    *outside = place(m, o, &last, addresses);
    return true;
}

// Finds the elements for some lanes of `mask`. Returns false after a fault.
static inline bool take_turn(const struct kn_op *op, struct kn_warp *w, const struct operands *o,
                             uint32_t mask, struct access access, struct turn *turn)
{
    const uint64_t handle = o->handle[kn_lowest(mask)];
    const struct kn_image *m = kn_object(w, KN_OBJECT_SURFACE, handle);
    turn->lanes = kn_same_handle(o->handle, mask);
    turn->image = m;
    w->at = op;
    if (!m) {
        kn_object_fault(op, w, KN_OBJECT_SURFACE, turn->lanes, handle);
        return false;
    }
    if (!access.unit_B) // an element of the image
        access.size_B = access.unit_B = m->element_B;
    uint32_t bad =
        access.unit_B == 1 && m->dimensions ? misaligned(o, turn->lanes, access.size_B) : 0;
    if (__builtin_expect(bad, 0))
        return fault(w, o, &access, KN_FAULT_MISALIGNED, bad, (uint32_t)o->x[kn_lowest(bad)]);
    const bool exist =
        find_elements(m, o, KN_SURFACE_GEOMETRY(op->i), &access, w->addresses, &turn->outside);
    bad = turn->outside & turn->lanes;
    if (__builtin_expect(bad && KN_SURFACE_BOUNDARY(op->i) == KN_BOUNDARY_TRAP, 0))
        return fault(w, o, &access, KN_FAULT_OUTSIDE, bad, handle);
    if (exist && KN_SURFACE_BOUNDARY(op->i) == KN_BOUNDARY_CLAMP)
        turn->outside = 0;
    return true;
}
