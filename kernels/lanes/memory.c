// SPDX-License-Identifier: MIT
// Forms of ld and st. A name has the space, the type in memory and the register's width:
// "ld.global.s8:32". With ".v", kn_op.count consecutive values a lane: the registers follow in
// kn_op.more.
//
// Each space has a function that checks addresses (address.inc.h), and each type one that moves
// the values. A form is a pair of them.
#include "address.inc.h"

#include <string.h>

#include "families.h"

typedef unsigned __int128 kn_u128;

// ---- values ----

// Of one that is not consecutive.
static inline void *at_lane(const struct kn_warp *w, struct kn_place place, int i)
{
    return place.kind == KN_PLACE_UNIFORM ? place.first : (char *)(uintptr_t)w->addresses[i];
}

typedef const struct kn_op *move_fn(const struct kn_op *op, struct kn_warp *w,
                                    struct kn_place place, uint32_t mask);

// One value a lane: of type M in memory, and R in the register.
#define LOADS(name, M, R)                                                                          \
    KN_OUT_OF_LINE const struct kn_op *load_##name(const struct kn_op *op, struct kn_warp *w,      \
                                                   struct kn_place place, uint32_t mask)           \
    {                                                                                              \
        R *d = KN_REGISTER(R, op->d);                                                              \
        M value;                                                                                   \
        if (place.kind == KN_PLACE_CONSECUTIVE) {                                                  \
            const M *from = (const M *)(const void *)place.first;                                  \
            KN_EACH_LANE                                                                           \
            d[i] = (R)from[i];                                                                     \
        } else if (place.kind == KN_PLACE_UNIFORM) {                                               \
            const int32_t *on = mask == UINT32_MAX ? w->active_lanes : kn_lanes_of(op, w);         \
            value = *(const M *)(const void *)place.first;                                         \
            KN_EACH_LANE                                                                           \
            d[i] = on[i] ? (R)value : d[i];                                                        \
        } else if (mask == UINT32_MAX) {                                                           \
            for (int i = 0; i < KN_LANES; i++)                                                     \
                d[i] = (R) * (const M *)(uintptr_t)w->addresses[i];                                \
        } else {                                                                                   \
            KN_EACH_OF(mask, i)                                                                    \
            d[i] = (R) * (const M *)(uintptr_t)w->addresses[i];                                    \
        }                                                                                          \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OUT_OF_LINE const struct kn_op *load_vector_##name(                                         \
        const struct kn_op *op, struct kn_warp *w, struct kn_place place, uint32_t mask)           \
    {                                                                                              \
        const unsigned count = op->count;                                                          \
        for (unsigned n = 0; n < count; n++) {                                                     \
            R *d = KN_REGISTER(R, n ? op->more[n - 1] : op->d);                                    \
            const M *from = (const M *)(const void *)place.first + n;                              \
            if (place.kind == KN_PLACE_CONSECUTIVE) {                                              \
                KN_EACH_LANE                                                                       \
                d[i] = (R)from[(unsigned)i * count];                                               \
            } else if (place.kind == KN_PLACE_UNIFORM) {                                           \
                const int32_t *on = mask == UINT32_MAX ? w->active_lanes : kn_lanes_of(op, w);     \
                const R value = (R)*from;                                                          \
                KN_EACH_LANE                                                                       \
                d[i] = on[i] ? value : d[i];                                                       \
            } else {                                                                               \
                KN_EACH_OF(mask, i)                                                                \
                d[i] = (R)((const M *)at_lane(w, place, i))[n];                                    \
            }                                                                                      \
        }                                                                                          \
        KN_NEXT;                                                                                   \
    }
LOADS(u8_16, uint8_t, uint16_t)
LOADS(u8_32, uint8_t, uint32_t)
LOADS(u8_64, uint8_t, uint64_t)
LOADS(s8_16, int8_t, uint16_t)
LOADS(s8_32, int8_t, uint32_t)
LOADS(s8_64, int8_t, uint64_t)
LOADS(16_16, uint16_t, uint16_t)
LOADS(u16_32, uint16_t, uint32_t)
LOADS(u16_64, uint16_t, uint64_t)
LOADS(s16_32, int16_t, uint32_t)
LOADS(s16_64, int16_t, uint64_t)
LOADS(32_32, uint32_t, uint32_t)
LOADS(u32_64, uint32_t, uint64_t)
LOADS(s32_64, int32_t, uint64_t)
LOADS(64_64, uint64_t, uint64_t)
LOADS(128_128, kn_u128, kn_u128)

