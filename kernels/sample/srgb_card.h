// SPDX-License-Identifier: MIT
// The card's table of sRGB colours.
#pragma once

#include <stdint.h>

extern const uint16_t kn_srgb_card[256]; // f16, by the colour's byte
