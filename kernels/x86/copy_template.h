// SPDX-License-Identifier: MIT
// Straight and pitched copies for one register width (VEC_B); included by one file for each instruction set.
#include "kn_x86.h"
#include "small.h"

#include <immintrin.h>

// VEC_B to 2 * VEC_B bytes.
KN_INLINE void copy_2vec(uint8_t *dst, const uint8_t *src, uint64_t size_B)
{
    VEC head = VEC_LOAD(src), tail = VEC_LOAD(src + size_B - VEC_B);

    VEC_STORE(dst, head);
    VEC_STORE(dst + size_B - VEC_B, tail);
}

// 2 * VEC_B to 4 * VEC_B bytes.
KN_INLINE void copy_4vec(uint8_t *dst, const uint8_t *src, uint64_t size_B)
{
    VEC a = VEC_LOAD(src), b = VEC_LOAD(src + VEC_B);
    VEC c = VEC_LOAD(src + size_B - 2 * VEC_B), d = VEC_LOAD(src + size_B - VEC_B);

    VEC_STORE(dst, a);
    VEC_STORE(dst + VEC_B, b);
    VEC_STORE(dst + size_B - 2 * VEC_B, c);
    VEC_STORE(dst + size_B - VEC_B, d);
}

#if VEC_B == 32
// More than 4 * VEC_B bytes: the first vector as it lies, then whole vectors at aligned destinations, the last four as they lie.
KN_INLINE void copy_long(uint8_t *dst, const uint8_t *src, uint64_t size_B)
{
    uint64_t i = VEC_B - ((uintptr_t)dst & (VEC_B - 1));
    VEC head = VEC_LOAD(src);
    const uint8_t *last = src + size_B - 4 * VEC_B;
    VEC a = VEC_LOAD(last), b = VEC_LOAD(last + VEC_B), c = VEC_LOAD(last + 2 * VEC_B), d = VEC_LOAD(last + 3 * VEC_B);

    VEC_STORE(dst, head);
    for (; i + 4 * VEC_B < size_B; i += 4 * VEC_B) {
        VEC e = VEC_LOAD(src + i), f = VEC_LOAD(src + i + VEC_B);
        VEC g = VEC_LOAD(src + i + 2 * VEC_B), h = VEC_LOAD(src + i + 3 * VEC_B);
        VEC_STORE(dst + i, e);
        VEC_STORE(dst + i + VEC_B, f);
        VEC_STORE(dst + i + 2 * VEC_B, g);
        VEC_STORE(dst + i + 3 * VEC_B, h);
    }
    dst += size_B - 4 * VEC_B;
    VEC_STORE(dst, a);
    VEC_STORE(dst + VEC_B, b);
    VEC_STORE(dst + 2 * VEC_B, c);
    VEC_STORE(dst + 3 * VEC_B, d);
}
#endif

void COPY_SUFFIX(kn_copy_rows)(void *dst, uint64_t dst_pitch_B, const void *src, uint64_t src_pitch_B, uint64_t width_B, uint64_t rows)
{
    uint8_t *d = dst;
    const uint8_t *s = src;

// One loop a width class, so that nothing is decided inside.
#define EACH_ROW(body)                                                                                                                               \
    do {                                                                                                                                             \
        for (uint64_t row = 0; row < rows; row++) {                                                                                                  \
            uint8_t *to = d + row * dst_pitch_B;                                                                                                     \
            const uint8_t *from = s + row * src_pitch_B;                                                                                             \
            body;                                                                                                                                    \
        }                                                                                                                                            \
    } while (0)
#define EXACT(type)                                                                                                                                  \
    do {                                                                                                                                             \
        type v_;                                                                                                                                     \
        memcpy(&v_, from, sizeof(v_));                                                                                                               \
        memcpy(to, &v_, sizeof(v_));                                                                                                                 \
    } while (0)
#define OVERLAP(type)                                                                                                                                \
    do {                                                                                                                                             \
        type h_, t_;                                                                                                                                 \
        memcpy(&h_, from, sizeof(h_));                                                                                                               \
        memcpy(&t_, from + width_B - sizeof(t_), sizeof(t_));                                                                                        \
        memcpy(to, &h_, sizeof(h_));                                                                                                                 \
        memcpy(to + width_B - sizeof(t_), &t_, sizeof(t_));                                                                                          \
    } while (0)

    if (width_B <= 16) {
        if (width_B == 16)
            EACH_ROW(EXACT(__m128i));
        else if (width_B > 8)
            EACH_ROW(OVERLAP(uint64_t));
        else if (width_B == 8)
            EACH_ROW(EXACT(uint64_t));
        else if (width_B > 4)
            EACH_ROW(OVERLAP(uint32_t));
        else if (width_B == 4)
            EACH_ROW(EXACT(uint32_t));
        else if (width_B >= 2)
            EACH_ROW(OVERLAP(uint16_t));
        else
            EACH_ROW(*to = *from);
    } else if (width_B <= 32) {
        EACH_ROW(OVERLAP(__m128i));
    } else if (width_B <= 64) {
        EACH_ROW(OVERLAP(__m256i));
#if VEC_B == 64
    } else if (width_B <= 2 * VEC_B) {
        EACH_ROW(copy_2vec(to, from, width_B));
    } else if (width_B <= 4 * VEC_B) {
        EACH_ROW(copy_4vec(to, from, width_B));
    } else {
        // Wider registers gain nothing on longer rows, and lose a little where memory is the limit.
        kn_copy_rows_avx2(dst, dst_pitch_B, src, src_pitch_B, width_B, rows);
    }
#else
    } else if (width_B <= 4 * VEC_B) {
        EACH_ROW(copy_4vec(to, from, width_B));
    } else if (width_B <= KN_ROW_LONG_B) {
        EACH_ROW(copy_long(to, from, width_B));
    } else {
        EACH_ROW(memcpy(to, from, width_B));
    }
#endif
}
