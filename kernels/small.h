// SPDX-License-Identifier: MIT
// Rows of a few bytes without calls: two moves that overlap cover every size of a class.
#pragma once

#include <stdint.h>
#include <string.h>

#define KN_INLINE static inline __attribute__((always_inline, unused))
#define KN_NOINLINE __attribute__((noinline))

// One loop for each class of widths, so that there are no decisions inside a loop. `body` copies
// the row from `from` to `to`. For functions of the type kn_copy_rows_fn.
#define KN_EACH_ROW(body)                                                                          \
    do {                                                                                           \
        for (uint64_t row_ = 0; row_ < rows; row_++) {                                             \
            uint8_t *to = (uint8_t *)dst + row_ * dst_pitch_B;                                     \
            const uint8_t *from = (const uint8_t *)src + row_ * src_pitch_B;                       \
            body;                                                                                  \
        }                                                                                          \
    } while (0)
// Moves that follow each other from the start of the row, and one move that ends with the row.
#define KN_ROW_HEADS(count, type)                                                                  \
    _Pragma("GCC unroll 4") for (unsigned i_ = 0; i_ < (count); i_++)                              \
    {                                                                                              \
        type head_;                                                                                \
        memcpy(&head_, from + i_ * sizeof(head_), sizeof(head_));                                  \
        memcpy(to + i_ * sizeof(head_), &head_, sizeof(head_));                                    \
    }
#define KN_ROW_TAIL(type)                                                                          \
    do {                                                                                           \
        type tail_;                                                                                \
        memcpy(&tail_, from + width_B - sizeof(tail_), sizeof(tail_));                             \
        memcpy(to + width_B - sizeof(tail_), &tail_, sizeof(tail_));                               \
    } while (0)
#define KN_ROW_2(head_type, tail_type)                                                             \
    do {                                                                                           \
        head_type head_;                                                                           \
        tail_type tail_;                                                                           \
        memcpy(&head_, from, sizeof(head_));                                                       \
        memcpy(&tail_, from + width_B - sizeof(tail_), sizeof(tail_));                             \
        memcpy(to, &head_, sizeof(head_));                                                         \
        memcpy(to + width_B - sizeof(tail_), &tail_, sizeof(tail_));                               \
    } while (0)

// Longer rows go to the C library: from here on, its string instructions are as fast as our loops.
#define KN_ROW_LONG_B 8192
// Copies rows of any width. copy_long(to, from, width_B) copies one of 129 bytes or more.
#define KN_COPY_ROWS(copy_long)                                                                    \
    do {                                                                                           \
        if (width_B <= 128)                                                                        \
            kn_copy_rows_upto128(dst, dst_pitch_B, src, src_pitch_B, width_B, rows);               \
        else if (width_B <= KN_ROW_LONG_B)                                                         \
            KN_EACH_ROW(copy_long(to, from, width_B));                                             \
        else                                                                                       \
            KN_EACH_ROW(memcpy(to, from, width_B));                                                \
    } while (0)

// Copies rows of 1 to 128 bytes. The tail is moved by the smallest type that covers it, because
// wider stores cross lines more often.
KN_INLINE void kn_copy_rows_upto128(void *dst, uint64_t dst_pitch_B, const void *src,
                                    uint64_t src_pitch_B, uint64_t width_B, uint64_t rows)
{
    typedef uint8_t v16 __attribute__((vector_size(16)));
    typedef uint8_t v32 __attribute__((vector_size(32)));

    if (width_B > 112)
        KN_EACH_ROW(KN_ROW_HEADS(3, v32); KN_ROW_TAIL(v32));
    else if (width_B > 96)
        KN_EACH_ROW(KN_ROW_HEADS(3, v32); KN_ROW_TAIL(v16));
    else if (width_B > 80)
        KN_EACH_ROW(KN_ROW_HEADS(2, v32); KN_ROW_TAIL(v32));
    else if (width_B > 64)
        KN_EACH_ROW(KN_ROW_HEADS(2, v32); KN_ROW_TAIL(v16));
    else if (width_B > 48)
        KN_EACH_ROW(KN_ROW_2(v32, v32));
    else if (width_B > 32)
        KN_EACH_ROW(KN_ROW_2(v32, v16));
    else if (width_B == 32)
        KN_EACH_ROW(KN_ROW_TAIL(v32));
    else if (width_B > 24)
        KN_EACH_ROW(KN_ROW_2(v16, v16));
    else if (width_B > 16)
        KN_EACH_ROW(KN_ROW_2(v16, uint64_t));
    else if (width_B == 16)
        KN_EACH_ROW(KN_ROW_TAIL(v16));
    else if (width_B > 12)
        KN_EACH_ROW(KN_ROW_2(uint64_t, uint64_t));
    else if (width_B > 8)
        KN_EACH_ROW(KN_ROW_2(uint64_t, uint32_t));
    else if (width_B == 8)
        KN_EACH_ROW(KN_ROW_TAIL(uint64_t));
    else if (width_B > 4)
        KN_EACH_ROW(KN_ROW_2(uint32_t, uint32_t));
    else if (width_B == 4)
        KN_EACH_ROW(KN_ROW_TAIL(uint32_t));
    else if (width_B >= 2)
        KN_EACH_ROW(KN_ROW_2(uint16_t, uint16_t));
    else
        KN_EACH_ROW(*to = *from);
}
