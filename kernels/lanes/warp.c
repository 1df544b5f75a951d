// SPDX-License-Identifier: MIT
// Forms in which the lanes of a warp see each other: shfl, vote, match, redux, activemask, elect.
//
// Whoever runs them has made all lanes of the member mask active, as far as they exist, so a result
// depends on the lanes that are both active and members.
#include <stddef.h>
#include <string.h>

#include "families.h"
#include "lanes.inc.h"

static inline void set_predicate(struct kn_warp *w, uint32_t at, uint32_t mask, uint32_t value)
{
    uint32_t *p = &KN_PREDICATE(at);
    *p = (*p & ~mask) | (value & mask);
}

// ---- shfl ----

// d[i] = a[lanes[i]].
static inline void permute(uint32_t *d, const uint32_t *a, const int32_t *lanes)
{
#if defined(__AVX512DQ__)
    const __m512i low = _mm512_load_si512(a), high = _mm512_load_si512(a + 16);
    for (int i = 0; i < KN_LANES; i += 16)
        _mm512_store_si512(d + i,
                           _mm512_permutex2var_epi32(low, _mm512_load_si512(lanes + i), high));
#else
    for (int i = 0; i < KN_LANES; i++)
        d[i] = a[lanes[i]];
#endif
}

static __attribute__((noinline)) void blend(const struct kn_op *op, struct kn_warp *w, uint32_t *d,
                                            const uint32_t *values)
{
    const int32_t *on = kn_lanes_of(op, w);
    KN_EACH_LANE
    d[i] = on[i] ? values[i] : d[i];
}

