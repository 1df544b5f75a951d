// SPDX-License-Identifier: MIT
// Forms that move registers, take them apart, put them together, and predicate logic.
#include "lanes.inc.h"

#include "families.h"

#include <stddef.h>

KN_FORM1(mov_16, uint16_t, uint16_t, a[i])
KN_FORM1(mov_32, uint32_t, uint32_t, a[i])
KN_FORM1(mov_64, uint64_t, uint64_t, a[i])
KN_FORM1(mov_128, kn_uint128, kn_uint128, a[i])

// pack: "mov.b32 d, {a, b}": a in the lower bits. Values of 8 bits live in 16.
KN_FORM2(pack_16_8x2, uint16_t, uint16_t, uint16_t, (a[i] & 0xff) | b[i] << 8)
KN_FORM2(pack_32_16x2, uint32_t, uint16_t, uint16_t, a[i] | (uint32_t)b[i] << 16)
KN_FORM2(pack_64_32x2, uint64_t, uint32_t, uint32_t, a[i] | (uint64_t)b[i] << 32)
KN_FORM2(pack_128_64x2, kn_uint128, uint64_t, uint64_t, a[i] | (kn_uint128)b[i] << 64)
KN_FORM4(pack_32_8x4, uint32_t, uint16_t, uint16_t, uint16_t, uint16_t,
         (a[i] & 0xffu) | (b[i] & 0xffu) << 8 | (c[i] & 0xffu) << 16 | (e[i] & 0xffu) << 24)
KN_FORM4(pack_64_16x4, uint64_t, uint16_t, uint16_t, uint16_t, uint16_t,
         a[i] | (uint32_t)b[i] << 16 | (uint64_t)c[i] << 32 | (uint64_t)e[i] << 48)
KN_FORM4(pack_128_32x4, kn_uint128, uint32_t, uint32_t, uint32_t, uint32_t,
         (a[i] | (uint64_t)b[i] << 32) | (kn_uint128)(c[i] | (uint64_t)e[i] << 32) << 64)

// unpack: "mov.b32 {d, e}, a": d takes the lower bits.
#define UNPACK(name, A, D, parts, part_value)                                                      \
    KN_INLINE void name##_lanes(const struct kn_op *op, struct kn_warp *w, const int32_t *on)      \
    {                                                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        for (int part = 0; part < parts; part++) {                                                 \
            D *d = KN_REGISTER(D, part ? op->more[part - 1] : op->d);                              \
            KN_EACH_LANE                                                                           \
            {                                                                                      \
                const D value = (D)(part_value);                                                   \
                d[i] = !on || on[i] ? value : d[i];                                                \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    KN_OPERATION(name##_all)                                                                       \
    {                                                                                              \
        name##_lanes(op, w, NULL);                                                                 \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(name##_some)                                                                      \
    {                                                                                              \
        name##_lanes(op, w, kn_lanes_of(op, w));                                                   \
        KN_NEXT;                                                                                   \
    }
UNPACK(unpack_16_8x2, uint16_t, uint16_t, 2, a[i] >> 8 * part & 0xff)
UNPACK(unpack_32_16x2, uint32_t, uint16_t, 2, a[i] >> 16 * part)
UNPACK(unpack_32_8x4, uint32_t, uint16_t, 4, a[i] >> 8 * part & 0xff)
UNPACK(unpack_64_32x2, uint64_t, uint32_t, 2, a[i] >> 32 * part)
UNPACK(unpack_64_16x4, uint64_t, uint16_t, 4, a[i] >> 16 * part)
UNPACK(unpack_128_64x2, uint64_t, uint64_t, 2, a[2 * i + part])
UNPACK(unpack_128_32x4, uint32_t, uint32_t, 4, a[4 * i + part])

#define PREDICATE(name, expression)                                                                \
    KN_OPERATION(name##_all)                                                                       \
    {                                                                                              \
        const uint32_t a = KN_PREDICATE(op->a), b = KN_PREDICATE(op->b);                           \
        (void)b;                                                                                   \
        KN_PREDICATE(op->d) = (expression);                                                        \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(name##_some)                                                                      \
    {                                                                                              \
        const uint32_t a = KN_PREDICATE(op->a), b = KN_PREDICATE(op->b);                           \
        (void)b;                                                                                   \
        kn_predicate_set(op, w, op->d, (expression));                                              \
        KN_NEXT;                                                                                   \
    }
PREDICATE(mov_pred, a)
PREDICATE(not_pred, ~a)
PREDICATE(and_pred, a &b)
PREDICATE(or_pred, a | b)
PREDICATE(xor_pred, a ^ b)

const struct kn_form KN_FAMILY(move)[] = {
    KN_ROW(mov_16, "mov.16", "h=h"),
    KN_ROW(mov_32, "mov.32", "w=w"),
    KN_ROW(mov_64, "mov.64", "l=l"),
    KN_ROW(mov_128, "mov.128", "x=x"),
    KN_ROW(pack_16_8x2, "pack.16.8x2", "h=hh"),
    KN_ROW(pack_32_8x4, "pack.32.8x4", "w=hhhh"),
    KN_ROW(pack_32_16x2, "pack.32.16x2", "w=hh"),
    KN_ROW(pack_64_16x4, "pack.64.16x4", "l=hhhh"),
    KN_ROW(pack_64_32x2, "pack.64.32x2", "l=ww"),
    KN_ROW(pack_128_32x4, "pack.128.32x4", "x=wwww"),
    KN_ROW(pack_128_64x2, "pack.128.64x2", "x=ll"),
    KN_ROW(unpack_16_8x2, "unpack.16.8x2", "hh=h"),
    KN_ROW(unpack_32_8x4, "unpack.32.8x4", "hhhh=w"),
    KN_ROW(unpack_32_16x2, "unpack.32.16x2", "hh=w"),
    KN_ROW(unpack_64_16x4, "unpack.64.16x4", "hhhh=l"),
    KN_ROW(unpack_64_32x2, "unpack.64.32x2", "ww=l"),
    KN_ROW(unpack_128_32x4, "unpack.128.32x4", "wwww=x"),
    KN_ROW(unpack_128_64x2, "unpack.128.64x2", "ll=x"),
    KN_ROW(mov_pred, "mov.pred", "p=p"),
    KN_ROW(not_pred, "not.pred", "p=p"),
    KN_ROW(and_pred, "and.pred", "p=pp"),
    KN_ROW(or_pred, "or.pred", "p=pp"),
    KN_ROW(xor_pred, "xor.pred", "p=pp"),
    {0},
};
