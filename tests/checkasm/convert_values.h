// SPDX-License-Identifier: MIT
// Values that conversions may get wrong.
#pragma once

#include "checkasm.h"

// Any bits, or a number near 0 to 1, or around the limits of the integers.
uint32_t ca_random_float_bits(void);
// Any bits, or few of them, or a neighbour of a limit.
uint32_t ca_random_integer(void);
// Floats halfway between two codes of each format, with neighbours on either side, and the usual
// suspects. Writes `count` of them from number `first` on as far as there are any (dst may be
// null); returns how many there are.
uint64_t ca_special_floats(void *dst, uint64_t first, uint64_t count);
