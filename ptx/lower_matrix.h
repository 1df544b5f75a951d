// SPDX-License-Identifier: MIT
// For the lowering of mma and of wmma.
#pragma once
#include "lower.h"

// The modifier of a statement that is a shape: "m16n8k16".
const char *px_matrix_shape(const struct px_statement *s);
// Matrix instructions are `.aligned`: all lanes of the warp execute them together.
px_register px_matrix_lanes(struct px_lower *l);
// Bits of enum kn_matrix_flags for factors of types `a` and `b`.
int64_t px_matrix_flags(const struct px_statement *s, unsigned a, unsigned b);
