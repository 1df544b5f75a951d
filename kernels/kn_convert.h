// SPDX-License-Identifier: MIT
// Format conversion: rows of elements of one format into rows of another.
//
//     kn_convert_row(dst, KN_FORMAT(UNORM8, 4), src, KN_FORMAT(FLOAT, 3), width);
//
// Rules, the same for every instruction set, bit for bit:
//   decode    unorm is v / (2^b - 1), snorm max(v / (2^(b-1) - 1), -1): so -128 and -127 are both
//   -1.0; half to float is exact (a
//             signalling NaN becomes quiet); sRGB by the formula of the standard; each rounded once
//             to the nearest float.
//   encode    unorm and snorm: clamped, NaN as 0, times the scale, rounded once to nearest even.
//   Half: nearest even, infinity from 65520
//             on, NaN stays NaN (quiet, upper payload bits kept). sRGB: the formula's value times
//             255, rounded to the nearest. The alpha of sRGB is linear. Integers saturate.
//   integers and floats, one into the other, keep their value: nearest even and saturated towards
//   integers, NaN as 0. channels  that the source lacks are 0, alpha is 1; those that the
//   destination lacks are dropped. one kind  to itself moves bits: NaN payloads and -128 stay as
//   they are.
// The thread's rounding mode is expected to be the default one.
//
// Nothing in the driver calls this yet but its tests and its benchmark: copies between CUDA's
// arrays change no format, and OpenGL converts what it hands over (docs/internals/opengl-transfers.md).
// It is for
// texture fetches, which come with kernels.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// What a channel is: X(name, class, bytes of a channel, bit pattern of 1). The class is the 32-bit
// form in between.
#define KN_KIND_LIST(X)                                                                            \
    X(UNORM8, FLOAT, 1, 0xff)                                                                      \
    X(UNORM16, FLOAT, 2, 0xffff)                                                                   \
    X(SNORM8, FLOAT, 1, 0x7f)                                                                      \
    X(SNORM16, FLOAT, 2, 0x7fff)                                                                   \
    X(SRGB8, FLOAT, 1, 0xff)                                                                       \
    X(UNORM10_2, FLOAT, 0,                                                                         \
      0) /* four channels in 32 bits: 10, 10, 10, 2 from the least significant bit on */           \
    X(HALF, FLOAT, 2, 0x3c00)                                                                      \
    X(FLOAT, FLOAT, 4, 0x3f800000)                                                                 \
    X(UINT8, UINT, 1, 1)                                                                           \
    X(UINT16, UINT, 2, 1)                                                                          \
    X(UINT32, UINT, 4, 1)                                                                          \
    X(SINT8, SINT, 1, 1)                                                                           \
    X(SINT16, SINT, 2, 1)                                                                          \
    X(SINT32, SINT, 4, 1)

enum kn_kind {
#define KN_KIND_ENUM(name, class, channel_B, one) KN_KIND_##name,
    KN_KIND_LIST(KN_KIND_ENUM)
#undef KN_KIND_ENUM
        KN_KIND_COUNT
};

// Channels are in the order R, G, B, A, each little-endian, an element after the other without
// gaps.
struct kn_format {
    uint8_t kind;     // enum kn_kind
    uint8_t channels; // 1 to 4; UNORM10_2 has 4
    bool bgr;         // the order is B, G, R, A (3 or 4 channels)
};

// Rows of elements, `pitch_B` apart. If they are the source, they are only read.
struct kn_texels {
    void *first;
    uint64_t pitch_B;
    struct kn_format format;
};

#define KN_FORMAT(kind, channels) ((struct kn_format){KN_KIND_##kind, channels, false})
#define KN_FORMAT_BGR(kind, channels) ((struct kn_format){KN_KIND_##kind, channels, true})

// Bytes of an element; 0 if there is no such format.
uint32_t kn_format_B(struct kn_format format);

// Converts `count` elements, of any alignment. The two rows do not overlap. With a format that does
// not exist, nothing is done.
void kn_convert_row(void *dst, struct kn_format dst_format, const void *src,
                    struct kn_format src_format, uint64_t count);

// The same for `rows` rows of `width` elements. The padding between
// rows is neither read nor written.
void kn_convert_rows(const struct kn_texels *dst, const struct kn_texels *src, uint64_t width,
                     uint64_t rows);
