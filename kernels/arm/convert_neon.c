// SPDX-License-Identifier: MIT
// The conversion family with 16-byte registers.
#include "convert_scalar.h"
#include "kn_arm.h"

#include <arm_neon.h>

#define LANES 4
#define VF float32x4_t
#define VI uint32x4_t
#define CONVERT_SUFFIX(name) name##_neon
#define CONVERT_SMALL(name) name##_c

#define v_loadf(p) vreinterpretq_f32_u8(vld1q_u8(p))
#define v_loadi(p) vreinterpretq_u32_u8(vld1q_u8(p))
#define v_storef(p, v) vst1q_u8(p, vreinterpretq_u8_f32(v))
#define v_storei(p, v) vst1q_u8(p, vreinterpretq_u8_u32(v))
#define v_load_half(p) vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(p)))
#define v_store_half(p, v) vst1_u8(p, vreinterpret_u8_f16(vcvt_f16_f32(v)))

#define v_set(x) vdupq_n_f32(x)
#define v_seti(x) vdupq_n_u32((uint32_t)(x))
#define v_setf_bits(x) vreinterpretq_f32_u32(v_seti(x))
#define v_set4(rgb, a) vsetq_lane_f32(a, v_set(rgb), 3)
#define v_bits(v) vreinterpretq_u32_f32(v)
#define v_float(v) vcvtq_f32_s32(vreinterpretq_s32_u32(v))
#define v_floatu(v) vcvtq_f32_u32(v)
#define v_fma(a, b, c) vfmaq_f32(c, a, b)
#define v_mul(a, b) vmulq_f32(a, b)
#define v_max(a, b) vmaxq_f32(a, b)
#define v_min(a, b) vminq_f32(a, b)
#define v_add(a, b) vaddq_u32(a, b)
#define v_sub(a, b) vsubq_u32(a, b)
#define v_and(a, b) vandq_u32(a, b)
#define v_minu(a, b) vminq_u32(a, b)
#define v_maxs(a, b)                                                                               \
    vreinterpretq_u32_s32(vmaxq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b)))
#define v_shift_right16(v) vshrq_n_u32(v, 16)
#define v_with_alpha(colour, alpha) vcopyq_laneq_u32(colour, 3, alpha, 3)
// To nearest even, saturated, NaN as 0: the instructions do exactly this.
#define v_to_uint(v) vcvtnq_u32_f32(v)
#define v_to_sint(v) vreinterpretq_u32_s32(vcvtnq_s32_f32(v))

// NaN compares as false with everything. (vmaxnmq would do, except for signalling NaNs.)
KN_INLINE VF v_above(VF v, VF least)
{
    return vbslq_f32(vcgtq_f32(v, least), v, least);
}

KN_INLINE VF v_clamp01(VF v)
{
    VI positive = vcgtq_f32(v, v_set(0.0f));

    return v_min(vreinterpretq_f32_u32(v_and(v_bits(v), positive)), v_set(1.0f));
}

KN_INLINE VF v_clamp11(VF v)
{
    VI number = vceqq_f32(v, v);

    return v_max(v_min(vreinterpretq_f32_u32(v_and(v_bits(v), number)), v_set(1.0f)), v_set(-1.0f));
}

// Copies element i to all lanes and shifts each lane's field to its lowest bits; and back.
KN_INLINE VI v_spread(VI pixels, unsigned i)
{
    return i == 0   ? vdupq_laneq_u32(pixels, 0)
           : i == 1 ? vdupq_laneq_u32(pixels, 1)
           : i == 2 ? vdupq_laneq_u32(pixels, 2)
                    : vdupq_laneq_u32(pixels, 3);
}

KN_INLINE VI v_fields(VI v)
{
    static const int32_t shifts[4] = {0, -10, -20, -30};
    static const uint32_t masks[4] = {1023, 1023, 1023, 3};

    return v_and(vshlq_u32(v, vld1q_s32(shifts)), vld1q_u32(masks));
}

