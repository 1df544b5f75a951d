// SPDX-License-Identifier: MIT
// For the families that access memory: turns the addresses of an operation's lanes into pointers,
// after it has checked their alignment and range. No family should access memory in another way.
//
//     register op->a + op->i ──▶ kn_global, kn_shared … ──▶ struct kn_place
//                                                             kind, first, w->addresses
#pragma once

#include <stddef.h>

#include "pattern.inc.h"

enum kn_place_kind {
    KN_PLACE_FAULT,       // w->fault describes it
    KN_PLACE_CONSECUTIVE, // all 32 lanes, one after the other from `first` on
    KN_PLACE_UNIFORM,     // all active lanes at `first`
    KN_PLACE_SCATTERED,   // in w->addresses, which is valid for all lanes, also inactive ones
    KN_PLACE_PIECES,      // the same, of all 32 lanes; each piece is consecutive or uniform
};

struct kn_place {
    char *first;
    enum kn_place_kind kind;
    uint32_t uniform; // KN_PLACE_PIECES: the pieces that are not consecutive, as KN_PIECE_BITS
};

enum { KN_VECTOR_MOST = 8 }; // values of a vector

#define KN_OUT_OF_LINE static __attribute__((noinline, unused))

static inline struct kn_place kn_fault(struct kn_warp *w, enum kn_fault_kind kind, uint32_t lanes,
                                       uint64_t address, unsigned size_B, bool write)
{
    w->fault = (struct kn_fault){.kind = kind,
                                 .space = KN_FAULT_GENERIC,
                                 .lanes = lanes,
                                 .address = address,
                                 .size_B = size_B,
                                 .write = write};
    w->stop = KN_STOP_FAULT;
    return (struct kn_place){0};
}

// The host's address of an address that is in no window and outside the device's range, or 0.
static inline uint64_t kn_translate_other(const struct kn_memory *m, uint64_t x, unsigned size_B,
                                          bool write)
{
    // The address of a kernel's parameter is generic too (cvta.param).
    const uint64_t parameter = x - (uintptr_t)m->parameters;
    if (!write && parameter < m->parameters_B && size_B <= m->parameters_B - parameter)
        return x;
    return x && m->foreign && m->foreign(m, x, size_B, write) ? x : 0;
}

// The end of shared memory for one access. An aligned read that begins inside may end outside,
// because compilers join reads: a card's shared memory ends at a multiple of 128 bytes.
static inline uint32_t kn_shared_end(const struct kn_memory *m, unsigned size_B, bool write)
{
    const bool joined = !write && size_B <= KN_SHARED_ROOM_B && !(size_B & (size_B - 1));
    return joined ? (m->shared_B + size_B - 1) & ~(size_B - 1) : m->shared_B;
}

// The host's address of a generic one for one lane, or 0.
static inline uint64_t kn_translate(const struct kn_warp *w, int lane, uint64_t x, unsigned size_B,
                                    bool write)
{
    const struct kn_memory *m = w->memory;
    const uint64_t offset = x & UINT32_MAX;
    if (x - m->device_first < m->device_end - m->device_first)
        return x;
    if (x >> 32 == m->shared_window >> 32)
        return offset + size_B <= kn_shared_end(m, size_B, write) ? (uintptr_t)m->shared + offset
                                                                  : 0;
    if (x >> 32 == m->local_window >> 32)
        return offset + size_B <= w->local_B
                   ? (uintptr_t)w->local + (uint64_t)lane * w->local_B + offset
                   : 0;
    return kn_translate_other(m, x, size_B, write);
}

