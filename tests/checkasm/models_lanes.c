// SPDX-License-Identifier: MIT
// Tests plain C's forms over 32 lanes against models of single values, which follow the words of
// PTX's manual bit by bit.
#include <string.h>

#include "checkasm.h"
#include "kn_video.h"
#include "lanes.h"

int64_t ca_lane_immediate(const struct kn_form *form)
{
    struct kn_video v = {.flags = (uint8_t)ca_random()};

    if (strncmp(form->name, "v", 1) != 0)
        return (int64_t)ca_below(256);
    v.operation = (uint8_t)ca_below(KN_VIDEO_GE + 1);
    v.second = (uint8_t)ca_below(KN_VIDEO_GREATEST + 1);
    if (!strcmp(form->name, "video2") || !strcmp(form->name, "video4")) {
        v.write = (uint8_t)ca_below(16);
        v.a = (uint16_t)ca_random() & 0x7777;
        v.b = (uint16_t)ca_random() & 0x7777;
        v.operation = v.operation == KN_VIDEO_SHL || v.operation == KN_VIDEO_SHR ? KN_VIDEO_AVRG
                                                                                 : v.operation;
    } else {
        v.a = (uint16_t)ca_below(KN_VIDEO_PARTS);
        v.b = (uint16_t)ca_below(KN_VIDEO_PARTS);
        v.write = (uint8_t)ca_below(KN_VIDEO_PARTS);
    }
    return kn_video_pack(&v);
}

typedef uint64_t u64;
typedef int64_t s64;

// A model: the values of the sources, and the immediate; returns the first destination's value.
typedef u64 model(const u64 *in, u64 immediate);

static s64 s32(u64 x)
{
    return (int32_t)x;
}

static unsigned bit(u64 x, unsigned at)
{
    return x >> at & 1;
}

static u64 add_32(const u64 *in, u64 i)
{
    (void)i;
    return in[0] + in[1];
}

static u64 mul_hi_s32(const u64 *in, u64 i)
{
    (void)i;
    return (u64)(s32(in[0]) * s32(in[1])) >> 32;
}

// The upper half of a product of 64 bits, by halves.
static u64 mul_hi_u64(const u64 *in, u64 i)
{
    const u64 a = in[0] >> 32, b = (uint32_t)in[0], c = in[1] >> 32, d = (uint32_t)in[1];
    const u64 middle = (b * d >> 32) + (uint32_t)(a * d) + (uint32_t)(b * c);

    (void)i;
    return a * c + (a * d >> 32) + (b * c >> 32) + (middle >> 32);
}

static u64 mad_wide_s32(const u64 *in, u64 i)
{
    (void)i;
    return (u64)(s32(in[0]) * s32(in[1])) + in[2];
}

static u64 mul24_hi_u32(const u64 *in, u64 i)
{
    (void)i;
    return (in[0] & 0xffffff) * (in[1] & 0xffffff) >> 16;
}

static u64 sub_sat_s32(const u64 *in, u64 i)
{
    const s64 difference = s32(in[0]) - s32(in[1]);

    (void)i;
    return (u64)(difference > INT32_MAX   ? INT32_MAX
                 : difference < INT32_MIN ? INT32_MIN
                                          : difference);
}

static u64 sad_s32(const u64 *in, u64 i)
{
    const s64 a = s32(in[0]), b = s32(in[1]);

    (void)i;
    return (u64)(a < b ? b - a : a - b) + in[2];
}

static u64 div_s32(const u64 *in, u64 i)
{
    (void)i;
    return s32(in[1]) ? (u64)(s32(in[0]) / s32(in[1])) : ~UINT64_C(0);
}

static u64 rem_s32(const u64 *in, u64 i)
{
    (void)i;
    return s32(in[1]) ? (u64)(s32(in[0]) % s32(in[1])) : ~UINT64_C(0);
}

static u64 div_u32(const u64 *in, u64 i)
{
    (void)i;
    return in[1] ? in[0] / in[1] : ~UINT64_C(0);
}

static u64 rem_u32(const u64 *in, u64 i)
{
    (void)i;
    return in[1] ? in[0] % in[1] : ~UINT64_C(0);
}

static u64 dp4a_s32_u32(const u64 *in, u64 i)
{
    s64 sum = s32(in[2]);

    (void)i;
    for (unsigned k = 0; k < 32; k += 8)
        sum += (int8_t)(in[0] >> k) * (s64)(in[1] >> k & 0xff);
    return (u64)sum;
}

