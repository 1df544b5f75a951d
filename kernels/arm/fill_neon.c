// SPDX-License-Identifier: MIT
// Fills with 16-byte registers. The pattern repeats with the value's size, and every size is a
// multiple of that, so a store that ends at the last byte is in phase wherever it begins.
#include "kn_arm.h"
#include "small.h"

#include <arm_neon.h>

// Fills less than 16 bytes.
KN_INLINE void fill_short(uint8_t *dst, uint32_t pattern, uint64_t size_B)
{
    uint64_t twice = (uint64_t)pattern << 32 | pattern;

    if (size_B >= 8) {
        memcpy(dst, &twice, 8);
        memcpy(dst + size_B - 8, &twice, 8);
    } else if (size_B >= 4) {
        memcpy(dst, &pattern, 4);
        memcpy(dst + size_B - 4, &pattern, 4);
    } else {
        memcpy(dst, &pattern, size_B);
    }
}

// Fills at least 16 bytes.
KN_INLINE void fill_long(uint8_t *dst, uint8x16_t v, uint64_t size_B)
{
    uint64_t i = 0;

    for (; i + 64 <= size_B; i += 64) {
        vst1q_u8(dst + i, v);
        vst1q_u8(dst + i + 16, v);
        vst1q_u8(dst + i + 32, v);
        vst1q_u8(dst + i + 48, v);
    }
    for (; i + 16 <= size_B; i += 16)
        vst1q_u8(dst + i, v);
    vst1q_u8(dst + size_B - 16, v);
}

void kn_fill_rows_neon(void *dst, uint64_t pitch_B, uint32_t pattern, uint64_t width_B,
                       uint64_t rows)
{
    uint8_t *d = dst;
    uint8x16_t v = vreinterpretq_u8_u32(vdupq_n_u32(pattern));

    if (width_B < 16) {
        for (uint64_t row = 0; row < rows; row++)
            fill_short(d + row * pitch_B, pattern, width_B);
    } else {
        for (uint64_t row = 0; row < rows; row++)
            fill_long(d + row * pitch_B, v, width_B);
    }
}

void kn_fill_neon(void *dst, uint32_t pattern, uint64_t size_B)
{
    kn_fill_rows_neon(dst, 0, pattern, size_B, 1);
}
