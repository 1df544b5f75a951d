// SPDX-License-Identifier: MIT
// Forms of suld, sust and suq: "suld.b32" reads kn_op.count values of 32 bits. surface.inc.h has
// their operands.
#include <math.h>
#include <string.h>

#include "convert_scalar.h"
#include "families.h"
#include "surface.inc.h"

// ---- suld.b and sust.b ----

// Imported memory may begin anywhere.
typedef uint8_t value_8;
typedef uint16_t value_16 __attribute__((aligned(1)));
typedef uint32_t value_32 __attribute__((aligned(1)));
typedef uint64_t value_64 __attribute__((aligned(1)));

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
                if (turn.lanes == UINT32_MAX && !turn.outside) {                                   \
                    for (int i = 0; i < KN_LANES; i++)                                             \
                        d[i] = ((const value_##bits *)(uintptr_t)w->addresses[i])[n];              \
                    continue;                                                                      \
                }                                                                                  \
                KN_EACH_OF(turn.lanes &turn.outside, i)                                            \
                {                                                                                  \
                    d[i] = 0;                                                                      \
                }                                                                                  \
                KN_EACH_OF(turn.lanes & ~turn.outside, i)                                          \
                {                                                                                  \
                    d[i] = ((const value_##bits *)(uintptr_t)w->addresses[i])[n];                  \
                }                                                                                  \
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
                {                                                                                  \
                    ((value_##bits *)(uintptr_t)w->addresses[i])[n] = (value_##bits)value[i];      \
                }                                                                                  \
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

// Halves are cut off, not rounded. Numbers too large become the largest one, infinities stay, and
// NaNs keep their upper bits, or the lowest bit if these are 0. [filter_sums/halves]
static uint16_t half_of(uint32_t bits)
{
    enum { NORMAL = 0x38800000, BEYOND = 0x47800000, INFINITE = 0x7f800000 };
    const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > INFINITE && magnitude < INFINITE + 0x2000)
        return (uint16_t)(sign | 0x7c01);
    if (magnitude >= INFINITE)
        return (uint16_t)(sign | 0x7c00 | (magnitude >> 13 & 0x3ff));
    if (magnitude >= BEYOND)
        return (uint16_t)(sign | 0x7bff);
    if (magnitude < NORMAL)
        return (uint16_t)(sign | (uint32_t)(kn_float_of_bits(magnitude) * 0x1p24f));
    return (uint16_t)(sign | (magnitude - (112u << 23)) >> 13);
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
    KN_ROW_OF(suq, "suq", "w=li"),
    {0},
};