KN_INLINE VI v_place(VI v)
{
    static const int32_t shifts[4] = {0, 10, 20, 30};

    return vshlq_u32(v, vld1q_s32(shifts));
}

struct vi4 {
    VI v[4];
};

// Each register becomes one lane, by addition, because no bit is set twice.
KN_INLINE VI v_join(struct vi4 n)
{
    return vpaddq_u32(vpaddq_u32(n.v[0], n.v[1]), vpaddq_u32(n.v[2], n.v[3]));
}

KN_INLINE struct vi4 widen_u16(uint16x8_t low, uint16x8_t high)
{
    return (struct vi4){{vmovl_u16(vget_low_u16(low)), vmovl_high_u16(low),
                         vmovl_u16(vget_low_u16(high)), vmovl_high_u16(high)}};
}

KN_INLINE struct vi4 widen_s16(int16x8_t low, int16x8_t high)
{
    return (struct vi4){{vreinterpretq_u32_s32(vmovl_s16(vget_low_s16(low))),
                         vreinterpretq_u32_s32(vmovl_high_s16(low)),
                         vreinterpretq_u32_s32(vmovl_s16(vget_low_s16(high))),
                         vreinterpretq_u32_s32(vmovl_high_s16(high))}};
}

KN_INLINE struct vi4 load_u8(const uint8_t *p)
{
    uint8x16_t v = vld1q_u8(p);

    return widen_u16(vmovl_u8(vget_low_u8(v)), vmovl_high_u8(v));
}

KN_INLINE struct vi4 load_s8(const uint8_t *p)
{
    int8x16_t v = vreinterpretq_s8_u8(vld1q_u8(p));

    return widen_s16(vmovl_s8(vget_low_s8(v)), vmovl_high_s8(v));
}

KN_INLINE struct vi4 load_u16(const uint8_t *p)
{
    return widen_u16(vreinterpretq_u16_u8(vld1q_u8(p)), vreinterpretq_u16_u8(vld1q_u8(p + 16)));
}

KN_INLINE struct vi4 load_s16(const uint8_t *p)
{
    return widen_s16(vreinterpretq_s16_u8(vld1q_u8(p)), vreinterpretq_s16_u8(vld1q_u8(p + 16)));
}

// Narrows two registers to one, with saturation.
KN_INLINE uint16x8_t narrow_u(VI a, VI b)
{
    return vqmovn_high_u32(vqmovn_u32(a), b);
}

KN_INLINE int16x8_t narrow_s(VI a, VI b)
{
    return vqmovn_high_s32(vqmovn_s32(vreinterpretq_s32_u32(a)), vreinterpretq_s32_u32(b));
}

KN_INLINE void store_u8(uint8_t *p, struct vi4 n)
{
    vst1q_u8(p, vqmovn_high_u16(vqmovn_u16(narrow_u(n.v[0], n.v[1])), narrow_u(n.v[2], n.v[3])));
}

KN_INLINE void store_s8(uint8_t *p, struct vi4 n)
{
    vst1q_u8(p, vreinterpretq_u8_s8(vqmovn_high_s16(vqmovn_s16(narrow_s(n.v[0], n.v[1])),
                                                    narrow_s(n.v[2], n.v[3]))));
}

KN_INLINE void store_u16(uint8_t *p, struct vi4 n)
{
    vst1q_u8(p, vreinterpretq_u8_u16(narrow_u(n.v[0], n.v[1])));
    vst1q_u8(p + 16, vreinterpretq_u8_u16(narrow_u(n.v[2], n.v[3])));
}

KN_INLINE void store_s16(uint8_t *p, struct vi4 n)
{
    vst1q_u8(p, vreinterpretq_u8_s16(narrow_s(n.v[0], n.v[1])));
    vst1q_u8(p + 16, vreinterpretq_u8_s16(narrow_s(n.v[2], n.v[3])));
}

#include "convert.inc.h"