// The lanes write in their order, so that the highest one wins if several write one address.
#define STORES(name, M, R)                                                                         \
    KN_OUT_OF_LINE const struct kn_op *store_##name(const struct kn_op *op, struct kn_warp *w,     \
                                                    struct kn_place place, uint32_t mask)          \
    {                                                                                              \
        const R *from = KN_REGISTER(R, op->b);                                                     \
        if (place.kind == KN_PLACE_CONSECUTIVE) {                                                  \
            M *to = (M *)(void *)place.first;                                                      \
            KN_EACH_LANE                                                                           \
            to[i] = (M)from[i];                                                                    \
        } else if (place.kind == KN_PLACE_UNIFORM) {                                               \
            *(M *)(void *)place.first = (M)from[31 - __builtin_clz(mask)];                         \
        } else {                                                                                   \
            KN_EACH_OF(mask, i)                                                                    \
            *(M *)(uintptr_t)w->addresses[i] = (M)from[i];                                         \
        }                                                                                          \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OUT_OF_LINE const struct kn_op *store_vector_##name(                                        \
        const struct kn_op *op, struct kn_warp *w, struct kn_place place, uint32_t mask)           \
    {                                                                                              \
        const unsigned count = op->count;                                                          \
        const R *from[KN_VECTOR_MOST];                                                             \
        for (unsigned n = 0; n < count; n++)                                                       \
            from[n] = KN_REGISTER(R, n == 0 ? op->b : n == 1 ? op->c : op->more[n - 2]);           \
        KN_EACH_OF(mask, i)                                                                        \
        {                                                                                          \
            M *to = place.kind == KN_PLACE_CONSECUTIVE                                             \
                        ? (M *)(void *)place.first + (unsigned)i * count                           \
                        : (M *)at_lane(w, place, i);                                               \
            for (unsigned n = 0; n < count; n++)                                                   \
                to[n] = (M)from[n][i];                                                             \
        }                                                                                          \
        KN_RETURN_NEXT;                                                                            \
    }
STORES(8_16, uint8_t, uint16_t)
STORES(8_32, uint8_t, uint32_t)
STORES(8_64, uint8_t, uint64_t)
STORES(16_16, uint16_t, uint16_t)
STORES(16_32, uint16_t, uint32_t)
STORES(16_64, uint16_t, uint64_t)
STORES(32_32, uint32_t, uint32_t)
STORES(32_64, uint32_t, uint64_t)
STORES(64_64, uint64_t, uint64_t)
STORES(128_128, kn_u128, kn_u128)

// ---- forms ----

