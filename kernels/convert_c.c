// SPDX-License-Identifier: MIT
// Format conversion: the references in C, each a loop over single values.
#include "convert_scalar.h"
#include "convert_table.h"

#define DECODE(name, type, wide, expression)                                                       \
    void kn_decode_##name##_c(void *dst, const void *src, uint64_t count, unsigned channels)       \
    {                                                                                              \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            type v;                                                                                \
            wide w;                                                                                \
            memcpy(&v, (const uint8_t *)src + i * sizeof(v), sizeof(v));                           \
            w = (expression);                                                                      \
            memcpy((uint8_t *)dst + i * sizeof(w), &w, sizeof(w));                                 \
        }                                                                                          \
    }
#define ENCODE(name, type, wide, expression)                                                       \
    void kn_encode_##name##_c(void *dst, const void *src, uint64_t count, unsigned channels)       \
    {                                                                                              \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            wide v;                                                                                \
            type n;                                                                                \
            memcpy(&v, (const uint8_t *)src + i * sizeof(v), sizeof(v));                           \
            n = (type)(expression);                                                                \
            memcpy((uint8_t *)dst + i * sizeof(n), &n, sizeof(n));                                 \
        }                                                                                          \
    }
#define CAST(name, to, from, expression)                                                           \
    void kn_cast_##name##_c(void *dst, const void *src, uint64_t count)                            \
    {                                                                                              \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            from v;                                                                                \
            to w;                                                                                  \
            memcpy(&v, (const uint8_t *)src + i * sizeof(v), sizeof(v));                           \
            w = (expression);                                                                      \
            memcpy((uint8_t *)dst + i * sizeof(w), &w, sizeof(w));                                 \
        }                                                                                          \
    }
#define ALPHA (channels == 4 && (i & 3) == 3)

DECODE(unorm8, uint8_t, float, v / 255.0f)
DECODE(unorm16, uint16_t, float, v / 65535.0f)
DECODE(snorm8, int8_t, float, kn_from_snorm(v, 127))
DECODE(snorm16, int16_t, float, kn_from_snorm(v, 32767))
DECODE(srgb8, uint8_t, float, ALPHA ? v / 255.0f : kn_from_srgb(v))
DECODE(half, uint16_t, float, kn_from_half(v))
DECODE(uint8, uint8_t, uint32_t, v)
DECODE(uint16, uint16_t, uint32_t, v)
DECODE(sint8, int8_t, int32_t, v)
DECODE(sint16, int16_t, int32_t, v)

ENCODE(unorm8, uint8_t, float, kn_to_unorm(v, 255))
ENCODE(unorm16, uint16_t, float, kn_to_unorm(v, 65535))
ENCODE(snorm8, int8_t, float, kn_to_snorm(v, 127))
ENCODE(snorm16, int16_t, float, kn_to_snorm(v, 32767))
ENCODE(srgb8, uint8_t, float, ALPHA ? kn_to_unorm(v, 255) : kn_to_srgb(v))
ENCODE(half, uint16_t, float, kn_to_half(v))
ENCODE(uint8, uint8_t, uint32_t, v < UINT8_MAX ? v : UINT8_MAX)
ENCODE(uint16, uint16_t, uint32_t, v < UINT16_MAX ? v : UINT16_MAX)
ENCODE(sint8, int8_t, int32_t, v<INT8_MIN ? INT8_MIN : v> INT8_MAX ? INT8_MAX : v)
ENCODE(sint16, int16_t, int32_t, v<INT16_MIN ? INT16_MIN : v> INT16_MAX ? INT16_MAX : v)

CAST(float_uint, float, uint32_t, (float)v)
CAST(float_sint, float, int32_t, (float)v)
CAST(uint_float, uint32_t, float, kn_to_uint(v))
CAST(sint_float, int32_t, float, kn_to_sint(v))
CAST(uint_sint, uint32_t, int32_t, v < 0 ? 0 : (uint32_t)v)
CAST(sint_uint, int32_t, uint32_t, v > INT32_MAX ? INT32_MAX : (int32_t)v)

void kn_decode_unorm10_2_c(void *dst, const void *src, uint64_t count, unsigned channels)
{
    for (uint64_t i = 0; i < count; i += 4) {
        uint32_t v;
        float w[4];
        memcpy(&v, (const uint8_t *)src + i, sizeof(v));
        for (unsigned c = 0; c < 3; c++)
            w[c] = (float)(v >> (10 * c) & 1023) / 1023.0f;
        w[3] = (float)(v >> 30) / 3.0f;
        memcpy((uint8_t *)dst + i * sizeof(*w), w, sizeof(w));
    }
}

void kn_encode_unorm10_2_c(void *dst, const void *src, uint64_t count, unsigned channels)
{
    for (uint64_t i = 0; i < count; i += 4) {
        float w[4];
        uint32_t v;
        memcpy(w, (const uint8_t *)src + i * sizeof(*w), sizeof(w));
        v = kn_to_unorm(w[0], 1023) | kn_to_unorm(w[1], 1023) << 10 |
            kn_to_unorm(w[2], 1023) << 20 | kn_to_unorm(w[3], 3) << 30;
        memcpy((uint8_t *)dst + i, &v, sizeof(v));
    }
}

#define REPACK(name, type)                                                                         \
    void kn_repack_##name##_c(void *dst, const void *src, const struct kn_repack *how,             \
                              uint64_t count)                                                      \
    {                                                                                              \
        uint8_t *d = dst;                                                                          \
        const uint8_t *s = src;                                                                    \
        type v[KN_REPACK_ONE + 1];                                                                 \
        v[KN_REPACK_ZERO] = 0;                                                                     \
        v[KN_REPACK_ONE] = (type)how->one;                                                         \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            for (unsigned c = 0; c < how->src_channels; c++, s += sizeof(*v))                      \
                memcpy(&v[c], s, sizeof(*v));                                                      \
            for (unsigned c = 0; c < how->dst_channels; c++, d += sizeof(*v))                      \
                memcpy(d, &v[how->from[c]], sizeof(*v));                                           \
        }                                                                                          \
    }

REPACK(8, uint8_t)
REPACK(16, uint16_t)
REPACK(32, uint32_t)
