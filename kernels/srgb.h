// SPDX-License-Identifier: MIT
// The tables of sRGB conversion. tools/gen/srgb_tables.py makes them and explains them.
#pragma once

#include <stdint.h>

// Floats below the first border have code 0. The last piece holds 1.0 minus one bit.
#define KN_SRGB_FIRST_BITS 0x39000000u
#define KN_SRGB_LAST_BITS 0x3f7fffffu
#define KN_SRGB_FIRST_PIECE (KN_SRGB_FIRST_BITS >> 16)
#define KN_SRGB_ENTRIES ((KN_SRGB_LAST_BITS >> 16) - KN_SRGB_FIRST_PIECE + 1)

extern const uint32_t kn_srgb_decode_bits[512]; // floats: colours, then alphas
extern const uint32_t kn_srgb_encode_entries[KN_SRGB_ENTRIES];