// A form: the addresses of `space`, then the values.
#define ACCESS(operation, space, name, M, write, count)                                            \
    KN_OPERATION(operation##_##space##_##name)                                                     \
    {                                                                                              \
        const uint32_t mask = kn_mask_of(op, w);                                                   \
        if (__builtin_expect(!mask, 0))                                                            \
            KN_NEXT;                                                                               \
        const unsigned size_B = (unsigned)(sizeof(M) * (count));                                   \
        const struct kn_place place = kn_##space(op, w, mask, size_B, size_B, write);              \
        if (__builtin_expect(place.kind == KN_PLACE_FAULT, 0))                                     \
            return NULL;                                                                           \
        return operation##_##name(op, w, place, mask);                                             \
    }

#define LOAD_LIST(X, space)                                                                        \
    X(space, u8_16, uint8_t, "u8:16", "h")                                                         \
    X(space, u8_32, uint8_t, "u8:32", "w")                                                         \
    X(space, u8_64, uint8_t, "u8:64", "l")                                                         \
    X(space, s8_16, int8_t, "s8:16", "h")                                                          \
    X(space, s8_32, int8_t, "s8:32", "w")                                                          \
    X(space, s8_64, int8_t, "s8:64", "l")                                                          \
    X(space, 16_16, uint16_t, "16:16", "h")                                                        \
    X(space, u16_32, uint16_t, "u16:32", "w")                                                      \
    X(space, u16_64, uint16_t, "u16:64", "l")                                                      \
    X(space, s16_32, int16_t, "s16:32", "w")                                                       \
    X(space, s16_64, int16_t, "s16:64", "l")                                                       \
    X(space, 32_32, uint32_t, "32:32", "w")                                                        \
    X(space, u32_64, uint32_t, "u32:64", "l")                                                      \
    X(space, s32_64, int32_t, "s32:64", "l")                                                       \
    X(space, 64_64, uint64_t, "64:64", "l")                                                        \
    X(space, 128_128, kn_u128, "128:128", "x")
#define STORE_LIST(X, space)                                                                       \
    X(space, 8_16, uint8_t, "8:16", "h")                                                           \
    X(space, 8_32, uint8_t, "8:32", "w")                                                           \
    X(space, 8_64, uint8_t, "8:64", "l")                                                           \
    X(space, 16_16, uint16_t, "16:16", "h")                                                        \
    X(space, 16_32, uint16_t, "16:32", "w")                                                        \
    X(space, 16_64, uint16_t, "16:64", "l")                                                        \
    X(space, 32_32, uint32_t, "32:32", "w")                                                        \
    X(space, 32_64, uint32_t, "32:64", "l")                                                        \
    X(space, 64_64, uint64_t, "64:64", "l")                                                        \
    X(space, 128_128, kn_u128, "128:128", "x")

#define LOAD(space, name, M, text, letter)                                                         \
    ACCESS(load, space, name, M, false, 1)                                                         \
    ACCESS(load_vector, space, name, M, false, op->count)
#define STORE(space, name, M, text, letter)                                                        \
    ACCESS(store, space, name, M, true, 1)                                                         \
    ACCESS(store_vector, space, name, M, true, op->count)

LOAD_LIST(LOAD, generic)
LOAD_LIST(LOAD, shared)
LOAD_LIST(LOAD, local)
LOAD_LIST(LOAD, param)
STORE_LIST(STORE, generic)
STORE_LIST(STORE, shared)
STORE_LIST(STORE, local)

#define SPACE_generic "generic."
#define SPACE_shared "shared."
#define SPACE_local "local."
#define SPACE_param "param."
#define WIDTH_generic "l"
#define WIDTH_shared "w"
#define WIDTH_local "w"
#define WIDTH_param "w"
#define ROW(operation, text, operands)                                                             \
    {                                                                                              \
        text, operands,                                                                            \
        {                                                                                          \
            operation, operation                                                                   \
        }                                                                                          \
    }
#define LOAD_ROW(space, name, M, text, letter)                                                     \
    ROW(load_##space##_##name, "ld." SPACE_##space text, letter "=" WIDTH_##space "i"),            \
        ROW(load_vector_##space##_##name, "ld." SPACE_##space text ".v",                           \
            letter "*=" WIDTH_##space "i"),
#define STORE_ROW(space, name, M, text, letter)                                                    \
    ROW(store_##space##_##name, "st." SPACE_##space text, "=" WIDTH_##space letter "i"),           \
        ROW(store_vector_##space##_##name, "st." SPACE_##space text ".v",                          \
            "=" WIDTH_##space letter "*i"),

KN_OPERATION(fence)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    KN_NEXT;
}

// Orders the accesses of the host's processor as acquire and release require.
KN_OPERATION(fence_light)
{
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
    KN_NEXT;
}

// ---- generic addresses ----

// Predicates are bits, so they are collected from a vector.
static void set_predicate_where(const struct kn_op *op, struct kn_warp *w, const int32_t *is)
{
    const uint32_t mask = kn_mask_of(op, w);
    uint32_t bits = 0;
    for (int i = 0; i < KN_LANES; i++)
        bits |= is[i] ? UINT32_C(1) << i : 0;
    KN_PREDICATE(op->d) = (KN_PREDICATE(op->d) & ~mask) | (bits & mask);
}

#define ISSPACEP(name, expression)                                                                 \
    KN_OPERATION(isspacep_##name)                                                                  \
    {                                                                                              \
        const struct kn_memory *m = w->memory;                                                     \
        const uint64_t *a = KN_REGISTER(uint64_t, op->a);                                          \
        int32_t *is = (int32_t *)(void *)w->addresses;                                             \
        (void)m;                                                                                   \
        (void)a;                                                                                   \
        KN_EACH_LANE                                                                               \
        is[i] = (expression);                                                                      \
        set_predicate_where(op, w, is);                                                            \
        KN_NEXT;                                                                                   \
    }
#define IN_SHARED (a[i] >> 32 == m->shared_window >> 32)
#define IN_LOCAL (a[i] >> 32 == m->local_window >> 32)
#define IN_PARAM (a[i] - (uintptr_t)m->parameters < m->parameters_B)
ISSPACEP(shared, IN_SHARED)
ISSPACEP(local, IN_LOCAL)
ISSPACEP(param, IN_PARAM)
ISSPACEP(global, !IN_SHARED && !IN_LOCAL) // parameters too (recorded: spaces/isspacep)

const struct kn_form KN_FAMILY(memory)[] = {
    LOAD_LIST(LOAD_ROW, generic) LOAD_LIST(LOAD_ROW, shared) LOAD_LIST(LOAD_ROW, local)
        LOAD_LIST(LOAD_ROW, param) STORE_LIST(STORE_ROW, generic) STORE_LIST(STORE_ROW, shared)
            STORE_LIST(STORE_ROW, local) ROW(fence, "fence", "="),
    ROW(fence_light, "fence.light", "="),
    ROW(isspacep_shared, "isspacep.shared", "p=l"),
    ROW(isspacep_local, "isspacep.local", "p=l"),
    ROW(isspacep_param, "isspacep.param", "p=l"),
    ROW(isspacep_global, "isspacep.global", "p=l"),
    {0},
};
