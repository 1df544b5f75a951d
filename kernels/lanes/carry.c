// SPDX-License-Identifier: MIT
// Forms of extended-precision arithmetic: sums that read or write the carry, a predicate.
//
// "sub.cc writes the borrow-out to the condition code register": the card keeps the complement of
// the borrow there, because it adds ~b + 1. subc can read the carry of add.cc, and addc that of
// sub.cc.
#include "lanes.inc.h"

#include "families.h"

#include <stddef.h>

// name_sum: d = x + y + carry, for lanes in `on` (NULL: for all). `in` has each lane's carry.
// Returns the carries out. x and y are expressions of a[i], b[i] and c[i]; `third` says which
// operand c is.
#define SUM(name, bits, third, x_value, y_value)                                                   \
    KN_INLINE uint32_t name##_sum(const struct kn_op *op, struct kn_warp *w, const int32_t *on,    \
                                  uint##bits##_t in)                                               \
    {                                                                                              \
        uint##bits##_t *d = KN_REGISTER(uint##bits##_t, op->d);                                    \
        const uint##bits##_t *a = KN_REGISTER(uint##bits##_t, op->a);                              \
        const uint##bits##_t *b = KN_REGISTER(uint##bits##_t, op->b);                              \
        const uint##bits##_t *c = KN_REGISTER(uint##bits##_t, op->third);                          \
        const int##bits##_t yes = -1, no = 0;                                                      \
        _Alignas(64) int##bits##_t lanes[KN_LANES];                                                \
        (void)c;                                                                                   \
        KN_EACH_LANE                                                                               \
        {                                                                                          \
            const uint##bits##_t x = x_value, y = y_value, carry = in >> i & 1;                    \
            const uint##bits##_t part = x + y, sum = part + carry;                                 \
            lanes[i] = part < x || sum < part ? yes : no;                                          \
            d[i] = !on || on[i] ? sum : d[i];                                                      \
        }                                                                                          \
        return kn_bits_##bits(lanes);                                                              \
    }

// A form of such a sum, whose carries in are `in`, and which writes the carry if `writes`.
#define CARRY(form, name, in, writes)                                                              \
    KN_OPERATION(form##_all)                                                                       \
    {                                                                                              \
        const uint32_t carries = name##_sum(op, w, NULL, in);                                      \
        if (writes)                                                                                \
            KN_PREDICATE(op->more[0]) = carries;                                                   \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(form##_some)                                                                      \
    {                                                                                              \
        const uint32_t carries = name##_sum(op, w, kn_lanes_of(op, w), in);                        \
        if (writes)                                                                                \
            kn_predicate_set(op, w, op->more[0], carries);                                         \
        KN_NEXT;                                                                                   \
    }

// With two operands the carry is the third source; with three, it is among `more`.
#define SUMS(bits)                                                                                 \
    SUM(add_##bits, bits, a, a[i], b[i])                                                           \
    SUM(sub_##bits, bits, a, a[i], (uint##bits##_t) ~b[i])                                         \
    CARRY(add_cc_##bits, add_##bits, 0, true)                                                      \
    CARRY(addc_##bits, add_##bits, KN_PREDICATE(op->c), false)                                     \
    CARRY(addc_cc_##bits, add_##bits, KN_PREDICATE(op->c), true)                                   \
    CARRY(sub_cc_##bits, sub_##bits, UINT32_MAX, true)                                             \
    CARRY(subc_##bits, sub_##bits, KN_PREDICATE(op->c), false)                                     \
    CARRY(subc_cc_##bits, sub_##bits, KN_PREDICATE(op->c), true)
#define PRODUCTS(s, bits, product)                                                                 \
    SUM(mad_##s, bits, c, c[i], product)                                                           \
    CARRY(mad_cc_##s, mad_##s, 0, true)                                                            \
    CARRY(madc_##s, mad_##s, KN_PREDICATE(op->more[0]), false)                                     \
    CARRY(madc_cc_##s, mad_##s, KN_PREDICATE(op->more[1]), true)
SUMS(32)
SUMS(64)
PRODUCTS(lo_32, 32, a[i] * b[i])
PRODUCTS(lo_64, 64, a[i] * b[i])
PRODUCTS(hi_u32, 32, (uint32_t)((uint64_t)a[i] * b[i] >> 32))
PRODUCTS(hi_s32, 32, (uint32_t)((int64_t)(int32_t)a[i] * (int32_t)b[i] >> 32))
PRODUCTS(hi_u64, 64, (uint64_t)((kn_uint128)a[i] * b[i] >> 64))
PRODUCTS(hi_s64, 64, (uint64_t)((kn_int128)(int64_t)a[i] * (int64_t)b[i] >> 64))

#define SUM_ROWS(bits, l)                                                                          \
    KN_ROW(add_cc_##bits, "add.cc." #bits, l "p=" l l),                                            \
        KN_ROW(addc_##bits, "addc." #bits, l "=" l l "p"),                                         \
        KN_ROW(addc_cc_##bits, "addc.cc." #bits, l "p=" l l "p"),                                  \
        KN_ROW(sub_cc_##bits, "sub.cc." #bits, l "p=" l l),                                        \
        KN_ROW(subc_##bits, "subc." #bits, l "=" l l "p"),                                         \
        KN_ROW(subc_cc_##bits, "subc.cc." #bits, l "p=" l l "p")
#define PRODUCT_ROWS(s, half, type, l)                                                             \
    KN_ROW(mad_cc_##s, "mad." half ".cc." type, l "p=" l l l),                                     \
        KN_ROW(madc_##s, "madc." half "." type, l "=" l l l "p"),                                  \
        KN_ROW(madc_cc_##s, "madc." half ".cc." type, l "p=" l l l "p")

const struct kn_form KN_FAMILY(carry)[] = {
    SUM_ROWS(32, "w"),
    SUM_ROWS(64, "l"),
    PRODUCT_ROWS(lo_32, "lo", "32", "w"),
    PRODUCT_ROWS(lo_64, "lo", "64", "l"),
    PRODUCT_ROWS(hi_u32, "hi", "u32", "w"),
    PRODUCT_ROWS(hi_s32, "hi", "s32", "w"),
    PRODUCT_ROWS(hi_u64, "hi", "u64", "l"),
    PRODUCT_ROWS(hi_s64, "hi", "s64", "l"),
    {0},
};
