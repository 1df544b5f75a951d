// SPDX-License-Identifier: MIT
// Forms of mbarrier. Lanes take their turns in the order of their numbers.
#include <stddef.h>

#include "address.inc.h"
#include "families.h"
#include "kn_mbarrier.h"

enum { OBJECT_B = 8 };

static inline uint64_t object_of(uint64_t phase, uint64_t expect, uint64_t pend, int64_t bytes)
{
    return phase | ((uint64_t)bytes << (64 - KN_MBARRIER_BYTES_BITS) >> 1) |
           (expect & KN_MBARRIER_COUNT) << KN_MBARRIER_EXPECTED | (pend & KN_MBARRIER_COUNT);
}

// The object of a lane, or NULL after a fault.
static uint64_t *object_at(const struct kn_op *op, struct kn_warp *w, int lane)
{
    const uint64_t x = KN_REGISTER(uint64_t, op->a)[lane] + op->u;
    return kn_range(op, w, lane, x, OBJECT_B, OBJECT_B, true);
}

// "When the pending count and the tx-count are both zero, the phase completes." `bytes` is the
// tx-count.
static inline void change(struct kn_warp *w, uint64_t *at, uint64_t expect, uint64_t pend,
                          int64_t bytes)
{
    const uint64_t phase = *at & KN_MBARRIER_PHASE;
    const uint64_t mask = (UINT64_C(1) << KN_MBARRIER_BYTES_BITS) - 1;
    if (!(pend & KN_MBARRIER_COUNT) && !((uint64_t)bytes & mask)) {
        *at = object_of(phase ^ KN_MBARRIER_PHASE, expect, expect, 0);
        if (w->memory->phases)
            ++*w->memory->phases;
        return;
    }
    *at = object_of(phase, expect, pend, bytes);
}

KN_OPERATION(init)
{
    const uint32_t *b = KN_REGISTER(uint32_t, op->b);
    KN_EACH_OF(kn_mask_of(op, w), lane)
    {
        uint64_t *at = object_at(op, w, lane);
        if (!at)
            return NULL;
        *at = object_of(0, b[lane], b[lane], 0);
    }
    KN_RETURN_NEXT;
}

KN_OPERATION(invalidate)
{
    KN_EACH_OF(kn_mask_of(op, w), lane)
    {
        uint64_t *at = object_at(op, w, lane);
        if (!at)
            return NULL;
        *at = 0;
    }
    KN_RETURN_NEXT;
}

// Several lanes may have one object: the first of them.
static inline int first_with(const uint64_t *a, uint32_t lanes, int lane)
{
    KN_EACH_OF(lanes, i)
    {
        if (a[i] == a[lane])
            return i;
    }
    return lane;
}

// b: arrivals; c: bytes that the phase has to expect from now on. Lanes that arrive at one object
// together get one state, that before all of them (measured on an H200). "arrive_drop: decrements
// the expected count of later phases too."
static inline const struct kn_op *arrive(const struct kn_op *op, struct kn_warp *w, bool drop)
{
    uint64_t *d = KN_REGISTER(uint64_t, op->d);
    const uint32_t *b = KN_REGISTER(uint32_t, op->b), *c = KN_REGISTER(uint32_t, op->c);
    const uint32_t mask = kn_mask_of(op, w);
    const uint64_t *a = KN_REGISTER(uint64_t, op->a);
    uint64_t states[KN_LANES];
    KN_EACH_OF(mask, lane)
    {
        uint64_t *at = object_at(op, w, lane);
        if (!at)
            return NULL;
        const uint64_t old = *at, count = b[lane];
        const int first = first_with(a, mask, lane);
        change(w, at, kn_mbarrier_expected(old) - (drop ? count : 0),
               kn_mbarrier_pending(old) - count, kn_mbarrier_bytes(old) + c[lane]);
        states[lane] = first == lane ? old : states[first];
    }
    KN_EACH_OF(mask, lane) // last, because d may be the register of the addresses
    {
        d[lane] = states[lane];
    }
    KN_RETURN_NEXT;
}

KN_OPERATION(arrive_stay)
{
    return arrive(op, w, false);
}

KN_OPERATION(arrive_drop)
{
    return arrive(op, w, true);
}

static inline const struct kn_op *add_bytes(const struct kn_op *op, struct kn_warp *w, bool arrived)
{
    const uint32_t *b = KN_REGISTER(uint32_t, op->b);
    KN_EACH_OF(kn_mask_of(op, w), lane)
    {
        uint64_t *at = object_at(op, w, lane);
        if (!at)
            return NULL;
        const uint64_t old = *at;
        change(w, at, kn_mbarrier_expected(old), kn_mbarrier_pending(old),
               kn_mbarrier_bytes(old) + (arrived ? -(int64_t)b[lane] : b[lane]));
    }
    KN_RETURN_NEXT;
}

KN_OPERATION(expect_tx)
{
    return add_bytes(op, w, false);
}

KN_OPERATION(complete_tx)
{
    return add_bytes(op, w, true);
}

// Whether the phase is complete that the state indicates, "which is the current or the preceding
// one"; "test_wait.parity: the parity of the current or of the preceding phase."
static inline const struct kn_op *test(const struct kn_op *op, struct kn_warp *w, bool parity)
{
    const uint32_t mask = kn_mask_of(op, w);
    uint32_t complete = 0;
    KN_EACH_OF(mask, lane)
    {
        const uint64_t *at = object_at(op, w, lane);
        if (!at)
            return NULL;
        const uint64_t phase = parity ? (uint64_t)KN_REGISTER(uint32_t, op->b)[lane] << 63
                                      : KN_REGISTER(uint64_t, op->b)[lane] & KN_MBARRIER_PHASE;
        complete |= (*at & KN_MBARRIER_PHASE) != phase ? UINT32_C(1) << lane : 0;
    }
    kn_predicate_set(op, w, op->d, complete);
    KN_RETURN_NEXT;
}

KN_OPERATION(test_wait)
{
    return test(op, w, false);
}

KN_OPERATION(test_wait_parity)
{
    return test(op, w, true);
}

KN_FORM1(pending_count, uint32_t, uint64_t, kn_mbarrier_pending(a[i]))

const struct kn_form KN_FAMILY(mbarrier)[] = {
    KN_ROW_OF(init, "mbarrier.init", "=lwi"),
    KN_ROW_OF(invalidate, "mbarrier.inval", "=li"),
    KN_ROW_OF(arrive_stay, "mbarrier.arrive", "l=lwwi"),
    KN_ROW_OF(arrive_drop, "mbarrier.arrive_drop", "l=lwwi"),
    KN_ROW_OF(expect_tx, "mbarrier.expect_tx", "=lwi"),
    KN_ROW_OF(complete_tx, "mbarrier.complete_tx", "=lwi"),
    KN_ROW_OF(test_wait, "mbarrier.test_wait", "p=lli"),
    KN_ROW_OF(test_wait_parity, "mbarrier.test_wait.parity", "p=lwi"),
    KN_ROW(pending_count, "mbarrier.pending_count", "w=l"),
    {0},
};
