// SPDX-License-Identifier: MIT
// Forms of atom and red. A name has the space, the operation and the type: "atom.shared.add.32".
// The lanes take their turns in the order of their numbers. Shared memory needs no atomic
// instructions, because one thread runs all warps of a block.
#include <stddef.h>
#include <string.h>

#include "address.inc.h"
#include "convert_scalar.h"
#include "families.h"
#include "float.inc.h"

typedef unsigned __int128 kn_u128;

static inline void *pointer(const struct kn_warp *w, struct kn_place place, int i, unsigned size_B)
{
    switch (place.kind) {
    case KN_PLACE_CONSECUTIVE:
        return place.first + (unsigned)i * size_B;
    case KN_PLACE_UNIFORM:
        return place.first;
    default:
        return (void *)(uintptr_t)w->addresses[i];
    }
}

static inline bool is_shared(const struct kn_warp *w, const void *at)
{
    return (uintptr_t)at - (uintptr_t)w->memory->shared < w->memory->shared_B;
}

// ---- arithmetic on bits ----

static inline float f32_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return f != f ? 0x7fffffff : bits;
}

static inline uint32_t flushed(uint32_t bits)
{
    return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

static inline uint32_t add_f32(uint32_t a, uint32_t b)
{
    return bits_of(f32_of(a) + f32_of(b));
}

// "atom.add.f32 on global memory flushes subnormal inputs and results to sign-preserving zero,
// whereas atom.add.f32 on shared memory supports subnormal inputs and results."
static inline uint32_t add_f32_flushed(uint32_t a, uint32_t b)
{
    return flushed(add_f32(flushed(a), flushed(b)));
}

// Of two NaNs, shared memory gets the old one, made quiet, and global memory the new one as it is
// (recorded: atomics/add.f64).
static inline uint64_t add_f64(uint64_t a, uint64_t b, bool shared)
{
    const double x = kn_f64(a), y = kn_f64(b);
    if (!shared && (x != x || y != y))
        return y != y ? b : a;
    return kn_f64_result2(x + y, x, y);
}

static inline float f32_of_bf16(uint16_t bits)
{
    return f32_of((uint32_t)bits << 16);
}

static inline uint16_t f16_of(float f)
{
    return f != f ? 0x7fff : kn_to_half(f);
}

static inline uint16_t bf16_of(float f)
{
    const uint32_t bits = bits_of(f);
    return f != f ? 0x7fff : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline uint16_t add_f16(uint16_t a, uint16_t b)
{
    return f16_of(kn_from_half(a) + kn_from_half(b));
}

static inline uint16_t add_bf16(uint16_t a, uint16_t b)
{
    return bf16_of(f32_of_bf16(a) + f32_of_bf16(b));
}

// The smaller or greater one; a NaN is ignored if the other is a number, and -0 is less than +0.
#define PICK(name, to_f32, nan)                                                                    \
    static inline uint16_t name(uint16_t a, uint16_t b, bool greater)                              \
    {                                                                                              \
        const float x = to_f32(a), y = to_f32(b);                                                  \
        if (x != x)                                                                                \
            return y != y ? nan : b;                                                               \
        if (y != y)                                                                                \
            return a;                                                                              \
        if (x == y)                                                                                \
            return ((a & 0x8000) != 0) == greater ? b : a;                                         \
        return (x < y) == greater ? b : a;                                                         \
    }
PICK(pick_f16, kn_from_half, 0x7fff)
PICK(pick_bf16, f32_of_bf16, 0x7fff)

#define PAIR(function, a, b, ...)                                                                  \
    ((uint32_t)function((uint16_t)(a), (uint16_t)(b), ##__VA_ARGS__) |                             \
     (uint32_t)function((uint16_t)((a) >> 16), (uint16_t)((b) >> 16), ##__VA_ARGS__) << 16)

// ---- one operation ----

// X(name, text, type, letter, the new value by `old` and `b`)
#define EACH_OPERATION(X)                                                                          \
    X(add_32, "add.32", uint32_t, "w", old + b)                                                    \
    X(add_64, "add.64", uint64_t, "l", old + b)                                                    \
    X(and_32, "and.32", uint32_t, "w", old &b)                                                     \
    X(and_64, "and.64", uint64_t, "l", old &b)                                                     \
    X(or_32, "or.32", uint32_t, "w", old | b)                                                      \
    X(or_64, "or.64", uint64_t, "l", old | b)                                                      \
    X(xor_32, "xor.32", uint32_t, "w", old ^ b)                                                    \
    X(xor_64, "xor.64", uint64_t, "l", old ^ b)                                                    \
    X(exch_32, "exch.32", uint32_t, "w", b)                                                        \
    X(exch_64, "exch.64", uint64_t, "l", b)                                                        \
    X(min_u32, "min.u32", uint32_t, "w", b < old ? b : old)                                        \
    X(min_s32, "min.s32", uint32_t, "w", (int32_t)b < (int32_t)old ? b : old)                      \
    X(min_u64, "min.u64", uint64_t, "l", b < old ? b : old)                                        \
    X(min_s64, "min.s64", uint64_t, "l", (int64_t)b < (int64_t)old ? b : old)                      \
    X(max_u32, "max.u32", uint32_t, "w", b > old ? b : old)                                        \
    X(max_s32, "max.s32", uint32_t, "w", (int32_t)b > (int32_t)old ? b : old)                      \
    X(max_u64, "max.u64", uint64_t, "l", b > old ? b : old)                                        \
    X(max_s64, "max.s64", uint64_t, "l", (int64_t)b > (int64_t)old ? b : old)                      \
    X(inc_32, "inc.32", uint32_t, "w", old >= b ? 0 : old + 1)                                     \
    X(dec_32, "dec.32", uint32_t, "w", old == 0 || old > b ? b : old - 1)                          \
    X(add_f32, "add.f32", uint32_t, "w", plain ? add_f32(old, b) : add_f32_flushed(old, b))        \
    X(add_f64, "add.f64", uint64_t, "l", add_f64(old, b, plain))                                   \
    X(add_f16, "add.f16", uint16_t, "h", add_f16(old, b))                                          \
    X(add_bf16, "add.bf16", uint16_t, "h", add_bf16(old, b))                                       \
    X(add_f16x2, "add.f16x2", uint32_t, "w", PAIR(add_f16, old, b))                                \
    X(add_bf16x2, "add.bf16x2", uint32_t, "w", PAIR(add_bf16, old, b))                             \
    X(min_f16, "min.f16", uint16_t, "h", pick_f16(old, b, false))                                  \
    X(max_f16, "max.f16", uint16_t, "h", pick_f16(old, b, true))                                   \
    X(min_bf16, "min.bf16", uint16_t, "h", pick_bf16(old, b, false))                               \
    X(max_bf16, "max.bf16", uint16_t, "h", pick_bf16(old, b, true))                                \
    X(min_f16x2, "min.f16x2", uint32_t, "w", PAIR(pick_f16, old, b, false))                        \
    X(max_f16x2, "max.f16x2", uint32_t, "w", PAIR(pick_f16, old, b, true))                         \
    X(min_bf16x2, "min.bf16x2", uint32_t, "w", PAIR(pick_bf16, old, b, false))                     \
    X(max_bf16x2, "max.bf16x2", uint32_t, "w", PAIR(pick_bf16, old, b, true))

// Replaces a value, and returns the old one. `plain`: in shared memory.
#define REPLACE(name, text, T, letter, next)                                                       \
    static inline T replace_##name(T *at, T b, bool plain)                                         \
    {                                                                                              \
        T old = plain ? *at : __atomic_load_n(at, __ATOMIC_RELAXED), to;                           \
        do                                                                                         \
            to = (T)(next);                                                                        \
        while (!plain && !__atomic_compare_exchange_n(at, &old, to, true, __ATOMIC_SEQ_CST,        \
                                                      __ATOMIC_RELAXED));                          \
        if (plain)                                                                                 \
            *at = to;                                                                              \
        return old;                                                                                \
    }                                                                                              \
    KN_OUT_OF_LINE void turns_##name(const struct kn_op *op, struct kn_warp *w,                    \
                                     struct kn_place place, uint32_t mask, T *d, uint32_t source)  \
    {                                                                                              \
        const T *b = KN_REGISTER(T, source);                                                       \
        KN_EACH_OF(mask, i)                                                                        \
        {                                                                                          \
            T *at = pointer(w, place, i, sizeof(T));                                               \
            const T old = is_shared(w, at) ? replace_##name(at, b[i], true)                        \
                                           : replace_##name(at, b[i], false);                      \
            if (d)                                                                                 \
                d[i] = old;                                                                        \
        }                                                                                          \
    }                                                                                              \
    /* At addresses of kn_shared. The usual case has no branches. */                               \
    KN_OUT_OF_LINE void turns_shared_##name(const struct kn_op *op, struct kn_warp *w,             \
                                            struct kn_place place, uint32_t mask, T *d,            \
                                            uint32_t source)                                       \
    {                                                                                              \
        const T *b = KN_REGISTER(T, source);                                                       \
        if (place.kind != KN_PLACE_SCATTERED || mask != UINT32_MAX) {                              \
            turns_##name(op, w, place, mask, d, source);                                           \
        } else if (d) {                                                                            \
            KN_EACH_LANE                                                                           \
            d[i] = replace_##name((T *)(uintptr_t)w->addresses[i], b[i], true);                    \
        } else {                                                                                   \
            KN_EACH_LANE                                                                           \
            replace_##name((T *)(uintptr_t)w->addresses[i], b[i], true);                           \
        }                                                                                          \
    }
EACH_OPERATION(REPLACE)

// The checks of an atomic operation on values of type T, `times` of them a lane.
#define BEGIN(space, T, times)                                                                     \
    const uint32_t mask = kn_mask_of(op, w);                                                       \
    if (__builtin_expect(!mask, 0))                                                                \
        KN_NEXT;                                                                                   \
    const unsigned size_B = (unsigned)(sizeof(T) * (times));                                       \
    const struct kn_place place = kn_##space(op, w, mask, size_B, size_B, true);                   \
    if (__builtin_expect(place.kind == KN_PLACE_FAULT, 0))                                         \
    return NULL

#define ATOM(space, name, T, turns)                                                                \
    KN_OPERATION(atom_##space##_##name)                                                            \
    {                                                                                              \
        BEGIN(space, T, 1);                                                                        \
        turns(op, w, place, mask, KN_REGISTER(T, op->d), op->b);                                   \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(red_##space##_##name)                                                             \
    {                                                                                              \
        BEGIN(space, T, 1);                                                                        \
        turns(op, w, place, mask, NULL, op->b);                                                    \
        KN_NEXT;                                                                                   \
    }
#define ATOMS(name, text, T, letter, next)                                                         \
    ATOM(generic, name, T, turns_##name)                                                           \
    ATOM(shared, name, T, turns_shared_##name)
EACH_OPERATION(ATOMS)

// ---- cp.reduce.async.bulk: c bytes from b to a ----

#define BULK(name, text, T, letter, next)                                                          \
    KN_OPERATION(bulk_##name)                                                                      \
    {                                                                                              \
        const uint64_t *a = KN_REGISTER(uint64_t, op->a), *b = KN_REGISTER(uint64_t, op->b);       \
        const uint32_t *c = KN_REGISTER(uint32_t, op->c);                                          \
        KN_EACH_OF(kn_mask_of(op, w), lane)                                                        \
        {                                                                                          \
            T *to = kn_range(op, w, lane, c[lane] % 16 ? 1 : a[lane], c[lane], 16, true);          \
            const T *from = to ? kn_range(op, w, lane, b[lane], c[lane], 16, false) : NULL;        \
            if (!from)                                                                             \
                return NULL;                                                                       \
            for (uint32_t n = 0; n < c[lane] / sizeof(T); n++)                                     \
                replace_##name(to + n, from[n], is_shared(w, to));                                 \
        }                                                                                          \
        KN_RETURN_NEXT;                                                                            \
    }
EACH_OPERATION(BULK)

// ---- vectors: each value is an operation of its own ----

#define EACH_VECTOR(X)                                                                             \
    X(add_f32, "add.f32", uint32_t, "w")                                                           \
    X(add_f16, "add.f16", uint16_t, "h")                                                           \
    X(add_bf16, "add.bf16", uint16_t, "h")                                                         \
    X(add_f16x2, "add.f16x2", uint32_t, "w")                                                       \
    X(add_bf16x2, "add.bf16x2", uint32_t, "w")                                                     \
    X(min_f16, "min.f16", uint16_t, "h")                                                           \
    X(max_f16, "max.f16", uint16_t, "h")                                                           \
    X(min_bf16, "min.bf16", uint16_t, "h")                                                         \
    X(max_bf16, "max.bf16", uint16_t, "h")                                                         \
    X(min_f16x2, "min.f16x2", uint32_t, "w")                                                       \
    X(max_f16x2, "max.f16x2", uint32_t, "w")                                                       \
    X(min_bf16x2, "min.bf16x2", uint32_t, "w")                                                     \
    X(max_bf16x2, "max.bf16x2", uint32_t, "w")

// The register of the n-th value. kn_op.more has the destinations after the first, then the sources
// after the third, of which the address is the first.
static inline uint32_t vector_source(const struct kn_op *op, unsigned n, bool has_destinations)
{
    return n == 0   ? op->b
           : n == 1 ? op->c
                    : op->more[n - 2 + (has_destinations ? op->count - 1 : 0)];
}

#define VECTOR(name, text, T, letter)                                                              \
    static void vector_##name(const struct kn_op *op, struct kn_warp *w, struct kn_place place,    \
                              uint32_t mask, bool fetches)                                         \
    {                                                                                              \
        const unsigned count = op->count;                                                          \
        if (place.kind != KN_PLACE_SCATTERED)                                                      \
            for (int i = 0; i < KN_LANES; i++)                                                     \
                w->addresses[i] = (uintptr_t)pointer(w, place, i, (unsigned)sizeof(T) * count);    \
        place.kind = KN_PLACE_SCATTERED;                                                           \
        for (unsigned n = 0; n < count; n++) {                                                     \
            T *d = fetches ? KN_REGISTER(T, n ? op->more[n - 1] : op->d) : NULL;                   \
            turns_##name(op, w, place, mask, d, vector_source(op, n, fetches));                    \
            for (int i = 0; i < KN_LANES; i++)                                                     \
                w->addresses[i] += sizeof(T);                                                      \
        }                                                                                          \
    }                                                                                              \
    KN_OPERATION(atom_vector_##name)                                                               \
    {                                                                                              \
        BEGIN(generic, T, op->count);                                                              \
        vector_##name(op, w, place, mask, true);                                                   \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(red_vector_##name)                                                                \
    {                                                                                              \
        BEGIN(generic, T, op->count);                                                              \
        vector_##name(op, w, place, mask, false);                                                  \
        KN_NEXT;                                                                                   \
    }
EACH_VECTOR(VECTOR)

// ---- cas, and values of 128 bits ----

// Values of 128 bits are not replaced atomically if several kernels use them at the same time.
#define CAS(name, T, compare)                                                                      \
    KN_OUT_OF_LINE void cas_##name(const struct kn_op *op, struct kn_warp *w,                      \
                                   struct kn_place place, uint32_t mask)                           \
    {                                                                                              \
        const T *b = KN_REGISTER(T, op->b), *c = KN_REGISTER(T, op->c);                            \
        T *d = KN_REGISTER(T, op->d);                                                              \
        KN_EACH_OF(mask, i)                                                                        \
        {                                                                                          \
            T *at = pointer(w, place, i, sizeof(T)), old = b[i];                                   \
            compare;                                                                               \
            d[i] = old;                                                                            \
        }                                                                                          \
    }                                                                                              \
    KN_OPERATION(cas_generic_##name)                                                               \
    {                                                                                              \
        BEGIN(generic, T, 1);                                                                      \
        cas_##name(op, w, place, mask);                                                            \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(cas_shared_##name)                                                                \
    {                                                                                              \
        BEGIN(shared, T, 1);                                                                       \
        cas_##name(op, w, place, mask);                                                            \
        KN_NEXT;                                                                                   \
    }
#define CAS_ATOMIC                                                                                 \
    __atomic_compare_exchange_n(at, &old, c[i], false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#define CAS_PLAIN                                                                                  \
    do {                                                                                           \
        old = *at;                                                                                 \
        if (old == b[i])                                                                           \
            *at = c[i];                                                                            \
    } while (0)
CAS(16, uint16_t, CAS_ATOMIC)
CAS(32, uint32_t, CAS_ATOMIC)
CAS(64, uint64_t, CAS_ATOMIC)
CAS(128, kn_u128, CAS_PLAIN)

static void exchange_128(const struct kn_op *op, struct kn_warp *w, struct kn_place place,
                         uint32_t mask)
{
    const kn_u128 *b = KN_REGISTER(kn_u128, op->b);
    kn_u128 *d = KN_REGISTER(kn_u128, op->d);
    KN_EACH_OF(mask, i)
    {
        kn_u128 *at = pointer(w, place, i, sizeof *at);
        const kn_u128 old = *at;
        *at = b[i];
        d[i] = old;
    }
}

KN_OPERATION(exch_generic_128)
{
    BEGIN(generic, kn_u128, 1);
    exchange_128(op, w, place, mask);
    KN_NEXT;
}

KN_OPERATION(exch_shared_128)
{
    BEGIN(shared, kn_u128, 1);
    exchange_128(op, w, place, mask);
    KN_NEXT;
}

// ---- forms ----

#define ATOM_ROWS(name, text, T, letter, next)                                                     \
    KN_ROW_OF(atom_generic_##name, "atom.generic." text, letter "=l" letter "i"),                  \
        KN_ROW_OF(red_generic_##name, "red.generic." text, "=l" letter "i"),                       \
        KN_ROW_OF(atom_shared_##name, "atom.shared." text, letter "=w" letter "i"),                \
        KN_ROW_OF(red_shared_##name, "red.shared." text, "=w" letter "i"),
#define VECTOR_ROWS(name, text, T, letter)                                                         \
    KN_ROW_OF(atom_vector_##name, "atom.generic." text ".v", letter "*=l" letter "*i"),            \
        KN_ROW_OF(red_vector_##name, "red.generic." text ".v", "=l" letter "*i"),
#define BULK_ROWS(name, text, T, letter, next)                                                     \
    KN_ROW_OF(bulk_##name, "cp.reduce.bulk." text, "=llw"),
#define CAS_ROWS(name, text, letter)                                                               \
    KN_ROW_OF(cas_generic_##name, "atom.generic.cas." text, letter "=l" letter letter "i"),        \
        KN_ROW_OF(cas_shared_##name, "atom.shared.cas." text, letter "=w" letter letter "i"),

const struct kn_form KN_FAMILY(atomic)[] = {
    EACH_OPERATION(ATOM_ROWS) EACH_OPERATION(BULK_ROWS) EACH_VECTOR(VECTOR_ROWS)
        CAS_ROWS(16, "16", "h") CAS_ROWS(32, "32", "w") CAS_ROWS(64, "64", "l")
            CAS_ROWS(128, "128", "x") KN_ROW_OF(exch_generic_128, "atom.generic.exch.128", "x=lxi"),
    KN_ROW_OF(exch_shared_128, "atom.shared.exch.128", "x=wxi"),
    {0},
};
