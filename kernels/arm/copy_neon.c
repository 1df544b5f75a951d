// SPDX-License-Identifier: MIT
// Pitched copies with 16-byte registers, in pairs. The C library does straight copies, because it
// knows each core.
#include "kn_arm.h"
#include "small.h"

#include <arm_neon.h>

struct pair {
    uint8x16_t low, high;
};

KN_INLINE struct pair load(const uint8_t *p)
{
    return (struct pair){vld1q_u8(p), vld1q_u8(p + 16)};
}

KN_INLINE void store(uint8_t *p, struct pair v)
{
    vst1q_u8(p, v.low);
    vst1q_u8(p + 16, v.high);
}

// Copies more than 128 bytes; the last 64 are unaligned.
KN_INLINE void copy_long(uint8_t *dst, const uint8_t *src, uint64_t size_B)
{
    struct pair c = load(src + size_B - 64), d = load(src + size_B - 32);

    for (uint64_t i = 0; i + 64 < size_B; i += 64) {
        struct pair a = load(src + i), b = load(src + i + 32);
        store(dst + i, a);
        store(dst + i + 32, b);
    }
    store(dst + size_B - 64, c);
    store(dst + size_B - 32, d);
}

void kn_copy_rows_neon(void *dst, uint64_t dst_pitch_B, const void *src, uint64_t src_pitch_B,
                       uint64_t width_B, uint64_t rows)
{
    KN_COPY_ROWS(copy_long);
}
