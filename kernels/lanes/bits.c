// SPDX-License-Identifier: MIT
// Forms of logic, shifts, and counts of bits.
#include "lanes.inc.h"

#include "families.h"

#include <stddef.h>

// "cnot: d = (a == 0) ? 1 : 0". Shifts: "amounts greater than the register's width are clamped to
// it".
#define LOGIC(bits)                                                                                \
    KN_FORM2(and_##bits, uint##bits##_t, uint##bits##_t, uint##bits##_t, a[i] & b[i])              \
    KN_FORM2(or_##bits, uint##bits##_t, uint##bits##_t, uint##bits##_t, a[i] | b[i])               \
    KN_FORM2(xor_##bits, uint##bits##_t, uint##bits##_t, uint##bits##_t, a[i] ^ b[i])              \
    KN_FORM1(not_##bits, uint##bits##_t, uint##bits##_t, ~a[i])                                    \
    KN_FORM1(cnot_##bits, uint##bits##_t, uint##bits##_t, a[i] == 0)                               \
    KN_FORM2(shl_##bits, uint##bits##_t, uint##bits##_t, uint32_t,                                 \
             b[i] < bits ? (uint##bits##_t)(a[i] << (b[i] & (bits - 1))) : 0)                      \
    KN_FORM2(shr_u##bits, uint##bits##_t, uint##bits##_t, uint32_t,                                \
             b[i] < bits ? a[i] >> (b[i] & (bits - 1)) : 0)                                        \
    KN_FORM2(shr_s##bits, int##bits##_t, int##bits##_t, uint32_t,                                  \
             a[i] >> (b[i] < bits ? b[i] : bits - 1))
LOGIC(16)
LOGIC(32)
LOGIC(64)

// shf: "shifts the 64-bit value [b,a]; .l: the upper 32 bits of the result, .r: the lower ones.
// .clamp: the amount is at most 32, .wrap: only its lower five bits count".
static inline uint32_t shf_l(uint32_t a, uint32_t b, uint32_t n)
{
    return b << n | a >> 1 >> (31 - n);
}

static inline uint32_t shf_r(uint32_t a, uint32_t b, uint32_t n)
{
    return a >> n | b << 1 << (31 - n);
}

KN_FORM3(shf_l_clamp, uint32_t, uint32_t, uint32_t, uint32_t,
         c[i] > 31 ? a[i] : shf_l(a[i], b[i], c[i] & 31))
KN_FORM3(shf_r_clamp, uint32_t, uint32_t, uint32_t, uint32_t,
         c[i] > 31 ? b[i] : shf_r(a[i], b[i], c[i] & 31))
KN_FORM3(shf_l_wrap, uint32_t, uint32_t, uint32_t, uint32_t, shf_l(a[i], b[i], c[i] & 31))
KN_FORM3(shf_r_wrap, uint32_t, uint32_t, uint32_t, uint32_t, shf_r(a[i], b[i], c[i] & 31))

// lop3: bit a * 4 + b * 2 + c of the table is the result for the bits a, b, c. The table's bits are
// spread over words; c chooses one of each two, then b, then a.
#define TABLE(n) (-(uint32_t)(table >> (n)&1))
#define CHOOSE(bit, zero, one) ((zero) ^ ((bit) & ((zero) ^ (one))))
KN_INLINE void lop3_lanes(const struct kn_op *op, struct kn_warp *w, const int32_t *on)
{
    uint32_t *d = KN_REGISTER(uint32_t, op->d);
    const uint32_t *a = KN_REGISTER(uint32_t, op->a);
    const uint32_t *b = KN_REGISTER(uint32_t, op->b);
    const uint32_t *c = KN_REGISTER(uint32_t, op->c);
    const uint64_t table = op->u;
    KN_EACH_LANE
    {
        const uint32_t x = a[i], y = b[i], z = c[i];
        const uint32_t z00 = CHOOSE(z, TABLE(0), TABLE(1)), z01 = CHOOSE(z, TABLE(2), TABLE(3));
        const uint32_t z10 = CHOOSE(z, TABLE(4), TABLE(5)), z11 = CHOOSE(z, TABLE(6), TABLE(7));
        const uint32_t value = CHOOSE(x, CHOOSE(y, z00, z01), CHOOSE(y, z10, z11));
        d[i] = !on || on[i] ? value : d[i];
    }
}

KN_OPERATION(lop3_all)
{
    lop3_lanes(op, w, NULL);
    KN_NEXT;
}

KN_OPERATION(lop3_some)
{
    lop3_lanes(op, w, kn_lanes_of(op, w));
    KN_NEXT;
}

// Counts by sums of neighbours, so that they can be vectorised. (gcc takes the usual multiplication
// at the end for __builtin_popcount, which AVX2 has for single values only.)
static inline uint32_t popc_32(uint32_t x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    x += x >> 8;
    return (x + (x >> 16)) & 0x3f;
}

static inline uint32_t clz_32(uint32_t x)
{
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    return 32 - popc_32(x);
}

static inline uint32_t clz_64(uint64_t x)
{
    const uint32_t high = (uint32_t)(x >> 32);
    return high ? clz_32(high) : 32 + clz_32((uint32_t)x);
}

static inline uint32_t brev_32(uint32_t x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}

KN_FORM1(popc_b32, uint32_t, uint32_t, popc_32(a[i]))
KN_FORM1(popc_b64, uint32_t, uint64_t, popc_32((uint32_t)a[i]) + popc_32((uint32_t)(a[i] >> 32)))
KN_FORM1(clz_b32, uint32_t, uint32_t, clz_32(a[i]))
KN_FORM1(clz_b64, uint32_t, uint64_t, clz_64(a[i]))
KN_FORM1(brev_b32, uint32_t, uint32_t, brev_32(a[i]))
KN_FORM1(brev_b64, uint64_t, uint64_t,
         (uint64_t)brev_32((uint32_t)a[i]) << 32 | brev_32((uint32_t)(a[i] >> 32)))

// bfind: "the bit position of the most significant non-sign bit; 0xffffffff if there is none.
// .shiftamt: the amount by which to shift left to put it into the most significant position".
#define NOT_FOUND(zeros, bits, found) ((zeros) == (bits) ? UINT32_MAX : (found))
#define BFIND(s, bits, U, S)                                                                       \
    static inline uint32_t zeros_##s(S x)                                                          \
    {                                                                                              \
        return clz_##bits((U)(x < 0 ? ~x : x));                                                    \
    }                                                                                              \
    KN_FORM1(bfind_##s, uint32_t, S, NOT_FOUND(zeros_##s(a[i]), bits, bits - 1 - zeros_##s(a[i]))) \
    KN_FORM1(bfind_shiftamt_##s, uint32_t, S, NOT_FOUND(zeros_##s(a[i]), bits, zeros_##s(a[i])))
BFIND(s32, 32, uint32_t, int32_t)
BFIND(s64, 64, uint64_t, int64_t)
KN_FORM1(bfind_u32, uint32_t, uint32_t, 31 - clz_32(a[i]))
KN_FORM1(bfind_u64, uint32_t, uint64_t, 63 - clz_64(a[i]))
KN_FORM1(bfind_shiftamt_u32, uint32_t, uint32_t, NOT_FOUND(clz_32(a[i]), 32, clz_32(a[i])))
KN_FORM1(bfind_shiftamt_u64, uint32_t, uint64_t, NOT_FOUND(clz_64(a[i]), 64, clz_64(a[i])))

#define LOGIC_ROWS(bits, l)                                                                        \
    KN_ROW(and_##bits, "and." #bits, l "=" l l), KN_ROW(or_##bits, "or." #bits, l "=" l l),        \
        KN_ROW(xor_##bits, "xor." #bits, l "=" l l), KN_ROW(not_##bits, "not." #bits, l "=" l),    \
        KN_ROW(cnot_##bits, "cnot." #bits, l "=" l),                                               \
        KN_ROW(shl_##bits, "shl." #bits, l "=" l "w"),                                             \
        KN_ROW(shr_u##bits, "shr.u" #bits, l "=" l "w"),                                           \
        KN_ROW(shr_s##bits, "shr.s" #bits, l "=" l "w")

const struct kn_form KN_FAMILY(bits)[] = {
    LOGIC_ROWS(16, "h"),
    LOGIC_ROWS(32, "w"),
    LOGIC_ROWS(64, "l"),
    KN_ROW(shf_l_clamp, "shf.l.clamp.32", "w=www"),
    KN_ROW(shf_r_clamp, "shf.r.clamp.32", "w=www"),
    KN_ROW(shf_l_wrap, "shf.l.wrap.32", "w=www"),
    KN_ROW(shf_r_wrap, "shf.r.wrap.32", "w=www"),
    KN_ROW(lop3, "lop3.32", "w=wwwi"),
    KN_ROW(popc_b32, "popc.32", "w=w"),
    KN_ROW(popc_b64, "popc.64", "w=l"),
    KN_ROW(clz_b32, "clz.32", "w=w"),
    KN_ROW(clz_b64, "clz.64", "w=l"),
    KN_ROW(brev_b32, "brev.32", "w=w"),
    KN_ROW(brev_b64, "brev.64", "l=l"),
    KN_ROW(bfind_u32, "bfind.u32", "w=w"),
    KN_ROW(bfind_s32, "bfind.s32", "w=w"),
    KN_ROW(bfind_u64, "bfind.u64", "w=l"),
    KN_ROW(bfind_s64, "bfind.s64", "w=l"),
    KN_ROW(bfind_shiftamt_u32, "bfind.shiftamt.u32", "w=w"),
    KN_ROW(bfind_shiftamt_s32, "bfind.shiftamt.s32", "w=w"),
    KN_ROW(bfind_shiftamt_u64, "bfind.shiftamt.u64", "w=l"),
    KN_ROW(bfind_shiftamt_s64, "bfind.shiftamt.s64", "w=l"),
    {0},
};