// The pointer to size_B bytes at generic address `x`, a multiple of align_B (a power of two), for
// one lane of an operation whose lanes access ranges of different sizes; or NULL after a fault.
// An operation should check all its addresses before it writes.
static __attribute__((unused)) void *kn_range(const struct kn_op *op, struct kn_warp *w, int lane,
                                              uint64_t x, uint32_t size_B, uint32_t align_B,
                                              bool write)
{
    const struct kn_memory *m = w->memory;
    const bool misaligned = x & (align_B - 1);
    const bool device = x - m->device_first < m->device_end - m->device_first;
    uint64_t at = 0;
    if (!misaligned && !(device && size_B > m->device_end - x))
        at = kn_translate(w, lane, x, size_B, write);
    w->at = op;
    if (!at)
        kn_fault(w, misaligned ? KN_FAULT_MISALIGNED : KN_FAULT_ADDRESS, UINT32_C(1) << lane, x,
                 size_B, write);
    else if (m->watch && !m->watch(w, op, lane, x, size_B, write))
        return NULL;
    return (void *)(uintptr_t)at;
}

// Lane by lane, after a quick check has failed: some addresses are misaligned, outside the device's
// range, or in a window.
KN_OUT_OF_LINE struct kn_place kn_place_slowly(const struct kn_op *op, struct kn_warp *w,
                                               uint32_t mask, unsigned size_B, unsigned align_B,
                                               bool write)
{
    const uint64_t *a = KN_REGISTER(uint64_t, op->a);
    uint64_t any = 0, first_bad = 0;
    uint32_t misaligned = 0, bad = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int i = kn_lowest(rest);
        const uint64_t x = a[i] + op->u;
        if (x & (align_B - 1))
            misaligned |= UINT32_C(1) << i;
        w->addresses[i] = kn_translate(w, i, x, size_B, write);
        if (!w->addresses[i]) {
            if (!bad)
                first_bad = x;
            bad |= UINT32_C(1) << i;
        } else {
            any = w->addresses[i];
        }
    }
    if (misaligned)
        return kn_fault(w, KN_FAULT_MISALIGNED, misaligned, a[kn_lowest(misaligned)] + op->u,
                        size_B, write);
    if (bad)
        return kn_fault(w, KN_FAULT_ADDRESS, bad, first_bad, size_B, write);
    for (uint32_t rest = ~mask; rest; rest &= rest - 1)
        w->addresses[kn_lowest(rest)] = any;
    return (struct kn_place){.kind = KN_PLACE_SCATTERED};
}

// An access of size_B bytes a lane, which must be a multiple of align_B (powers of two), at generic
// addresses. Precondition: mask is not 0.
KN_OUT_OF_LINE struct kn_place kn_generic(const struct kn_op *op, struct kn_warp *w, uint32_t mask,
                                          unsigned size_B, unsigned align_B, bool write)
{
    const struct kn_memory *m = w->memory;
    const uint64_t *a = KN_REGISTER(uint64_t, op->a);
    const uint64_t first = a[kn_lowest(mask)] + op->u, from = m->device_first;
    uint64_t bits = 0, range = 0, differences = 0;
    w->at = op;
    if (mask == UINT32_MAX) {
        KN_EACH_LANE
        {
            const uint64_t x = a[i] + op->u;
            w->addresses[i] = x;
            bits |= x;
            range |= x - from;
            differences |= x ^ first;
        }
    } else {
        const int32_t *on = kn_lanes_of(op, w);
        KN_EACH_LANE
        {
            const uint64_t x = on[i] ? a[i] + op->u : first;
            w->addresses[i] = x;
            bits |= x;
            range |= x - from;
            differences |= x ^ first;
        }
    }
    // `range` is at least the greatest offset, and less than a power of two that exceeds that.
    if (__builtin_expect((bits & (align_B - 1)) || range >= m->device_end - from, 0))
        return kn_place_slowly(op, w, mask, size_B, align_B, write);
    return (struct kn_place){.first = (char *)(uintptr_t)first,
                             .kind = differences ? KN_PLACE_SCATTERED : KN_PLACE_UNIFORM};
}

// A space with 32-bit addresses: for lane i, limit_B bytes at base + i * stride_B.
struct kn_space {
    char *base;
    uint32_t limit_B;
    uint64_t stride_B; // 0: all lanes share the bytes
};

