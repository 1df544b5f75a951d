// SPDX-License-Identifier: MIT
// Decoding of LZ4 blocks.
#pragma once

#include <stdint.h>

#define KN_LZ4_DAMAGED UINT64_MAX

// Decodes a block of in_B bytes. Returns the number of bytes written, or KN_LZ4_DAMAGED if the
// block is not valid or needs more than out_B bytes. Any input is allowed.
uint64_t kn_lz4_decode(void *out, uint64_t out_B, const void *in, uint64_t in_B);
