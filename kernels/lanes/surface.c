// SPDX-License-Identifier: MIT
// Forms of suld, sust, sured and suq: "suld.b32" reads kn_op.count values of 32 bits. Their sources
// are the handle, x, y, z and the layer; coordinates that an instruction lacks are 0. kn_op.i is
// KN_SURFACE_ACCESS(geometry, boundary).
//
// The lanes of each handle take their turn together.
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "convert_scalar.h"
#include "families.h"
#include "kn_surface.h"
#include "object.inc.h"

// ---- places ----

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
        const int32_t d = o->layer[i] < 0             ? 0
                          : o->layer[i] > last->layer ? last->layer
                                                      : o->layer[i];
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
static bool fits(const struct kn_image *m, enum kn_geometry geometry)
{
    const unsigned dimensions = geometry == KN_GEOMETRY_3D                                  ? 3
                                : geometry == KN_GEOMETRY_2D || geometry == KN_GEOMETRY_A2D ? 2
                                                                                            : 1;
    return dimensions == m->dimensions || (dimensions == 2 && m->dimensions == 3);
}

// The lanes whose accesses are misaligned.
static uint32_t misaligned(const struct operands *o, uint32_t lanes, uint32_t size_B)
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

static bool fault(struct kn_warp *w, const struct operands *o, const struct access *access,
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
static bool find_elements(const struct kn_image *m, const struct operands *o,
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
static bool take_turn(const struct kn_op *op, struct kn_warp *w, const struct operands *o,
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

// ---- suld.b and sust.b ----

// Imported memory may begin anywhere.
typedef uint8_t value_8;
typedef uint16_t value_16 __attribute__((aligned(1)));
typedef uint32_t value_32 __attribute__((aligned(1)));
typedef uint64_t value_64 __attribute__((aligned(1)));

#define BYTES(size, writes)                                                                        \
    (struct access)                                                                                \
    {                                                                                              \
        .size_B = (size), .unit_B = 1, .write = (writes)                                           \
    }

// X(bits, type of the register): bytes live in registers of 16 bits.
#define EACH_WIDTH(X)                                                                              \
    X(8, uint16_t)                                                                                 \
    X(16, uint16_t)                                                                                \
    X(32, uint32_t)                                                                                \
    X(64, uint64_t)
#define LOAD_STORE(bits, R)                                                                        \
    KN_OPERATION(suld_##bits)                                                                      \
    {                                                                                              \
        const struct operands o = operands_of(op, w, op->count);                                   \
        struct turn turn;                                                                          \
        for (uint32_t rest = kn_mask_of(op, w); rest; rest &= ~turn.lanes) {                       \
            if (!take_turn(op, w, &o, rest, BYTES(op->count * (bits) / 8, false), &turn))          \
                return NULL;                                                                       \
            for (unsigned n = 0; n < op->count; n++) {                                             \
                R *d = KN_REGISTER(R, n ? op->more[n - 1] : op->d);                                \
                KN_EACH_OF(turn.lanes &turn.outside, i)                                            \
                d[i] = 0;                                                                          \
                if (turn.lanes == UINT32_MAX && !turn.outside)                                     \
                    for (int i = 0; i < KN_LANES; i++)                                             \
                        d[i] = ((const value_##bits *)(uintptr_t)w->addresses[i])[n];              \
                else                                                                               \
                    KN_EACH_OF(turn.lanes & ~turn.outside, i)                                      \
                d[i] = ((const value_##bits *)(uintptr_t)w->addresses[i])[n];                      \
            }                                                                                      \
        }                                                                                          \
        KN_RETURN_NEXT;                                                                            \
    }                                                                                              \
    KN_OPERATION(sust_##bits)                                                                      \
    {                                                                                              \
        const struct operands o = operands_of(op, w, 0);                                           \
        struct turn turn;                                                                          \
        for (uint32_t rest = kn_mask_of(op, w); rest; rest &= ~turn.lanes) {                       \
            if (!take_turn(op, w, &o, rest, BYTES(op->count * (bits) / 8, true), &turn))           \
                return NULL;                                                                       \
            for (unsigned n = 0; n < op->count; n++) {                                             \
                const R *value = KN_REGISTER(const R, o.values[n]);                                \
                KN_EACH_OF(turn.lanes & ~turn.outside, i)                                          \
                ((value_##bits *)(uintptr_t)w->addresses[i])[n] = (value_##bits)value[i];          \
            }                                                                                      \
        }                                                                                          \
        KN_RETURN_NEXT;                                                                            \
    }
EACH_WIDTH(LOAD_STORE)

// ---- sust.p ----

// The nearest whole number, of two the one closer to 0 (recorded: x_surf
// formatted/sust.p-unorm8x4).
static double nearest(double v)
{
    return v < 0 ? floor(v + 0.5) : ceil(v - 0.5);
}

static uint32_t unorm_of(uint32_t bits, uint32_t scale)
{
    const float v = kn_float_of_bits(bits);
    return v >= 1.0f ? scale : v > 0.0f ? (uint32_t)nearest((double)v * scale) : 0;
}

static int32_t snorm_of(uint32_t bits, int32_t scale)
{
    const float v = kn_float_of_bits(bits);
    return v >= 1.0f    ? scale
           : v <= -1.0f ? -scale
           : v == v     ? (int32_t)nearest((double)v * scale)
                        : 0;
}

// Rounded in the same way.
static uint16_t half_of(uint32_t bits)
{
    enum { NORMAL = 0x38800000, TIE_OF_MOST = 0x477ff000 };
    const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > TIE_OF_MOST)
        return kn_to_half(kn_float_of_bits(bits));
    if (magnitude < NORMAL)
        return (uint16_t)(sign | (uint32_t)nearest((double)kn_float_of_bits(magnitude) * 0x1p24));
    return (uint16_t)(sign | (magnitude - (112u << 23) + 0xfff) >> 13);
}

// "If the surface format contains UNORM, SNORM, or FLOAT data, then .f32 is assumed; if UINT, .u32;
// if SINT, .s32. The source data is then converted to the surface sample format": saturated.
static uint32_t channel_of(const struct kn_image *m, uint32_t value)
{
    const unsigned bits = 8u * m->channel_B;
    switch (m->kind) {
    case KN_CHANNEL_UINT:
        return bits < 32 && value >> bits ? (UINT32_C(1) << bits) - 1 : value;
    case KN_CHANNEL_SINT: {
        const int32_t most = (int32_t)(UINT32_MAX >> (33 - bits)), v = (int32_t)value;
        return (uint32_t)(v > most ? most : v < -most - 1 ? -most - 1 : v);
    }
    case KN_CHANNEL_FLOAT:
        return m->channel_B == 2 ? half_of(value) : value;
    case KN_CHANNEL_UNORM:
        return unorm_of(value, (UINT32_C(1) << bits) - 1);
    default:
        return (uint32_t)snorm_of(value, (1 << (bits - 1)) - 1);
    }
}

static void store_element(const struct kn_image *m, uint8_t *to, const uint32_t value[4])
{
    if (m->kind == KN_CHANNEL_UNORM10_2) {
        uint32_t element = 0;
        for (unsigned c = 0; c < 4; c++)
            element |= unorm_of(value[c], c < 3 ? 1023 : 3) << 10 * c;
        memcpy(to, &element, sizeof element);
        return;
    }
    for (unsigned c = 0; c < m->channels; c++) {
        const uint32_t channel = channel_of(m, value[c]);
        memcpy(to + c * m->channel_B, &channel, m->channel_B); // the lowest bytes
    }
}

// "Source elements that do not occur in the surface sample are ignored. Surface sample components
// that do not occur in the source vector will be written with an unpredictable value": 0.
KN_OPERATION(sust_p_32)
{
    const struct operands o = operands_of(op, w, 0);
    struct turn turn;
    for (uint32_t rest = kn_mask_of(op, w); rest; rest &= ~turn.lanes) {
        if (!take_turn(op, w, &o, rest, (struct access){.write = true}, &turn))
            return NULL;
        KN_EACH_OF(turn.lanes & ~turn.outside, i)
        {
            uint32_t value[4] = {0};
            for (unsigned n = 0; n < op->count; n++)
                value[n] = KN_REGISTER(const uint32_t, o.values[n])[i];
            store_element(turn.image, (uint8_t *)(uintptr_t)w->addresses[i], value);
        }
    }
    KN_RETURN_NEXT;
}

// ---- sured ----

// X(name, text, type, letter, the new value by `old` and `b`)
#define EACH_REDUCTION(X)                                                                          \
    X(add_32, "add.32", uint32_t, "w", old + b)                                                    \
    X(add_64, "add.64", uint64_t, "l", old + b)                                                    \
    X(and_32, "and.32", uint32_t, "w", old &b)                                                     \
    X(or_32, "or.32", uint32_t, "w", old | b)                                                      \
    X(min_u32, "min.u32", uint32_t, "w", b < old ? b : old)                                        \
    X(max_u32, "max.u32", uint32_t, "w", b > old ? b : old)                                        \
    X(min_s32, "min.s32", uint32_t, "w", (int32_t)b < (int32_t)old ? b : old)                      \
    X(max_s32, "max.s32", uint32_t, "w", (int32_t)b > (int32_t)old ? b : old)                      \
    X(min_u64, "min.u64", uint64_t, "l", b < old ? b : old)                                        \
    X(max_u64, "max.u64", uint64_t, "l", b > old ? b : old)                                        \
    X(min_s64, "min.s64", uint64_t, "l", (int64_t)b < (int64_t)old ? b : old)                      \
    X(max_s64, "max.s64", uint64_t, "l", (int64_t)b > (int64_t)old ? b : old)

#define REDUCTION(name, text, T, letter, next)                                                     \
    static void reduce_##name(const struct kn_op *op, struct kn_warp *w, uint32_t lanes,           \
                              uint32_t source)                                                     \
    {                                                                                              \
        const T *values = KN_REGISTER(const T, source);                                            \
        (void)op;                                                                                  \
        KN_EACH_OF(lanes, i)                                                                       \
        {                                                                                          \
            T *at = (T *)(uintptr_t)w->addresses[i], b = values[i], to;                            \
            T old = __atomic_load_n(at, __ATOMIC_RELAXED);                                         \
            do                                                                                     \
                to = (T)(next);                                                                    \
            while (!__atomic_compare_exchange_n(at, &old, to, true, __ATOMIC_SEQ_CST,              \
                                                __ATOMIC_RELAXED));                                \
        }                                                                                          \
    }                                                                                              \
    KN_OPERATION(sured_##name)                                                                     \
    {                                                                                              \
        const struct operands o = operands_of(op, w, 0);                                           \
        struct turn turn;                                                                          \
        for (uint32_t rest = kn_mask_of(op, w); rest; rest &= ~turn.lanes) {                       \
            if (!take_turn(op, w, &o, rest, BYTES(sizeof(T), true), &turn))                        \
                return NULL;                                                                       \
            reduce_##name(op, w, turn.lanes & ~turn.outside, *o.values);                           \
        }                                                                                          \
        KN_RETURN_NEXT;                                                                            \
    }
EACH_REDUCTION(REDUCTION)

// "sured.p: .b32 is .u32 or .s32 based on the surface sample format". x counts values of this type,
// whatever the elements are (recorded: x_surf formatted/sured.p.…).
#define FORMATTED(operation, bits, as_unsigned, as_signed)                                         \
    KN_OPERATION(sured_p_##operation##_##bits)                                                     \
    {                                                                                              \
        const struct operands o = operands_of(op, w, 0);                                           \
        struct turn turn;                                                                          \
        for (uint32_t rest = kn_mask_of(op, w); rest; rest &= ~turn.lanes) {                       \
            const struct access access = {bits / 8, bits / 8, true};                               \
            if (!take_turn(op, w, &o, rest, access, &turn))                                        \
                return NULL;                                                                       \
            const uint32_t lanes = turn.lanes;                                                     \
            if (turn.image->kind == KN_CHANNEL_SINT)                                               \
                reduce_##as_signed(op, w, lanes & ~turn.outside, *o.values);                       \
            else                                                                                   \
                reduce_##as_unsigned(op, w, lanes & ~turn.outside, *o.values);                     \
        }                                                                                          \
        KN_RETURN_NEXT;                                                                            \
    }
FORMATTED(add, 32, add_32, add_32)
FORMATTED(and, 32, and_32, and_32)
FORMATTED(or, 32, or_32, or_32)
FORMATTED(min, 32, min_u32, min_s32)
FORMATTED(max, 32, max_u32, max_s32)
FORMATTED(add, 64, add_64, add_64)
FORMATTED(min, 64, min_u64, min_s64)
FORMATTED(max, 64, max_u64, max_s64)

// ---- suq ----

static uint32_t answer(const struct kn_image *m, enum kn_object_query query)
{
    switch (query) {
    case KN_QUERY_WIDTH:
        return m->width;
    case KN_QUERY_HEIGHT: // of layered 1D images, the number of layers (recorded: x_surf query/…)
        return m->dimensions > 1 ? m->height : m->layered ? m->layers : 0;
    default:
        return m->dimensions == 3 ? m->depth : m->dimensions == 2 && m->layered ? m->layers : 0;
    }
}

KN_OPERATION(suq)
{
    const uint64_t *handle = KN_REGISTER(const uint64_t, op->a);
    uint32_t *d = KN_REGISTER(uint32_t, op->d), lanes;
    w->at = op;
    for (uint32_t rest = kn_mask_of(op, w); rest; rest &= ~lanes) {
        const uint64_t first = handle[kn_lowest(rest)];
        const struct kn_image *m = kn_object(w, KN_OBJECT_SURFACE, first);
        lanes = kn_same_handle(handle, rest);
        if (!m)
            return kn_object_fault(op, w, KN_OBJECT_SURFACE, lanes, first);
        KN_EACH_OF(lanes, i)
        d[i] = answer(m, (enum kn_object_query)op->i);
    }
    KN_NEXT;
}

// ---- forms ----

#define REDUCTION_ROW(name, text, T, letter, next)                                                 \
    KN_ROW_OF(sured_##name, "sured.b." text, "=lwwww" letter "i"),

const struct kn_form KN_FAMILY(surface)[] = {
    KN_ROW_OF(suld_8, "suld.b8", "h*=lwwwwi"),
    KN_ROW_OF(suld_16, "suld.b16", "h*=lwwwwi"),
    KN_ROW_OF(suld_32, "suld.b32", "w*=lwwwwi"),
    KN_ROW_OF(suld_64, "suld.b64", "l*=lwwwwi"),
    KN_ROW_OF(sust_8, "sust.b8", "=lwwwwh*i"),
    KN_ROW_OF(sust_16, "sust.b16", "=lwwwwh*i"),
    KN_ROW_OF(sust_32, "sust.b32", "=lwwwww*i"),
    KN_ROW_OF(sust_64, "sust.b64", "=lwwwwl*i"),
    KN_ROW_OF(sust_p_32, "sust.p.b32", "=lwwwww*i"),
    EACH_REDUCTION(REDUCTION_ROW) KN_ROW_OF(sured_p_add_32, "sured.p.add.b32", "=lwwwwwi"),
    KN_ROW_OF(sured_p_and_32, "sured.p.and.b32", "=lwwwwwi"),
    KN_ROW_OF(sured_p_or_32, "sured.p.or.b32", "=lwwwwwi"),
    KN_ROW_OF(sured_p_min_32, "sured.p.min.b32", "=lwwwwwi"),
    KN_ROW_OF(sured_p_max_32, "sured.p.max.b32", "=lwwwwwi"),
    KN_ROW_OF(sured_p_add_64, "sured.p.add.b64", "=lwwwwli"),
    KN_ROW_OF(sured_p_min_64, "sured.p.min.b64", "=lwwwwli"),
    KN_ROW_OF(sured_p_max_64, "sured.p.max.b64", "=lwwwwli"),
    KN_ROW_OF(suq, "suq", "w=li"),
    {0},
};