// The same as kn_generic for 32-bit addresses in a space.
static inline struct kn_place kn_offsets(const struct kn_op *op, struct kn_warp *w, uint32_t mask,
                                         unsigned size_B, unsigned align_B, bool write,
                                         struct kn_space space)
{
    char *const base = space.base;
    const uint32_t limit_B = space.limit_B;
    const uint64_t stride_B = space.stride_B;
    const uint32_t *a = KN_REGISTER(uint32_t, op->a);
    const uint32_t offset = (uint32_t)op->i, first = a[kn_lowest(mask)] + offset;
    uint32_t bits = 0, most = 0, differences = 0;
    w->at = op;
    if (mask == UINT32_MAX) {
        KN_EACH_LANE
        {
            const uint32_t x = a[i] + offset;
            bits |= x;
            most = x > most ? x : most;
            differences |= x ^ first;
        }
    } else {
        const int32_t *on = kn_lanes_of(op, w);
        KN_EACH_LANE
        {
            const uint32_t x = on[i] ? a[i] + offset : first;
            bits |= x;
            most = x > most ? x : most;
            differences |= x ^ first;
        }
    }
    if (__builtin_expect((bits & (align_B - 1)) || most >= limit_B || limit_B - most < size_B, 0)) {
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            const int i = kn_lowest(rest);
            const uint32_t x = a[i] + offset;
            if (x & (align_B - 1))
                return kn_fault(w, KN_FAULT_MISALIGNED, UINT32_C(1) << i, x, size_B, write);
            if (x >= limit_B || limit_B - x < size_B)
                return kn_fault(w, KN_FAULT_ADDRESS, UINT32_C(1) << i, x, size_B, write);
        }
    }
    if (!stride_B && !differences)
        return (struct kn_place){.first = base + first, .kind = KN_PLACE_UNIFORM};
    const int32_t *on = mask == UINT32_MAX ? w->active_lanes : kn_lanes_of(op, w);
    KN_EACH_LANE
    w->addresses[i] = (uintptr_t)base + (on[i] ? a[i] + offset : first) + (uint64_t)i * stride_B;
    return (struct kn_place){.kind = KN_PLACE_SCATTERED};
}

KN_OUT_OF_LINE struct kn_place kn_shared(const struct kn_op *op, struct kn_warp *w, uint32_t mask,
                                         unsigned size_B, unsigned align_B, bool write)
{
    const struct kn_space space = {w->memory->shared, kn_shared_end(w->memory, size_B, write), 0};
    struct kn_place place = kn_offsets(op, w, mask, size_B, align_B, write, space);
    if (place.kind == KN_PLACE_FAULT)
        w->fault.space = KN_FAULT_SHARED;
    return place;
}

KN_OUT_OF_LINE struct kn_place kn_local(const struct kn_op *op, struct kn_warp *w, uint32_t mask,
                                        unsigned size_B, unsigned align_B, bool write)
{
    const struct kn_space space = {w->local, w->local_B, w->local_B};
    struct kn_place place = kn_offsets(op, w, mask, size_B, align_B, write, space);
    if (place.kind == KN_PLACE_FAULT)
        w->fault.space = KN_FAULT_LOCAL;
    return place;
}

KN_OUT_OF_LINE struct kn_place kn_param(const struct kn_op *op, struct kn_warp *w, uint32_t mask,
                                        unsigned size_B, unsigned align_B, bool write)
{
    const struct kn_space space = {(char *)w->memory->parameters, w->memory->parameters_B, 0};
    struct kn_place place = kn_offsets(op, w, mask, size_B, align_B, write, space);
    if (place.kind == KN_PLACE_FAULT)
        w->fault.space = KN_FAULT_PARAM;
    return place;
}

// ---- all lanes, in a pattern ----

