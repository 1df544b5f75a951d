// SPDX-License-Identifier: MIT
// Forms of ld and st. A name has the space, the type in memory and the register's width:
// "ld.global.s8:32". With ".v", kn_op.count consecutive values a lane: the registers follow in
// kn_op.more.
//
// Each space has a function that checks addresses (address.inc.h), and each type one that moves
// the values. A form is a pair of them.
#include "chain.inc.h"
#include "pieces.inc.h"

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

// Values for all lanes that are not scattered.
#define LOAD_PATTERN(name, M, R)                                                                   \
    KN_INLINE void load_pattern_##name(const struct kn_op *op, struct kn_warp *w,                  \
                                       struct kn_place place)                                      \
    {                                                                                              \
        R *d = KN_REGISTER(R, op->d);                                                              \
        const M *from = (const M *)(const void *)place.first;                                      \
        if (place.kind == KN_PLACE_CONSECUTIVE) {                                                  \
            KN_EACH_LANE                                                                           \
            d[i] = (R)from[i];                                                                     \
        } else {                                                                                   \
            const R value = (R)*from;                                                              \
            KN_EACH_LANE                                                                           \
            d[i] = value;                                                                          \
        }                                                                                          \
    }

// Scattered values for all lanes. (The condition is a constant.)
#define LOAD_ALL(M, R)                                                                             \
    if (sizeof(M) != sizeof(uint32_t) || sizeof(R) != sizeof(uint32_t) ||                          \
        !kn_load_quickly(w, (uint32_t *)(void *)d, place))                                         \
        for (int i = 0; i < KN_LANES; i++)                                                         \
            d[i] = (R) * (const M *)(uintptr_t)w->addresses[i];

