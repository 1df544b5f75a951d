// SPDX-License-Identifier: MIT
// Pitched copies with 16-byte registers, in pairs: two moves that overlap cover every width of a class. Straight copies are the C library's,
// which knows each core's ways.
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

// 64 to 128 bytes.
KN_INLINE void copy_upto128(uint8_t *dst, const uint8_t *src, uint64_t size_B)
{
    struct pair a = load(src), b = load(src + 32), c = load(src + size_B - 64), d = load(src + size_B - 32);

    store(dst, a);
    store(dst + 32, b);
    store(dst + size_B - 64, c);
    store(dst + size_B - 32, d);
}

// More than 128 bytes: the last 64 as they lie.
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

// Two moves of one size that overlap, or are one.
#define OVERLAP(type)                                                                                                                                \
    do {                                                                                                                                             \
        type head_, tail_;                                                                                                                           \
        memcpy(&head_, from, sizeof(head_));                                                                                                         \
        memcpy(&tail_, from + width_B - sizeof(tail_), sizeof(tail_));                                                                               \
        memcpy(to, &head_, sizeof(head_));                                                                                                           \
        memcpy(to + width_B - sizeof(tail_), &tail_, sizeof(tail_));                                                                                 \
    } while (0)
// One loop a width class, so that nothing is decided inside.
#define EACH_ROW(body)                                                                                                                               \
    do {                                                                                                                                             \
        for (uint64_t row = 0; row < rows; row++) {                                                                                                  \
            uint8_t *to = d + row * dst_pitch_B;                                                                                                     \
            const uint8_t *from = s + row * src_pitch_B;                                                                                             \
            body;                                                                                                                                    \
        }                                                                                                                                            \
    } while (0)

void kn_copy_rows_neon(void *dst, uint64_t dst_pitch_B, const void *src, uint64_t src_pitch_B, uint64_t width_B, uint64_t rows)
{
    uint8_t *d = dst;
    const uint8_t *s = src;

    if (width_B < 2)
        EACH_ROW(memcpy(to, from, width_B));
    else if (width_B < 4)
        EACH_ROW(OVERLAP(uint16_t));
    else if (width_B < 8)
        EACH_ROW(OVERLAP(uint32_t));
    else if (width_B < 16)
        EACH_ROW(OVERLAP(uint64_t));
    else if (width_B < 32)
        EACH_ROW(OVERLAP(uint8x16_t));
    else if (width_B < 64)
        EACH_ROW(OVERLAP(struct pair));
    else if (width_B <= 128)
        EACH_ROW(copy_upto128(to, from, width_B));
    else if (width_B <= KN_ROW_LONG_B)
        EACH_ROW(copy_long(to, from, width_B));
    else
        EACH_ROW(memcpy(to, from, width_B));
}
