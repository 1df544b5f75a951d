// SPDX-License-Identifier: MIT
// Forms that compare integers, and forms that select by a predicate or by a sign.
#include "lanes.inc.h"

#include "families.h"

#include <stddef.h>

// The other comparisons are these with their operands exchanged.
#define COMPARE(bits)                                                                              \
    KN_COMPARE(setp_eq_##bits, bits, uint##bits##_t, a[i] == b[i])                                 \
    KN_COMPARE(setp_ne_##bits, bits, uint##bits##_t, a[i] != b[i])                                 \
    KN_COMPARE(setp_lt_u##bits, bits, uint##bits##_t, a[i] < b[i])                                 \
    KN_COMPARE(setp_le_u##bits, bits, uint##bits##_t, a[i] <= b[i])                                \
    KN_COMPARE(setp_lt_s##bits, bits, int##bits##_t, a[i] < b[i])                                  \
    KN_COMPARE(setp_le_s##bits, bits, int##bits##_t, a[i] <= b[i])
COMPARE(16)
COMPARE(32)
COMPARE(64)

// selp: d = predicate c ? a : b.
#define SELECT(bits, chosen_bits)                                                                  \
    KN_INLINE void selp_##bits##_lanes(const struct kn_op *op, struct kn_warp *w,                  \
                                       const int32_t *on)                                          \
    {                                                                                              \
        uint##bits##_t *d = KN_REGISTER(uint##bits##_t, op->d);                                    \
        const uint##bits##_t *a = KN_REGISTER(uint##bits##_t, op->a);                              \
        const uint##bits##_t *b = KN_REGISTER(uint##bits##_t, op->b);                              \
        const chosen_bits chosen = KN_PREDICATE(op->c);                                            \
        KN_EACH_LANE                                                                               \
        {                                                                                          \
            const uint##bits##_t yes = a[i], no = b[i];                                            \
            const uint##bits##_t value = chosen & (chosen_bits)1 << i ? yes : no;                  \
            d[i] = !on || on[i] ? value : d[i];                                                    \
        }                                                                                          \
    }                                                                                              \
    KN_OPERATION(selp_##bits##_all)                                                                \
    {                                                                                              \
        selp_##bits##_lanes(op, w, NULL);                                                          \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(selp_##bits##_some)                                                               \
    {                                                                                              \
        selp_##bits##_lanes(op, w, kn_lanes_of(op, w));                                            \
        KN_NEXT;                                                                                   \
    }
SELECT(16, uint32_t)
SELECT(32, uint32_t)
SELECT(64, uint64_t)

// "slct: If c ≥ 0, a is selected, otherwise b." (With a c of f32, it is a comparison and selp.)
#define CHOOSE(bits)                                                                               \
    KN_FORM3(slct_##bits##_s32, uint##bits##_t, uint##bits##_t, uint##bits##_t, int32_t,           \
             c[i] >= 0 ? a[i] : b[i])
CHOOSE(16)
CHOOSE(32)
CHOOSE(64)

#define ROWS(bits, l)                                                                              \
    KN_ROW(setp_eq_##bits, "setp.eq." #bits, "p=" l l),                                            \
        KN_ROW(setp_ne_##bits, "setp.ne." #bits, "p=" l l),                                        \
        KN_ROW(setp_lt_u##bits, "setp.lt.u" #bits, "p=" l l),                                      \
        KN_ROW(setp_le_u##bits, "setp.le.u" #bits, "p=" l l),                                      \
        KN_ROW(setp_lt_s##bits, "setp.lt.s" #bits, "p=" l l),                                      \
        KN_ROW(setp_le_s##bits, "setp.le.s" #bits, "p=" l l),                                      \
        KN_ROW(selp_##bits, "selp." #bits, l "=" l l "p"),                                         \
        KN_ROW(slct_##bits##_s32, "slct." #bits ".s32", l "=" l l "w")

const struct kn_form KN_FAMILY(compare)[] = {
    ROWS(16, "h"),
    ROWS(32, "w"),
    ROWS(64, "l"),
    {0},
};
