// SPDX-License-Identifier: MIT
// Forms of bit fields and bytes: bfe, bfi, bmsk, szext, fns, prmt.
#include "lanes.inc.h"

#include "families.h"

// A mask of the lower n bits.
static inline uint32_t low_32(uint32_t n)
{
    return n > 31 ? UINT32_MAX : (UINT32_C(1) << (n & 31)) - 1;
}

static inline uint64_t low_64(uint32_t n)
{
    return n > 63 ? UINT64_MAX : (UINT64_C(1) << (n & 63)) - 1;
}

// The lower n bits, sign-extended.
static inline int32_t extend_32(int32_t x, uint32_t n)
{
    const uint32_t up = n > 31 ? 0 : (32 - n) & 31;
    return n ? (int32_t)((uint32_t)x << up) >> up : 0;
}

static inline int64_t extend_64(int64_t x, uint32_t n)
{
    const uint32_t up = n > 63 ? 0 : (64 - n) & 63;
    return n ? (int64_t)((uint64_t)x << up) >> up : 0;
}

// bfe: "extracts the field of length c[7:0] at b[7:0]. If it extends beyond the msb of the input,
// the destination is filled with the msb for signed types, otherwise with zeros". Of 64 bits, the
// card takes all of b and c.
#define SHIFT_U(x, n, bits) ((n) < bits ? (x) >> ((n) & (bits - 1)) : 0)
#define SHIFT_S(x, n, bits) ((x) >> ((n) < bits ? (n) : bits - 1))
#define PLACE_32(x) ((x)&0xff)
#define PLACE_64(x) (x)
#define BFE(bits)                                                                                  \
    KN_FORM3(bfe_u##bits, uint##bits##_t, uint##bits##_t, uint32_t, uint32_t,                      \
             SHIFT_U(a[i], PLACE_##bits(b[i]), bits) & low_##bits(PLACE_##bits(c[i])))             \
    KN_FORM3(bfe_s##bits, int##bits##_t, int##bits##_t, uint32_t, uint32_t,                        \
             extend_##bits(SHIFT_S(a[i], PLACE_##bits(b[i]), bits), PLACE_##bits(c[i])))
BFE(32)
BFE(64)

// bfi: "inserts the lower bits of a into b, at c[7:0] with the length d[7:0]".
// Of 64 bits, the card takes all of c and d.
#define BFI(bits)                                                                                  \
    static inline uint##bits##_t bfi_##bits(uint##bits##_t field, uint##bits##_t x, uint32_t at,   \
                                            uint32_t length)                                       \
    {                                                                                              \
        const uint##bits##_t mask = low_##bits(length);                                            \
        const uint32_t up = at & (bits - 1);                                                       \
        return at < bits ? (x & ~(mask << up)) | (field & mask) << up : x;                         \
    }                                                                                              \
    KN_FORM4(bfi_b##bits, uint##bits##_t, uint##bits##_t, uint##bits##_t, uint32_t, uint32_t,      \
             bfi_##bits(a[i], b[i], PLACE_##bits(c[i]), PLACE_##bits(e[i])))
BFI(32)
BFI(64)

// bmsk: "b bits set from position a on. .wrap: both are taken modulo 32; .clamp: they are clamped
// to 32".
static inline uint32_t bmsk(uint32_t at, uint32_t width)
{
    return at > 31 ? 0 : low_32(width) << (at & 31);
}

KN_FORM2(bmsk_clamp, uint32_t, uint32_t, uint32_t, bmsk(a[i], b[i]))
KN_FORM2(bmsk_wrap, uint32_t, uint32_t, uint32_t, bmsk(a[i] & 31, b[i] & 31))

// szext: "extends an N-bit value, where N is b: modulo 32 or clamped to 32".
KN_FORM2(szext_clamp_u32, uint32_t, uint32_t, uint32_t, a[i] & low_32(b[i]))
KN_FORM2(szext_wrap_u32, uint32_t, uint32_t, uint32_t, a[i] & low_32(b[i] & 31))
KN_FORM2(szext_clamp_s32, int32_t, int32_t, uint32_t, extend_32(a[i], b[i]))
KN_FORM2(szext_wrap_s32, int32_t, int32_t, uint32_t, extend_32(a[i], b[i] & 31))

// fns: "the n-th set bit of the mask, starting at base": up for n > 0, down for n < 0, and for 0
// whether base itself is set. 0xffffffff: there is none. The card returns 0 for the least n.
static inline uint32_t fns(uint32_t mask, uint32_t base, int32_t n)
{
    const int step = n < 0 ? -1 : 1;
    uint32_t left = n < 0 ? 0 - (uint32_t)n : (uint32_t)n;
    if (base > 31)
        return UINT32_MAX;
    if (n == INT32_MIN)
        return 0;
    if (!n)
        return mask >> base & 1 ? base : UINT32_MAX;
    for (int at = (int)base; at >= 0 && at < 32; at += step) {
        left -= mask >> at & 1;
        if (!left)
            return (uint32_t)at;
    }
    return UINT32_MAX;
}

KN_FORM3(fns_b32, uint32_t, uint32_t, uint32_t, int32_t, fns(a[i], b[i], c[i]))

// prmt: each of the four selectors in c chooses one byte of {b, a}; its upper bit replaces the byte
// by eight copies of its sign. In the other modes c[1:0] chooses a whole pattern of selectors.
static inline uint32_t prmt_byte(uint32_t a, uint32_t b, uint32_t selector)
{
    const uint32_t word = selector & 4 ? b : a;
    const uint32_t byte = word >> 8 * (selector & 3) & 0xff;
    return selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}

static inline uint32_t prmt(uint32_t a, uint32_t b, uint32_t c)
{
    return prmt_byte(a, b, c) | prmt_byte(a, b, c >> 4) << 8 | prmt_byte(a, b, c >> 8) << 16 |
           prmt_byte(a, b, c >> 12) << 24;
}

#define PRMT(name, selectors)                                                                      \
    KN_FORM3(prmt_##name, uint32_t, uint32_t, uint32_t, uint32_t, prmt(a[i], b[i], selectors))
#define FOUR(p0, p1, p2, p3)                                                                       \
    ((c[i] & 3) == 0 ? (p0) : (c[i] & 3) == 1 ? (p1) : (c[i] & 3) == 2 ? (p2) : (p3))
PRMT(any, c[i])
PRMT(f4e, 0x3210u + (c[i] & 3) * 0x1111)
PRMT(b4e, FOUR(0x5670u, 0x6701u, 0x7012u, 0x0123u))
PRMT(rc8, (c[i] & 3) * 0x1111)
PRMT(ecl, FOUR(0x3210u, 0x3211u, 0x3222u, 0x3333u))
PRMT(ecr, FOUR(0x0000u, 0x1110u, 0x2210u, 0x3210u))
PRMT(rc16, c[i] & 1 ? 0x3232u : 0x1010u)

const struct kn_form KN_FAMILY(fields)[] = {
    KN_ROW(bfe_u32, "bfe.u32", "w=www"),
    KN_ROW(bfe_s32, "bfe.s32", "w=www"),
    KN_ROW(bfe_u64, "bfe.u64", "l=lww"),
    KN_ROW(bfe_s64, "bfe.s64", "l=lww"),
    KN_ROW(bfi_b32, "bfi.32", "w=wwww"),
    KN_ROW(bfi_b64, "bfi.64", "l=llww"),
    KN_ROW(bmsk_clamp, "bmsk.clamp.32", "w=ww"),
    KN_ROW(bmsk_wrap, "bmsk.wrap.32", "w=ww"),
    KN_ROW(szext_clamp_u32, "szext.clamp.u32", "w=ww"),
    KN_ROW(szext_clamp_s32, "szext.clamp.s32", "w=ww"),
    KN_ROW(szext_wrap_u32, "szext.wrap.u32", "w=ww"),
    KN_ROW(szext_wrap_s32, "szext.wrap.s32", "w=ww"),
    KN_ROW(fns_b32, "fns.32", "w=www"),
    KN_ROW(prmt_any, "prmt.32", "w=www"),
    KN_ROW(prmt_f4e, "prmt.f4e.32", "w=www"),
    KN_ROW(prmt_b4e, "prmt.b4e.32", "w=www"),
    KN_ROW(prmt_rc8, "prmt.rc8.32", "w=www"),
    KN_ROW(prmt_ecl, "prmt.ecl.32", "w=www"),
    KN_ROW(prmt_ecr, "prmt.ecr.32", "w=www"),
    KN_ROW(prmt_rc16, "prmt.rc16.32", "w=www"),
    {0},
};
