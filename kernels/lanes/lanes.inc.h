// SPDX-License-Identifier: MIT
// For the families of forms: the registers of an operation, its lanes, and the macros that write an
// operation twice, for all lanes and for some. Each family is compiled once for every instruction
// set, with KN_SET as its name.
#pragma once

#include "kn_lanes.h"

#define KN_JOIN_(a, b) a##_##b
#define KN_JOIN(a, b) KN_JOIN_(a, b)
// The table of a family: const struct kn_form KN_FAMILY(integer)[] = { …, {0} };
#define KN_FAMILY(family) KN_JOIN(kn_forms_##family, KN_SET)

// Operations call the next one at the end, which compilers turn into a jump. Without optimisation
// and with sanitizers (KN_NO_TAIL_CALLS) they return it, and the loop of kn_warp_run calls it.
#if defined(__OPTIMIZE__) && !defined(KN_NO_TAIL_CALLS)
#define KN_GO(op)                                                                                  \
    do {                                                                                           \
        const struct kn_op *kn_next = (op);                                                        \
        return kn_next->run[w->partial](kn_next, w);                                               \
    } while (0)
#else
#define KN_GO(op) return (op)
#endif
#define KN_NEXT KN_GO(op + 1)
// For operations that keep the address of a local variable, because their call of the next one
// would be no jump.
#define KN_RETURN_NEXT return op + 1

#define KN_OPERATION(name)                                                                         \
    static const struct kn_op *name(const struct kn_op *op, struct kn_warp *w)

// The register at an offset. Registers are the same or do not overlap, so that loops over them can
// be vectorised.
#define KN_REGISTER(T, at) ((T *)__builtin_assume_aligned(w->r + (at), 64))
#define KN_PREDICATE(at) (*(uint32_t *)(w->r + (at)))
#if defined(__clang__)
#define KN_EACH_LANE                                                                               \
    _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < KN_LANES; i++)
#else
#define KN_EACH_LANE _Pragma("GCC ivdep") for (int i = 0; i < KN_LANES; i++)
#endif

// The lanes that take part in an operation: as bits, and as 0 or -1 a lane.
static inline uint32_t kn_mask_of(const struct kn_op *op, const struct kn_warp *w)
{
    return w->active & (*(const uint32_t *)(w->r + op->guard) ^ op->guard_flip);
}

static inline const int32_t *kn_lanes_of(const struct kn_op *op, struct kn_warp *w)
{
    const uint32_t mask = kn_mask_of(op, w);
    if (mask == w->active)
        return w->active_lanes;
    KN_EACH_LANE
    w->guard_lanes[i] = -(int32_t)(mask >> i & 1);
    return w->guard_lanes;
}

// KN_FORM1(name, D, A, expression): d[i] = expression of a[i], lane by lane, as name_all and
// name_some. KN_FORM2 has b[i] too, and KN_FORM3 c[i]. D, A, B and C are the element types.
#define KN_FORM1(name, D, A, expression)                                                           \
    KN_OPERATION(name##_all)                                                                       \
    {                                                                                              \
        D *d = KN_REGISTER(D, op->d);                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        KN_EACH_LANE                                                                               \
        d[i] = (D)(expression);                                                                    \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(name##_some)                                                                      \
    {                                                                                              \
        D *d = KN_REGISTER(D, op->d);                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        const int32_t *on = kn_lanes_of(op, w);                                                    \
        KN_EACH_LANE                                                                               \
        d[i] = on[i] ? (D)(expression) : d[i];                                                     \
        KN_NEXT;                                                                                   \
    }
#define KN_FORM2(name, D, A, B, expression)                                                        \
    KN_OPERATION(name##_all)                                                                       \
    {                                                                                              \
        D *d = KN_REGISTER(D, op->d);                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        const B *b = KN_REGISTER(B, op->b);                                                        \
        KN_EACH_LANE                                                                               \
        d[i] = (D)(expression);                                                                    \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(name##_some)                                                                      \
    {                                                                                              \
        D *d = KN_REGISTER(D, op->d);                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        const B *b = KN_REGISTER(B, op->b);                                                        \
        const int32_t *on = kn_lanes_of(op, w);                                                    \
        KN_EACH_LANE                                                                               \
        d[i] = on[i] ? (D)(expression) : d[i];                                                     \
        KN_NEXT;                                                                                   \
    }
#define KN_FORM3(name, D, A, B, C, expression)                                                     \
    KN_OPERATION(name##_all)                                                                       \
    {                                                                                              \
        D *d = KN_REGISTER(D, op->d);                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        const B *b = KN_REGISTER(B, op->b);                                                        \
        const C *c = KN_REGISTER(C, op->c);                                                        \
        KN_EACH_LANE                                                                               \
        d[i] = (D)(expression);                                                                    \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(name##_some)                                                                      \
    {                                                                                              \
        D *d = KN_REGISTER(D, op->d);                                                              \
        const A *a = KN_REGISTER(A, op->a);                                                        \
        const B *b = KN_REGISTER(B, op->b);                                                        \
        const C *c = KN_REGISTER(C, op->c);                                                        \
        const int32_t *on = kn_lanes_of(op, w);                                                    \
        KN_EACH_LANE                                                                               \
        d[i] = on[i] ? (D)(expression) : d[i];                                                     \
        KN_NEXT;                                                                                   \
    }
// A row of the table for an operation of these macros.
#define KN_ROW(name, text, operands)                                                               \
    {                                                                                              \
        text, operands,                                                                            \
        {                                                                                          \
            name##_all, name##_some                                                                \
        }                                                                                          \
    }
