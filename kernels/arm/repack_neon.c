// SPDX-License-Identifier: MIT
// Repacking by table look-ups in a register, two at a time. An index out of range gives 0, as 0x80
// does in other sets.
#include "kn_arm.h"
#include "small.h"

#include <arm_neon.h>

struct repack_how {
    uint8x16_t shuffle, over;
};

KN_INLINE struct repack_how repack_how(const struct kn_repack *how)
{
    return (struct repack_how){vld1q_u8(how->shuffle), vld1q_u8(how->over)};
}

KN_INLINE void repack_step(uint8_t *dst, unsigned out_B, const uint8_t *src, unsigned in_B,
                           struct repack_how how)
{
    uint8x16_t a = vld1q_u8(src), b = vld1q_u8(src + in_B);

    vst1q_u8(dst, vorrq_u8(vqtbl1q_u8(a, how.shuffle), how.over));
    vst1q_u8(dst + out_B, vorrq_u8(vqtbl1q_u8(b, how.shuffle), how.over));
}

#define REPACK_GROUPS 2
#define REPACK_SUFFIX(name) name##_neon
#include "repack.inc.h"
