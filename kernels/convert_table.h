// SPDX-License-Identifier: MIT
// Names of the conversion functions of an instruction set. KN_CONVERT_DECLARE(c) declares them, and
// KN_CONVERT_TABLE(c) puts them into a table.
#pragma once

#include "kn_dsp.h"

#define KN_CONVERT_DECLARE(set)                                                                    \
    kn_decode_fn kn_decode_unorm8_##set, kn_decode_unorm16_##set, kn_decode_snorm8_##set,          \
        kn_decode_snorm16_##set, kn_decode_srgb8_##set;                                            \
    kn_decode_fn kn_decode_unorm10_2_##set, kn_decode_half_##set;                                  \
    kn_decode_fn kn_decode_uint8_##set, kn_decode_uint16_##set, kn_decode_sint8_##set,             \
        kn_decode_sint16_##set;                                                                    \
    kn_encode_fn kn_encode_unorm8_##set, kn_encode_unorm16_##set, kn_encode_snorm8_##set,          \
        kn_encode_snorm16_##set, kn_encode_srgb8_##set;                                            \
    kn_encode_fn kn_encode_unorm10_2_##set, kn_encode_half_##set;                                  \
    kn_encode_fn kn_encode_uint8_##set, kn_encode_uint16_##set, kn_encode_sint8_##set,             \
        kn_encode_sint16_##set;                                                                    \
    kn_cast_fn kn_cast_float_uint_##set, kn_cast_float_sint_##set, kn_cast_uint_float_##set,       \
        kn_cast_uint_sint_##set, kn_cast_sint_float_##set;                                         \
    kn_cast_fn kn_cast_sint_uint_##set

// clang-format off
#define KN_CONVERT_TABLE(set) {                                                                    \
    .decode = {                                                                                    \
        [KN_KIND_UNORM8] = kn_decode_unorm8_##set, [KN_KIND_UNORM16] = kn_decode_unorm16_##set,    \
        [KN_KIND_SNORM8] = kn_decode_snorm8_##set, [KN_KIND_SNORM16] = kn_decode_snorm16_##set,    \
        [KN_KIND_SRGB8] = kn_decode_srgb8_##set, [KN_KIND_UNORM10_2] = kn_decode_unorm10_2_##set,  \
        [KN_KIND_HALF] = kn_decode_half_##set,                                                     \
        [KN_KIND_UINT8] = kn_decode_uint8_##set, [KN_KIND_UINT16] = kn_decode_uint16_##set,        \
        [KN_KIND_SINT8] = kn_decode_sint8_##set, [KN_KIND_SINT16] = kn_decode_sint16_##set,        \
    },                                                                                             \
    .encode = {                                                                                    \
        [KN_KIND_UNORM8] = kn_encode_unorm8_##set, [KN_KIND_UNORM16] = kn_encode_unorm16_##set,    \
        [KN_KIND_SNORM8] = kn_encode_snorm8_##set, [KN_KIND_SNORM16] = kn_encode_snorm16_##set,    \
        [KN_KIND_SRGB8] = kn_encode_srgb8_##set, [KN_KIND_UNORM10_2] = kn_encode_unorm10_2_##set,  \
        [KN_KIND_HALF] = kn_encode_half_##set,                                                     \
        [KN_KIND_UINT8] = kn_encode_uint8_##set, [KN_KIND_UINT16] = kn_encode_uint16_##set,        \
        [KN_KIND_SINT8] = kn_encode_sint8_##set, [KN_KIND_SINT16] = kn_encode_sint16_##set,        \
    },                                                                                             \
    .cast = {                                                                                      \
        [KN_CLASS_FLOAT] = {[KN_CLASS_UINT] = kn_cast_float_uint_##set,                            \
            [KN_CLASS_SINT] = kn_cast_float_sint_##set},                                           \
        [KN_CLASS_UINT] = {[KN_CLASS_FLOAT] = kn_cast_uint_float_##set,                            \
            [KN_CLASS_SINT] = kn_cast_uint_sint_##set},                                            \
        [KN_CLASS_SINT] = {[KN_CLASS_FLOAT] = kn_cast_sint_float_##set,                            \
            [KN_CLASS_UINT] = kn_cast_sint_uint_##set},                                            \
    },                                                                                             \
}
// clang-format on

KN_CONVERT_DECLARE(c);