// Whether `count` pieces of piece_B bytes at addresses a[8 p] + offset are multiples of align_B
// from `from` on and end `span` bytes later at most.
#define KN_ARE_INSIDE(name, T)                                                                     \
    static inline bool name(const T *a, T offset, uint64_t from, uint64_t span, int count,         \
                            unsigned piece_B, unsigned align_B)                                    \
    {                                                                                              \
        uint64_t bits = 0, most = 0;                                                               \
        for (int p = 0; p < count; p++) {                                                          \
            const uint64_t x = (T)(a[KN_PIECE * p] + offset);                                      \
            bits |= x;                                                                             \
            most = x - from > most ? x - from : most;                                              \
        }                                                                                          \
        return !(bits & (align_B - 1)) && most < span && span - most >= piece_B;                   \
    }
KN_ARE_INSIDE(kn_are_inside_32, uint32_t)
KN_ARE_INSIDE(kn_are_inside_64, uint64_t)

// For a space, for all 32 lanes: name_quickly finds addresses that are consecutive or uniform, and
// name_pieces those that consist of pieces. Both answer KN_PLACE_FAULT if somebody else has to look
// closer. name_pieces finds only the addresses of each piece's first lane if `firsts` is true. They
// are much faster for sizes that are constant. `first_of(x)` is the pointer to an
// address.
#define KN_QUICK(space, T, bits, from, span, first_of)                                             \
    KN_INLINE struct kn_place kn_##space##_quickly(const struct kn_op *op, struct kn_warp *w,      \
                                                   unsigned size_B)                                \
    {                                                                                              \
        const struct kn_memory *m = w->memory;                                                     \
        const T *a = KN_REGISTER(T, op->a), offset = (T)op->u, first = a[0] + offset;              \
        struct kn_place place = {0};                                                               \
        w->at = op;                                                                                \
        if (kn_is_consecutive_##bits(a, size_B)) {                                                 \
            if (kn_are_inside_##bits(a, offset, from, span, 1, KN_LANES * size_B, size_B))         \
                place = (struct kn_place){first_of(first), KN_PLACE_CONSECUTIVE, 0};               \
        } else if (kn_is_uniform_##bits(a)) {                                                      \
            if (kn_are_inside_##bits(a, offset, from, span, 1, size_B, size_B))                    \
                place = (struct kn_place){first_of(first), KN_PLACE_UNIFORM, 0};                   \
        }                                                                                          \
        return place;                                                                              \
    }                                                                                              \
    KN_INLINE struct kn_place kn_##space##_pieces(const struct kn_op *op, struct kn_warp *w,       \
                                                  unsigned size_B, bool firsts)                    \
    {                                                                                              \
        const struct kn_memory *m = w->memory;                                                     \
        const T *a = KN_REGISTER(T, op->a), offset = (T)op->u;                                     \
        const struct kn_pattern pattern = kn_pattern_##bits(a, size_B);                            \
        if ((pattern.consecutive | pattern.uniform) != KN_PIECE_BITS ||                            \
            !kn_are_inside_##bits(a, offset, from, span, KN_PIECES, KN_PIECE * size_B, size_B))    \
            return (struct kn_place){0};                                                           \
        if (firsts)                                                                                \
            for (int p = 0; p < KN_PIECES; p++)                                                    \
                w->addresses[KN_PIECE * p] = (uintptr_t)first_of((T)(a[KN_PIECE * p] + offset));   \
        else                                                                                       \
            KN_EACH_LANE                                                                           \
        w->addresses[i] = (uintptr_t)first_of((T)(a[i] + offset));                                 \
        return (struct kn_place){NULL, KN_PLACE_PIECES, pattern.uniform};                          \
    }
#define KN_AT_GENERIC(x) ((char *)(uintptr_t)(x))
#define KN_AT_SHARED(x) (m->shared + (x))
KN_QUICK(generic, uint64_t, 64, m->device_first, m->device_end - m->device_first, KN_AT_GENERIC)
KN_QUICK(shared, uint32_t, 32, 0, m->shared_B, KN_AT_SHARED)
