// SPDX-License-Identifier: MIT
// Format conversion: rows of elements of one format into rows of another.
//
//   kn_convert_row(dst, KN_FORMAT(UNORM8, 4), src, KN_FORMAT(FLOAT, 3), width);
//
// The rules are the same for every instruction set, bit for bit:
// - Decoding: unorm is v / (2^b - 1); snorm is max(v / (2^(b-1) - 1), -1), so -128 and -127 are
//   both -1.0; half to float is exact (a signalling NaN becomes quiet); sRGB follows the standard's
//   formula. Each result is rounded once, to the nearest float.
// - Encoding: unorm and snorm are clamped, with NaN as 0, scaled, and rounded once to nearest even.
//   Half is rounded to nearest even; it is infinity from 65520 on, and NaN stays NaN (quiet, with
//   its upper payload bits). sRGB is the formula's value times 255, rounded to nearest. The alpha
//   of sRGB is linear. Integers saturate.
// - Between integers and floats, values are kept: to nearest even and saturated towards integers,
//   with NaN as 0.
// - Channels that the source lacks are 0, alpha is 1. Channels that the destination lacks are
//   dropped.
// - Conversion to the same kind moves bits: NaN payloads and -128 stay as they are.
//
// The thread must use the default rounding mode.
//
// So far only the tests and the benchmark call these functions: copies between CUDA arrays do not
// change formats, and OpenGL converts its own transfers (docs/internals/opengl-transfers.md).
// Texture fetches in kernels follow the card's own arithmetic instead (kn_sample.h).
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Kinds of channels: X(name, class, bytes of a channel, bit pattern of 1). The class is the 32-bit
// form between decoding and encoding.
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

// Channels are in the order R, G, B, A, little-endian, and elements follow each other without gaps.
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

// Bytes of an element; 0 if the format does not exist.
uint32_t kn_format_B(struct kn_format format);

// Converts `count` elements of any alignment. The two rows must not overlap. Does nothing if a
// format does not exist.
void kn_convert_row(void *dst, struct kn_format dst_format, const void *src,
                    struct kn_format src_format, uint64_t count);

// The same for `rows` rows of `width` elements. The padding between rows is neither read nor
// written.
void kn_convert_rows(const struct kn_texels *dst, const struct kn_texels *src, uint64_t width,
                     uint64_t rows);
