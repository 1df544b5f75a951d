// SPDX-License-Identifier: MIT
// Forms of sured: reductions of elements in surfaces. surface.inc.h has their operands.
#include "families.h"
#include "surface.inc.h"

// X(name, text, type, letter, the new value by `old` and `b`)
#define EACH_REDUCTION(X)                                                                          \
    X(add_32, "add.32", uint32_t, "w", old + b)                                                    \
    X(add_64, "add.64", uint64_t, "l", old + b)                                                    \
    X(and_32, "and.32", uint32_t, "w", old &b)                                                     \
    X(or_32, "or.32", uint32_t, "w", old | b)                                                      \
    X(min_u32, "min.u32", uint32_t, "w", b < old ? b : old)                                        \
    X(max_u32, "max.u32", uint32_t, "w", b > old ? b : old)                                        \
    X(min_s32, "min.s32", uint32_t, "w", (int32_t)b < (int32_t)old ? b : old)                      \
    X(max_s32, "max.s32", uint32_t, "w", (int32_t)b > (int32_t)old ? b : old)                      \
    X(min_u64, "min.u64", uint64_t, "l", b < old ? b : old)                                        \
    X(max_u64, "max.u64", uint64_t, "l", b > old ? b : old)                                        \
    X(min_s64, "min.s64", uint64_t, "l", (int64_t)b < (int64_t)old ? b : old)                      \
    X(max_s64, "max.s64", uint64_t, "l", (int64_t)b > (int64_t)old ? b : old)

#define REDUCTION(name, text, T, letter, next)                                                     \
    static void reduce_##name(struct kn_warp *w, uint32_t lanes, uint32_t source)                  \
    {                                                                                              \
        const T *values = KN_REGISTER(const T, source);                                            \
        KN_EACH_OF(lanes, i)                                                                       \
        {                                                                                          \
            T *at = (T *)(uintptr_t)w->addresses[i], b = values[i], to;                            \
            T old = __atomic_load_n(at, __ATOMIC_RELAXED);                                         \
            do                                                                                     \
                to = (T)(next);                                                                    \
            while (!__atomic_compare_exchange_n(at, &old, to, true, __ATOMIC_SEQ_CST,              \
                                                __ATOMIC_RELAXED));                                \
        }                                                                                          \
    }                                                                                              \
    KN_OPERATION(sured_##name)                                                                     \
    {                                                                                              \
        const struct operands o = operands_of(op, w, 0);                                           \
        struct turn turn;                                                                          \
        for (uint32_t rest = kn_mask_of(op, w); rest; rest &= ~turn.lanes) {                       \
            if (!take_turn(op, w, &o, rest, BYTES(sizeof(T), true), &turn))                        \
                return NULL;                                                                       \
            reduce_##name(w, turn.lanes & ~turn.outside, *o.values);                               \
        }                                                                                          \
        KN_RETURN_NEXT;                                                                            \
    }
EACH_REDUCTION(REDUCTION)

// "sured.p: .b32 is .u32 or .s32 based on the surface sample format". x counts values of this type,
// whatever the elements are (recorded: x_surf formatted/sured.p.…).
#define FORMATTED(operation, bits, as_unsigned, as_signed)                                         \
    KN_OPERATION(sured_p_##operation##_##bits)                                                     \
    {                                                                                              \
        const struct operands o = operands_of(op, w, 0);                                           \
        struct turn turn;                                                                          \
        for (uint32_t rest = kn_mask_of(op, w); rest; rest &= ~turn.lanes) {                       \
            const struct access access = {bits / 8, bits / 8, true};                               \
            if (!take_turn(op, w, &o, rest, access, &turn))                                        \
                return NULL;                                                                       \
            const uint32_t lanes = turn.lanes;                                                     \
            if (turn.image->kind == KN_CHANNEL_SINT)                                               \
                reduce_##as_signed(w, lanes & ~turn.outside, *o.values);                           \
            else                                                                                   \
                reduce_##as_unsigned(w, lanes & ~turn.outside, *o.values);                         \
        }                                                                                          \
        KN_RETURN_NEXT;                                                                            \
    }
FORMATTED(add, 32, add_32, add_32)
FORMATTED(and, 32, and_32, and_32)
FORMATTED(or, 32, or_32, or_32)
FORMATTED(min, 32, min_u32, min_s32)
FORMATTED(max, 32, max_u32, max_s32)
FORMATTED(add, 64, add_64, add_64)
FORMATTED(min, 64, min_u64, min_s64)
FORMATTED(max, 64, max_u64, max_s64)

#define REDUCTION_ROW(name, text, T, letter, next)                                                 \
    KN_ROW_OF(sured_##name, "sured.b." text, "=lwwww" letter "i"),

const struct kn_form KN_FAMILY(surface_reduce)[] = {
    EACH_REDUCTION(REDUCTION_ROW) KN_ROW_OF(sured_p_add_32, "sured.p.add.b32", "=lwwwwwi"),
    KN_ROW_OF(sured_p_and_32, "sured.p.and.b32", "=lwwwwwi"),
    KN_ROW_OF(sured_p_or_32, "sured.p.or.b32", "=lwwwwwi"),
    KN_ROW_OF(sured_p_min_32, "sured.p.min.b32", "=lwwwwwi"),
    KN_ROW_OF(sured_p_max_32, "sured.p.max.b32", "=lwwwwwi"),
    KN_ROW_OF(sured_p_add_64, "sured.p.add.b64", "=lwwwwli"),
    KN_ROW_OF(sured_p_min_64, "sured.p.min.b64", "=lwwwwli"),
    KN_ROW_OF(sured_p_max_64, "sured.p.max.b64", "=lwwwwli"),
    {0},
};