// d = a of lane j, p = whether j is in the segment; b has the distance or the lane, c the clamp in
// bits 0 to 4 and the segment's mask in bits 8 to 12. A lane outside the segment is replaced by the
// own one.
#define SHFL(mode, from, inside)                                                                   \
    KN_OPERATION(shfl_##mode)                                                                      \
    {                                                                                              \
        const uint32_t mask = kn_mask_of(op, w);                                                   \
        const uint32_t *b = KN_REGISTER(uint32_t, op->b), *c = KN_REGISTER(uint32_t, op->c);       \
        uint32_t *d = KN_REGISTER(uint32_t, op->d);                                                \
        _Alignas(64) int32_t in[KN_LANES], lanes[KN_LANES];                                        \
        _Alignas(64) uint32_t values[KN_LANES];                                                    \
        KN_EACH_LANE                                                                               \
        {                                                                                          \
            const int lane = i, segment = (int)(c[i] >> 8 & 31), n = (int)(b[i] & 31);             \
            const int most = (lane & segment) | ((int)(c[i] & 31) & ~segment);                     \
            const int j = (from);                                                                  \
            const bool is_inside = (inside);                                                       \
            in[i] = is_inside ? -1 : 0;                                                            \
            lanes[i] = is_inside ? j & 31 : lane;                                                  \
        }                                                                                          \
        permute(values, KN_REGISTER(uint32_t, op->a), lanes);                                      \
        if (mask == UINT32_MAX)                                                                    \
            memcpy(d, values, sizeof values);                                                      \
        else                                                                                       \
            blend(op, w, d, values);                                                               \
        set_predicate(w, op->more[0], mask, kn_bits_32(in));                                       \
        KN_RETURN_NEXT;                                                                            \
    }
SHFL(up, lane - n, j >= most)
SHFL(down, lane + n, j <= most)
SHFL(bfly, lane ^ n, j <= most)
SHFL(idx, (lane & segment) | (n & ~segment), j <= most)

// ---- the lanes that act together ----

// The lanes of `rest` whose member masks are that of the lowest one, and that are in it.
static uint32_t group_of(const uint32_t *members, uint32_t rest, uint32_t *with)
{
    const uint32_t mask = members[kn_lowest(rest)];
    uint32_t group = 0;
    KN_EACH_OF(rest, i)
    group |= members[i] == mask ? UINT32_C(1) << i : 0;
    *with = group & mask;
    return group;
}

// Repeats a statement for each group of lanes with one member mask: `group` has the lanes that get
// the result, and `with` those that it should be made of.
#define EACH_GROUP(members, mask, group, with)                                                     \
    for (uint32_t kn_left = (mask), with, group = kn_left ? group_of(members, kn_left, &with) : 0; \
         kn_left; kn_left &= ~group, group = kn_left ? group_of(members, kn_left, &with) : 0)

static inline void set_words(uint32_t *d, uint32_t lanes, uint32_t value)
{
    KN_EACH_OF(lanes, i)
    d[i] = value;
}

#define VOTE(mode, result)                                                                         \
    KN_OPERATION(vote_##mode)                                                                      \
    {                                                                                              \
        const uint32_t mask = kn_mask_of(op, w), a = KN_PREDICATE(op->a);                          \
        const uint32_t *members = KN_REGISTER(uint32_t, op->b);                                    \
        EACH_GROUP(members, mask, group, with)                                                     \
        set_predicate(w, op->d, group, (result) ? UINT32_MAX : 0);                                 \
        KN_NEXT;                                                                                   \
    }
VOTE(all, !(with & ~a))
VOTE(any, with &a)
VOTE(uni, !(with & ~a) || !(with & a))

KN_OPERATION(vote_ballot)
{
    const uint32_t mask = kn_mask_of(op, w), a = KN_PREDICATE(op->a);
    const uint32_t *members = KN_REGISTER(uint32_t, op->b);
    EACH_GROUP(members, mask, group, with)
    set_words(KN_REGISTER(uint32_t, op->d), group, a & with);
    KN_NEXT;
}

#define MATCH(name, T)                                                                             \
    KN_OPERATION(match_any_##name)                                                                 \
    {                                                                                              \
        const uint32_t mask = kn_mask_of(op, w);                                                   \
        const uint32_t *members = KN_REGISTER(uint32_t, op->b);                                    \
        const T *a = KN_REGISTER(T, op->a);                                                        \
        uint32_t *out = (uint32_t *)(void *)w->addresses;                                          \
        KN_EACH_OF(mask, i)                                                                        \
        {                                                                                          \
            uint32_t same = 0;                                                                     \
            KN_EACH_OF(mask &members[i], k)                                                        \
            same |= a[k] == a[i] ? UINT32_C(1) << k : 0;                                           \
            out[i] = same;                                                                         \
        }                                                                                          \
        KN_EACH_OF(mask, i)                                                                        \
        KN_REGISTER(uint32_t, op->d)[i] = out[i];                                                  \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(match_all_##name)                                                                 \
    {                                                                                              \
        const uint32_t mask = kn_mask_of(op, w);                                                   \
        const uint32_t *members = KN_REGISTER(uint32_t, op->b);                                    \
        const T *a = KN_REGISTER(T, op->a);                                                        \
        uint32_t *out = (uint32_t *)(void *)w->addresses, all = 0;                                 \
        EACH_GROUP(members, mask, group, with)                                                     \
        {                                                                                          \
            uint32_t same = 0;                                                                     \
            KN_EACH_OF(with, i)                                                                    \
            same |= a[i] == a[kn_lowest(with)] ? UINT32_C(1) << i : 0;                             \
            set_words(out, group, same == with ? with : 0);                                        \
            all |= same == with ? group : 0;                                                       \
        }                                                                                          \
        KN_EACH_OF(mask, i)                                                                        \
        KN_REGISTER(uint32_t, op->d)[i] = out[i];                                                  \
        set_predicate(w, op->more[0], mask, all);                                                  \
        KN_NEXT;                                                                                   \
    }
MATCH(32, uint32_t)
MATCH(64, uint64_t)

#define REDUX(name, T, next)                                                                       \
    KN_OPERATION(redux_##name)                                                                     \
    {                                                                                              \
        const uint32_t mask = kn_mask_of(op, w);                                                   \
        const uint32_t *members = KN_REGISTER(uint32_t, op->b);                                    \
        const T *a = KN_REGISTER(T, op->a);                                                        \
        EACH_GROUP(members, mask, group, with)                                                     \
        {                                                                                          \
            T sum = with ? a[kn_lowest(with)] : 0;                                                 \
            KN_EACH_OF(with &(with - 1), i)                                                        \
            sum = (next);                                                                          \
            set_words(KN_REGISTER(uint32_t, op->d), group, (uint32_t)sum);                         \
        }                                                                                          \
        KN_NEXT;                                                                                   \
    }
REDUX(add, uint32_t, sum + a[i])
REDUX(and, uint32_t, sum &a[i])
REDUX(or, uint32_t, sum | a[i])
REDUX(xor, uint32_t, sum ^ a[i])
REDUX(min_u32, uint32_t, a[i] < sum ? a[i] : sum)
REDUX(max_u32, uint32_t, a[i] > sum ? a[i] : sum)
REDUX(min_s32, int32_t, a[i] < sum ? a[i] : sum)
REDUX(max_s32, int32_t, a[i] > sum ? a[i] : sum)

KN_OPERATION(activemask)
{
    const uint32_t mask = kn_mask_of(op, w);
    set_words(KN_REGISTER(uint32_t, op->d), mask, mask);
    KN_NEXT;
}

// Elects the lowest member.
KN_OPERATION(elect)
{
    const uint32_t mask = kn_mask_of(op, w);
    const uint32_t *members = KN_REGISTER(uint32_t, op->a);
    uint32_t leaders = 0;
    EACH_GROUP(members, mask, group, with)
    {
        const uint32_t leader = with & -with;
        leaders |= leader;
        set_words(KN_REGISTER(uint32_t, op->d), group, with ? (uint32_t)kn_lowest(with) : 0);
    }
    set_predicate(w, op->more[0], mask, leaders);
    KN_NEXT;
}

const struct kn_form KN_FAMILY(warp)[] = {
    KN_ROW_OF(shfl_up, "shfl.up.32", "wp=www"),
    KN_ROW_OF(shfl_down, "shfl.down.32", "wp=www"),
    KN_ROW_OF(shfl_bfly, "shfl.bfly.32", "wp=www"),
    KN_ROW_OF(shfl_idx, "shfl.idx.32", "wp=www"),
    KN_ROW_OF(vote_all, "vote.all", "p=pw"),
    KN_ROW_OF(vote_any, "vote.any", "p=pw"),
    KN_ROW_OF(vote_uni, "vote.uni", "p=pw"),
    KN_ROW_OF(vote_ballot, "vote.ballot", "w=pw"),
    KN_ROW_OF(match_any_32, "match.any.32", "w=ww"),
    KN_ROW_OF(match_any_64, "match.any.64", "w=lw"),
    KN_ROW_OF(match_all_32, "match.all.32", "wp=ww"),
    KN_ROW_OF(match_all_64, "match.all.64", "wp=lw"),
    KN_ROW_OF(redux_add, "redux.add.32", "w=ww"),
    KN_ROW_OF(redux_and, "redux.and.32", "w=ww"),
    KN_ROW_OF(redux_or, "redux.or.32", "w=ww"),
    KN_ROW_OF(redux_xor, "redux.xor.32", "w=ww"),
    KN_ROW_OF(redux_min_u32, "redux.min.u32", "w=ww"),
    KN_ROW_OF(redux_max_u32, "redux.max.u32", "w=ww"),
    KN_ROW_OF(redux_min_s32, "redux.min.s32", "w=ww"),
    KN_ROW_OF(redux_max_s32, "redux.max.s32", "w=ww"),
    KN_ROW_OF(activemask, "activemask", "w="),
    KN_ROW_OF(elect, "elect", "wp=w"),
    {0},
};
