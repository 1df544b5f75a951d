// SPDX-License-Identifier: MIT
// The families of forms, and their tables for each instruction set.
#pragma once

#include "kn_lanes.h"

// X(family, set): in the order of the indices of forms.
#define KN_FAMILIES(X, set)                                                                        \
    X(integer, set)                                                                                \
    X(multiply, set)                                                                               \
    X(divide, set)                                                                                 \
    X(carry, set)                                                                                  \
    X(bits, set)                                                                                   \
    X(fields, set)                                                                                 \
    X(compare, set)                                                                                \
    X(move, set)                                                                                   \
    X(video, set)                                                                                  \
    X(approx, set)                                                                                 \
    X(sine, set)                                                                                   \
    X(convert_integer, set)                                                                        \
    X(convert_to_integer, set)                                                                     \
    X(convert_from_integer, set)                                                                   \
    X(convert_float, set)                                                                          \
    X(convert_small, set)                                                                          \
    X(f32, set)                                                                                    \
    X(f64, set)                                                                                    \
    X(float_minmax, set)                                                                           \
    X(half, set)                                                                                   \
    X(float_compare, set)                                                                          \
    X(matrix_integer, set)                                                                         \
    X(matrix_float, set)                                                                           \
    X(matrix_double, set)                                                                          \
    X(matrix_quad, set)                                                                            \
    X(matrix_move, set)                                                                            \
    X(memory, set)                                                                                 \
    X(row, set)                                                                                    \
    X(atomic, set)                                                                                 \
    X(surface, set)                                                                                \
    X(surface_reduce, set)                                                                         \
    X(texture, set)                                                                                \
    X(copy, set)                                                                                   \
    X(mbarrier, set)                                                                               \
    X(warp, set)

#define KN_FAMILY_DECLARE(family, set) extern const struct kn_form kn_forms_##family##_##set[];
#pragma GCC visibility push(hidden)
KN_FAMILIES(KN_FAMILY_DECLARE, c)
KN_FAMILIES(KN_FAMILY_DECLARE, avx2)
KN_FAMILIES(KN_FAMILY_DECLARE, avx512)
#pragma GCC visibility pop
#undef KN_FAMILY_DECLARE
