// SPDX-License-Identifier: MIT
// Values that conversions may get wrong.
#pragma once

#include "checkasm.h"

// Any bits, or a number around 0 to 1, or one around the limits of the integers.
uint32_t ca_random_float_bits(void);
// Any bits, or small values, or a neighbour of a limit.
uint32_t ca_random_integer(void);
// Floats halfway between two codes of each format, their neighbours on both sides, and other
// difficult values. Writes up to `count` of them, from number `first` on (dst may be null), and
// returns the number of all values.
uint64_t ca_special_floats(void *dst, uint64_t first, uint64_t count);