static u64 addc_64(const u64 *in, u64 i)
{
    (void)i;
    return in[0] + in[1] + in[2];
}

static u64 subc_32(const u64 *in, u64 i)
{
    (void)i;
    return in[0] - in[1] - !in[2];
}

static u64 setp_lt_s32(const u64 *in, u64 i)
{
    (void)i;
    return s32(in[0]) < s32(in[1]);
}

static u64 setp_le_u64(const u64 *in, u64 i)
{
    (void)i;
    return in[0] <= in[1];
}

static u64 selp_64(const u64 *in, u64 i)
{
    (void)i;
    return in[2] ? in[0] : in[1];
}

static u64 slct_32_s32(const u64 *in, u64 i)
{
    (void)i;
    return s32(in[2]) >= 0 ? in[0] : in[1];
}

static u64 lop3_32(const u64 *in, u64 i)
{
    u64 d = 0;

    for (unsigned k = 0; k < 32; k++)
        d |= (u64)bit(i, bit(in[0], k) * 4 + bit(in[1], k) * 2 + bit(in[2], k)) << k;
    return d;
}

static u64 shl_32(const u64 *in, u64 i)
{
    u64 d = in[0];

    (void)i;
    for (u64 k = 0; k < in[1] && k < 32; k++)
        d = (uint32_t)(d * 2);
    return d;
}

static u64 shr_s64(const u64 *in, u64 i)
{
    s64 d = (s64)in[0];

    (void)i;
    for (u64 k = 0; k < in[1] && k < 64; k++)
        d = (d - (d & 1)) / 2;
    return (u64)d;
}

static u64 shf_l_clamp(const u64 *in, u64 i)
{
    u64 value = in[1] << 32 | in[0];

    (void)i;
    for (u64 k = 0; k < in[2] && k < 32; k++)
        value *= 2;
    return value >> 32;
}

static u64 shf_r_wrap(const u64 *in, u64 i)
{
    (void)i;
    return (in[1] << 32 | in[0]) >> in[2] % 32;
}

static u64 popc_64(const u64 *in, u64 i)
{
    unsigned count = 0;

    (void)i;
    for (unsigned k = 0; k < 64; k++)
        count += bit(in[0], k);
    return count;
}

static u64 clz_32(const u64 *in, u64 i)
{
    unsigned count = 0;

    (void)i;
    while (count < 32 && !bit(in[0], 31 - count))
        count++;
    return count;
}

static u64 brev_64(const u64 *in, u64 i)
{
    u64 d = 0;

    (void)i;
    for (unsigned k = 0; k < 64; k++)
        d |= (u64)bit(in[0], k) << (63 - k);
    return d;
}

static u64 bfind_s64(const u64 *in, u64 i)
{
    int k = 63;

    (void)i;
    while (k >= 0 && bit(in[0], (unsigned)k) == bit(in[0], 63))
        k--;
    return (u64)k;
}

static u64 bfe_s32(const u64 *in, u64 i)
{
    const unsigned at = in[1] & 0xff, length = in[2] & 0xff;
    const unsigned last = at + length - 1 < 31 ? at + length - 1 : 31;
    const unsigned sign = length ? bit(in[0], last) : 0;
    u64 d = 0;

    (void)i;
    for (unsigned k = 0; k < 32; k++)
        d |= (u64)(k < length && at + k < 32 ? bit(in[0], at + k) : sign) << k;
    return d;
}

// The card takes all of the position and of the length.
static u64 bfi_64(const u64 *in, u64 i)
{
    const u64 at = in[2] & UINT32_MAX, length = in[3] & UINT32_MAX;
    u64 d = in[1];

    (void)i;
    for (u64 k = 0; k < length && at + k < 64; k++)
        d = (d & ~(UINT64_C(1) << (at + k))) | (u64)bit(in[0], (unsigned)k) << (at + k);
    return d;
}

static u64 szext_clamp_s32(const u64 *in, u64 i)
{
    u64 d = 0;

    (void)i;
    for (unsigned k = 0; k < 32 && in[1]; k++)
        d |= (u64)bit(in[0], k < in[1] ? k : (unsigned)in[1] - 1) << k;
    return d;
}

