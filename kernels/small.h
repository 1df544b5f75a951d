// SPDX-License-Identifier: MIT
// Copies of a few bytes without a call: two moves that overlap cover every size of a class.
#pragma once

#include <stdint.h>
#include <string.h>

#define KN_INLINE static inline __attribute__((always_inline))

// 0 to 16 bytes; reads everything before it writes.
KN_INLINE void kn_copy_upto16(uint8_t *dst, const uint8_t *src, unsigned size_B)
{
    if (size_B >= 8) {
        uint64_t head, tail;
        memcpy(&head, src, 8);
        memcpy(&tail, src + size_B - 8, 8);
        memcpy(dst, &head, 8);
        memcpy(dst + size_B - 8, &tail, 8);
    } else if (size_B >= 4) {
        uint32_t head, tail;
        memcpy(&head, src, 4);
        memcpy(&tail, src + size_B - 4, 4);
        memcpy(dst, &head, 4);
        memcpy(dst + size_B - 4, &tail, 4);
    } else if (size_B >= 2) {
        uint16_t head, tail;
        memcpy(&head, src, 2);
        memcpy(&tail, src + size_B - 2, 2);
        memcpy(dst, &head, 2);
        memcpy(dst + size_B - 2, &tail, 2);
    } else if (size_B) {
        *dst = *src;
    }
}