// One value a lane: of type M in memory, and R in the register.
#define LOADS(name, M, R)                                                                          \
    LOAD_PATTERN(name, M, R)                                                                       \
    KN_OUT_OF_LINE const struct kn_op *load_##name(const struct kn_op *op, struct kn_warp *w,      \
                                                   struct kn_place place, uint32_t mask)           \
    {                                                                                              \
        R *d = KN_REGISTER(R, op->d);                                                              \
        if (place.kind == KN_PLACE_UNIFORM) {                                                      \
            const int32_t *on = kn_lanes_of(op, w);                                                \
            const R value = (R) * (const M *)(const void *)place.first;                            \
            KN_EACH_LANE                                                                           \
            d[i] = on[i] ? value : d[i];                                                           \
        } else if (mask == UINT32_MAX) {                                                           \
            LOAD_ALL(M, R)                                                                         \
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
            const M *first = (const M *)(const void *)place.first;                                 \
            if (place.kind == KN_PLACE_CONSECUTIVE) {                                              \
                const M *from = first + n;                                                         \
                KN_EACH_LANE                                                                       \
                d[i] = (R)from[(unsigned)i * count];                                               \
            } else if (place.kind == KN_PLACE_UNIFORM && mask == UINT32_MAX) {                     \
                const R value = (R)first[n];                                                       \
                KN_EACH_LANE                                                                       \
                d[i] = value;                                                                      \
            } else if (place.kind == KN_PLACE_UNIFORM) {                                           \
                const int32_t *on = kn_lanes_of(op, w);                                            \
                const R value = (R)first[n];                                                       \
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
#define STORE_PATTERN(name, M, R)                                                                  \
    KN_INLINE void store_pattern_##name(const struct kn_op *op, struct kn_warp *w,                 \
                                        struct kn_place place)                                     \
    {                                                                                              \
        const R *from = KN_REGISTER(R, op->b);                                                     \
        M *to = (M *)(void *)place.first;                                                          \
        if (place.kind == KN_PLACE_CONSECUTIVE) {                                                  \
            KN_EACH_LANE                                                                           \
            to[i] = (M)from[i];                                                                    \
        } else {                                                                                   \
            *to = (M)from[KN_LANES - 1];                                                           \
        }                                                                                          \
    }
#define STORES(name, M, R)                                                                         \
    STORE_PATTERN(name, M, R)                                                                      \
    KN_OUT_OF_LINE const struct kn_op *store_##name(const struct kn_op *op, struct kn_warp *w,     \
                                                    struct kn_place place, uint32_t mask)          \
    {                                                                                              \
        const R *from = KN_REGISTER(R, op->b);                                                     \
        if (place.kind == KN_PLACE_UNIFORM) {                                                      \
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

// The next warps most often access the bytes that follow.
enum { PREFETCH_B = 512 };
#define PREFETCH_generic(first)                                                                    \
    do {                                                                                           \
        __builtin_prefetch((first) + PREFETCH_B);                                                  \
        __builtin_prefetch((first) + PREFETCH_B + 64);                                             \
    } while (0)
#define PREFETCH_shared(first) (void)0

// A form: the addresses of `space`, then the values.
#define ACCESS_SOME(operation, space, name, M, write, count)                                       \
    KN_OUT_OF_LINE const struct kn_op *operation##_##space##_##name##_some(const struct kn_op *op, \
                                                                           struct kn_warp *w)      \
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
// Whether vectors are loaded into registers of 32 bits.
#define IS_WHOLE(M, letter)                                                                        \
    (KN_LOADS_QUICKLY && sizeof(M) == sizeof(uint32_t) && (letter)[0] == 'w')
// For all lanes, the patterns are tried first.
#define ACCESS(operation, space, name, M, write, whole)                                            \
    ACCESS_SOME(operation, space, name, M, write, 1)                                               \
    KN_OUT_OF_LINE const struct kn_op *operation##_##space##_##name##_pieces(                      \
        const struct kn_op *op, struct kn_warp *w)                                                 \
    {                                                                                              \
        const struct kn_place place = kn_##space##_pieces(op, w, sizeof(M), whole);                \
        if (place.kind == KN_PLACE_FAULT)                                                          \
            return operation##_##space##_##name##_some(op, w);                                     \
        if (whole) {                                                                               \
            (void)kn_load_quickly(w, KN_REGISTER(uint32_t, op->d), place);                         \
            KN_NEXT;                                                                               \
        }                                                                                          \
        return operation##_##name(op, w, place, UINT32_MAX);                                       \
    }                                                                                              \
    KN_OPERATION(operation##_##space##_##name##_all)                                               \
    {                                                                                              \
        const struct kn_place place = kn_##space##_quickly(op, w, sizeof(M));                      \
        if (place.kind == KN_PLACE_FAULT)                                                          \
            return operation##_##space##_##name##_pieces(op, w);                                   \
        PREFETCH_##space(place.first);                                                             \
        operation##_pattern_##name(op, w, place);                                                  \
        KN_NEXT;                                                                                   \
    }
#define ACCESS_VECTOR(operation, space, name, M, write, whole)                                     \
    ACCESS_SOME(operation, space, name, M, write, op->count)                                       \
    KN_OPERATION(operation##_##space##_##name##_all)                                               \
    {                                                                                              \
        struct kn_place place = {0};                                                               \
        if (op->count == 4)                                                                        \
            place = kn_##space##_quickly(op, w, 4 * sizeof(M));                                    \
        else if (op->count == 2)                                                                   \
            place = kn_##space##_quickly(op, w, 2 * sizeof(M));                                    \
        if (place.kind == KN_PLACE_FAULT)                                                          \
            return operation##_##space##_##name##_some(op, w);                                     \
        if (whole && op->count == 4 && place.kind == KN_PLACE_UNIFORM) {                           \
            kn_load_uniform(op, w, place.first);                                                   \
            KN_NEXT;                                                                               \
        }                                                                                          \
        return operation##_##name(op, w, place, UINT32_MAX);                                       \
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

#define LOAD_SOME(space, name, M, text, letter)                                                    \
    ACCESS_SOME(load, space, name, M, false, 1)                                                    \
    ACCESS_SOME(load_vector, space, name, M, false, op->count)
#define STORE_SOME(space, name, M, text, letter)                                                   \
    ACCESS_SOME(store, space, name, M, true, 1)                                                    \
    ACCESS_SOME(store_vector, space, name, M, true, op->count)
#define LOAD(space, name, M, text, letter)                                                         \
    ACCESS(load, space, name, M, false, IS_WHOLE(M, letter))                                       \
    ACCESS_VECTOR(load_vector, space, name, M, false, IS_WHOLE(M, letter))
#define STORE(space, name, M, text, letter)                                                        \
    ACCESS(store, space, name, M, true, false)                                                     \
    ACCESS_VECTOR(store_vector, space, name, M, true, false)

LOAD_LIST(LOAD, generic)
LOAD_LIST(LOAD, shared)
LOAD_LIST(LOAD_SOME, local)
LOAD_LIST(LOAD_SOME, param)
STORE_LIST(STORE, generic)
STORE_LIST(STORE, shared)
STORE_LIST(STORE_SOME, local)

// ---- affine addresses ----

// The place of 32 consecutive elements of 4 bytes: register b, which is uniform, plus 4 times
// register a, plus kn_op.i; or NULL. Indices may not wrap from `edge` - 1 to `edge`. If `row` is
// true, they are known to be consecutive in threads that are neighbours in x.
KN_INLINE char *affine_place(const struct kn_op *op, struct kn_warp *w, uint32_t edge, bool row)
{
    const uint32_t *index = KN_REGISTER(uint32_t, op->a);
    const struct kn_memory *m = w->memory;
    const int64_t first = edge ? (int32_t)*index : (int64_t)*index;
    const uint64_t at = *KN_REGISTER(uint64_t, op->b) + (uint64_t)first * sizeof(uint32_t) + op->u;
    w->at = op + op->count;
    const bool consecutive = row ? w->row == KN_LANES : kn_is_consecutive_32(index, 1);
    if (!consecutive || *index - edge > UINT32_MAX - (KN_LANES - 1) ||
        !kn_are_inside_64(&at, 0, m->device_first, m->device_end - m->device_first, 1,
                          KN_LANES * sizeof(uint32_t), sizeof(uint32_t)))
        return NULL;
    return (char *)(uintptr_t)at;
}

// An access to such a place goes on after the kn_op.count operations that follow, which compute the
// address and access memory for any indices. Otherwise it does nothing.
#define AFFINE(name, edge, row)                                                                    \
    KN_OPERATION(load_affine_##name##_all)                                                         \
    {                                                                                              \
        const uint32_t *from = (const uint32_t *)(const void *)affine_place(op, w, edge, row);     \
        if (!from)                                                                                 \
            KN_NEXT;                                                                               \
        uint32_t *d = KN_REGISTER(uint32_t, op->d);                                                \
        PREFETCH_generic((const char *)from);                                                      \
        KN_EACH_LANE                                                                               \
        d[i] = from[i];                                                                            \
        KN_GO(op + op->count + 1);                                                                 \
    }                                                                                              \
    KN_OPERATION(store_affine_##name##_all)                                                        \
    {                                                                                              \
        uint32_t *to = (uint32_t *)(void *)affine_place(op, w, edge, row);                         \
        if (!to)                                                                                   \
            KN_NEXT;                                                                               \
        const uint32_t *from = KN_REGISTER(uint32_t, op->c);                                       \
        PREFETCH_generic((const char *)to);                                                        \
        KN_EACH_LANE                                                                               \
        to[i] = from[i];                                                                           \
        KN_GO(op + op->count + 1);                                                                 \
    }
AFFINE(u32, 0, false)
AFFINE(s32, 0x80000000, false)
AFFINE(u32_row, 0, true)
AFFINE(s32_row, 0x80000000, true)
KN_OPERATION(affine_some)
{
    KN_NEXT;
}

// ---- the same for warps abreast, whose indices are known to be consecutive ----

// Whether the indices of all warps are consecutive, and all elements from `first` on, which is the
// place of those of the first warp, are in the device's range.
static inline bool are_consecutive(const struct kn_op *op, const struct kn_warp *w, uint32_t warps,
                                   uint32_t file_B, uint32_t edge, const char *first)
{
    const struct kn_memory *m = w->memory;
    const char *index = w->r + op->a;
    const uint32_t from = *(const uint32_t *)(const void *)index, count = warps * KN_LANES;
    uint32_t differences = 0;
    for (uint32_t k = 0; k < warps; k++, index += file_B)
        differences |= *(const uint32_t *)(const void *)index ^ (from + k * KN_LANES);
    return !differences && from - edge <= UINT32_MAX - (count - 1) &&
           m->device_end - (uintptr_t)first >= (uint64_t)count * sizeof(uint32_t);
}

// The place of the first warp, if those of the others follow; or NULL.
static inline char *affine_places(const struct kn_op *op, struct kn_warp *w, uint32_t warps,
                                  uint32_t file_B, uint32_t edge)
{
    char *first = affine_place(op, w, edge, true);
    return first && are_consecutive(op, w, warps, file_B, edge, first) ? first : NULL;
}

// The compiler may not move it: a fault belongs to the warp that kn_warp.r says.
KN_INLINE void copy_elements(uint32_t *to, const uint32_t *from)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    KN_EACH_LANE
    to[i] = from[i];
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

enum { PLACE_B = KN_LANES * sizeof(uint32_t) };

// The next warps abreast most often access the bytes that follow.
KN_INLINE void prefetch_next(const char *place, uint32_t warps)
{
    __builtin_prefetch(place + warps * PLACE_B);
    __builtin_prefetch(place + warps * PLACE_B + 64);
}

// For warps whose places do not follow each other: `all` places are found before the first access.
#define EACH_PLACE(name, edge, access)                                                             \
    KN_OUT_OF_LINE bool name(const struct kn_op *op, struct kn_warp *w, uint32_t warps,            \
                             uint32_t file_B)                                                      \
    {                                                                                              \
        char *const r = w->r;                                                                      \
        bool all = true;                                                                           \
        for (uint32_t k = warps; k-- && all; w->r += file_B)                                       \
            all = affine_place(op, w, edge, true);                                                 \
        w->r = r;                                                                                  \
        for (uint32_t k = all ? warps : 0; k--; w->r += file_B) {                                  \
            uint32_t *place = (uint32_t *)(void *)affine_place(op, w, edge, true);                 \
            access;                                                                                \
        }                                                                                          \
        w->r = r;                                                                                  \
        return all;                                                                                \
    }
#define AFFINE_ABREAST(name, edge)                                                                 \
    EACH_PLACE(load_each_##name, edge, copy_elements(KN_REGISTER(uint32_t, op->d), place))         \
    EACH_PLACE(store_each_##name, edge, copy_elements(place, KN_REGISTER(uint32_t, op->c)))        \
    static bool load_affine_##name##_abreast(const struct kn_op *op, struct kn_warp *w,            \
                                             uint32_t warps, uint32_t file_B)                      \
    {                                                                                              \
        const char *from = affine_places(op, w, warps, file_B, edge);                              \
        char *const r = w->r;                                                                      \
        const uint32_t at = op->d;                                                                 \
        if (!from)                                                                                 \
            return load_each_##name(op, w, warps, file_B);                                         \
        for (uint32_t k = warps; k--; w->r += file_B, from += PLACE_B) {                           \
            prefetch_next(from, warps);                                                            \
            copy_elements(KN_REGISTER(uint32_t, at), (const void *)from);                          \
        }                                                                                          \
        w->r = r;                                                                                  \
        return true;                                                                               \
    }                                                                                              \
    static bool store_affine_##name##_abreast(const struct kn_op *op, struct kn_warp *w,           \
                                              uint32_t warps, uint32_t file_B)                     \
    {                                                                                              \
        char *const r = w->r, *to = affine_places(op, w, warps, file_B, edge);                     \
        const uint32_t at = op->c;                                                                 \
        if (!to)                                                                                   \
            return store_each_##name(op, w, warps, file_B);                                        \
        for (uint32_t k = warps; k--; w->r += file_B, to += PLACE_B) {                             \
            prefetch_next(to, warps);                                                              \
            copy_elements((void *)to, KN_REGISTER(uint32_t, at));                                  \
        }                                                                                          \
        w->r = r;                                                                                  \
        return true;                                                                               \
    }
AFFINE_ABREAST(u32, 0)
AFFINE_ABREAST(s32, 0x80000000)
const struct kn_abreast KN_JOIN(kn_abreast_memory, KN_SET)[] = {
    {"ld.affine.u32.row", load_affine_u32_abreast},
    {"ld.affine.s32.row", load_affine_s32_abreast},
    {"st.affine.u32.row", store_affine_u32_abreast},
    {"st.affine.s32.row", store_affine_s32_abreast},
    {0},
};
#define AFFINE_ROW(operation, text, operands)                                                      \
    {                                                                                              \
        text, operands,                                                                            \
        {                                                                                          \
            operation##_all, affine_some                                                           \
        }                                                                                          \
    }

#define SPACE_generic "generic."
#define SPACE_shared "shared."
#define SPACE_local "local."
#define SPACE_param "param."
#define WIDTH_generic "l"
#define WIDTH_shared "w"
#define WIDTH_local "w"
#define WIDTH_param "w"
#define ALL_generic all
#define ALL_shared all
#define ALL_local some
#define ALL_param some
#define ROW_PAIR(operation, all, text, operands)                                                   \
    {                                                                                              \
        text, operands,                                                                            \
        {                                                                                          \
            KN_JOIN(operation, all), operation##_some                                              \
        }                                                                                          \
    }
#define LOAD_ROW(space, name, M, text, letter)                                                     \
    ROW_PAIR(load_##space##_##name, ALL_##space, "ld." SPACE_##space text,                         \
             letter "=" WIDTH_##space "i"),                                                        \
        ROW_PAIR(load_vector_##space##_##name, ALL_##space, "ld." SPACE_##space text ".v",         \
                 letter "*=" WIDTH_##space "i"),
#define STORE_ROW(space, name, M, text, letter)                                                    \
    ROW_PAIR(store_##space##_##name, ALL_##space, "st." SPACE_##space text,                        \
             "=" WIDTH_##space letter "i"),                                                        \
        ROW_PAIR(store_vector_##space##_##name, ALL_##space, "st." SPACE_##space text ".v",        \
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
            STORE_LIST(STORE_ROW, local) KN_ROW_OF(fence, "fence", "="),
    KN_ROW_OF(fence_light, "fence.light", "="),
    KN_ROW_OF(isspacep_shared, "isspacep.shared", "p=l"),
    KN_ROW_OF(isspacep_local, "isspacep.local", "p=l"),
    KN_ROW_OF(isspacep_param, "isspacep.param", "p=l"),
    KN_ROW_OF(isspacep_global, "isspacep.global", "p=l"),
    AFFINE_ROW(load_affine_u32, "ld.affine.u32", "w=wli"),
    AFFINE_ROW(load_affine_s32, "ld.affine.s32", "w=wli"),
    AFFINE_ROW(store_affine_u32, "st.affine.u32", "=wlwi"),
    AFFINE_ROW(store_affine_s32, "st.affine.s32", "=wlwi"),
    AFFINE_ROW(load_affine_u32_row, "ld.affine.u32.row", "w=wli"),
    AFFINE_ROW(load_affine_s32_row, "ld.affine.s32.row", "w=wli"),
    AFFINE_ROW(store_affine_u32_row, "st.affine.u32.row", "=wlwi"),
    AFFINE_ROW(store_affine_s32_row, "st.affine.s32.row", "=wlwi"),
    {0},
};