static u64 prmt_32(const u64 *in, u64 i)
{
    u64 d = 0;

    (void)i;
    for (unsigned k = 0; k < 4; k++) {
        const unsigned selector = in[2] >> 4 * k & 15, from = 8 * (selector & 7);
        const u64 byte = (in[1] << 32 | in[0]) >> from & 0xff;
        d |= (selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * k;
    }
    return d;
}

static u64 pack_64_16x4(const u64 *in, u64 i)
{
    (void)i;
    return in[0] + (in[1] << 16) + (in[2] << 32) + (in[3] << 48);
}

static const struct {
    const char *name;
    model *value;
} models[] = {
    {"add.32", add_32},
    {"mul.hi.s32", mul_hi_s32},
    {"mul.hi.u64", mul_hi_u64},
    {"mad.wide.s32", mad_wide_s32},
    {"mul24.hi.u32", mul24_hi_u32},
    {"sub.sat.s32", sub_sat_s32},
    {"sad.s32", sad_s32},
    {"div.s32", div_s32},
    {"rem.s32", rem_s32},
    {"div.u32", div_u32},
    {"rem.u32", rem_u32},
    {"dp4a.s32.u32", dp4a_s32_u32},
    {"addc.64", addc_64},
    {"subc.cc.32", subc_32},
    {"setp.lt.s32", setp_lt_s32},
    {"setp.le.u64", setp_le_u64},
    {"selp.64", selp_64},
    {"slct.32.s32", slct_32_s32},
    {"lop3.32", lop3_32},
    {"shl.32", shl_32},
    {"shr.s64", shr_s64},
    {"shf.l.clamp.32", shf_l_clamp},
    {"shf.r.wrap.32", shf_r_wrap},
    {"popc.64", popc_64},
    {"clz.32", clz_32},
    {"brev.64", brev_64},
    {"bfind.s64", bfind_s64},
    {"bfe.s32", bfe_s32},
    {"bfi.64", bfi_64},
    {"szext.clamp.s32", szext_clamp_s32},
    {"prmt.32", prmt_32},
    {"pack.64.16x4", pack_64_16x4},
};

static u64 lane_value(const uint8_t *registers, uint32_t at, char letter, unsigned lane)
{
    u64 value = 0;

    if (letter == 'p') {
        memcpy(&value, registers + at, 4);
        return value >> lane & 1;
    }
    memcpy(&value, registers + at + lane * ca_letter_B(letter), ca_letter_B(letter));
    return value;
}

static void check_model(const struct kn_form *form, model *value)
{
    _Alignas(64) uint8_t before[CA_FILE_B], after[CA_FILE_B];
    struct ca_lane_case c;

    ca_begin(form->name);
    ca_lane_operands(&c, form);
    c.active = UINT32_MAX;
    ca_lane_place(&c, false);
    ca_lane_fill(before, &c);
    memcpy(after, before, sizeof(after));
    c.value = c.immediate ? ca_lane_immediate(form) : 0;
    ca_lane_run(&c, form, after);
    for (unsigned lane = 0; lane < KN_LANES; lane++) {
        const char letter = c.letters[0];
        u64 in[CA_OPERANDS] = {0}, expected;
        for (unsigned i = 0; i < c.sources; i++)
            in[i] =
                lane_value(before, c.at[c.destinations + i], c.letters[c.destinations + i], lane);
        expected = value(in, (u64)c.value);
        if (letter != 'p' && letter != 'l')
            expected &= (UINT64_C(1) << 8 * ca_letter_B(letter)) - 1;
        if (lane_value(after, c.at[0], letter, lane) != expected) {
            ca_fail(form->name, "of %llx, %llx, %llx: got %llx, the model has %llx",
                    (unsigned long long)in[0], (unsigned long long)in[1], (unsigned long long)in[2],
                    (unsigned long long)lane_value(after, c.at[0], letter, lane),
                    (unsigned long long)expected);
            return;
        }
    }
}

void ca_check_lane_models(const struct kn_dsp *dsp)
{
    unsigned count;
    const struct kn_form *forms = kn_forms(&count);

    (void)dsp;
    for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
        const int index = kn_form_find(models[i].name);
        if (index < 0) {
            ca_fail(models[i].name, "no such form");
            continue;
        }
        for (unsigned round = 0; round < ca_cases(200); round++)
            check_model(&forms[index], models[i].value);
    }
}
