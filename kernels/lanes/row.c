// SPDX-License-Identifier: MIT
// Accesses of shared memory whose addresses are known to have a pattern in each row of a warp
// (kn_warp.row): elements of 4 bytes that follow each other ("row"), or one element ("same"). The
// first address of each row is enough to know all of them. Loads can begin or keep a chain.
//
//     block of 16 x 16     lane 0 … 15, threadIdx.y = 0       lane 16 … 31, threadIdx.y = 1
//     s[k][threadIdx.x]    s[k][0], s[k][1] … s[k][15]        s[k][0], s[k][1] … s[k][15]
//     s[threadIdx.y][k]    s[0][k]                            s[1][k]
#include "chain.inc.h"
#include "pieces.inc.h"

#include <string.h>

#include "families.h"

enum { ELEMENT_B = sizeof(uint32_t) };
enum pattern { ROW, SAME };

// ---- any addresses ----

KN_OUT_OF_LINE struct kn_place shared_place(const struct kn_op *op, struct kn_warp *w,
                                            uint32_t mask, bool write)
{
    struct kn_place place = {0};
    if (mask == UINT32_MAX)
        place = kn_shared_quickly(op, w, ELEMENT_B);
    if (mask == UINT32_MAX && place.kind == KN_PLACE_FAULT)
        place = kn_shared_pieces(op, w, ELEMENT_B, KN_LOADS_QUICKLY && !write);
    return place.kind == KN_PLACE_FAULT ? kn_shared(op, w, mask, ELEMENT_B, ELEMENT_B, write)
                                        : place;
}

static inline void *shared_element(const struct kn_warp *w, struct kn_place place, int i)
{
    if (place.kind == KN_PLACE_CONSECUTIVE)
        return place.first + i * ELEMENT_B;
    return place.kind == KN_PLACE_UNIFORM ? place.first : (char *)(uintptr_t)w->addresses[i];
}

// Loads for the lanes of a mask. Returns false after a fault.
KN_OUT_OF_LINE bool shared_load(const struct kn_op *op, struct kn_warp *w, uint32_t mask,
                                uint32_t *to)
{
    const struct kn_place place = shared_place(op, w, mask, false);
    if (place.kind == KN_PLACE_FAULT)
        return false;
    if (mask == UINT32_MAX && (place.kind == KN_PLACE_PIECES || place.kind == KN_PLACE_SCATTERED) &&
        kn_load_quickly(w, to, place))
        return true;
    KN_EACH_OF(mask, i)
    to[i] = *(const uint32_t *)shared_element(w, place, i);
    return true;
}

// The lanes write in their order, so that the highest one wins if several write one address.
KN_OUT_OF_LINE bool shared_store(const struct kn_op *op, struct kn_warp *w, uint32_t mask)
{
    const struct kn_place place = shared_place(op, w, mask, true);
    const uint32_t *from = KN_REGISTER(uint32_t, op->b);
    if (place.kind == KN_PLACE_FAULT)
        return false;
    KN_EACH_OF(mask, i)
    *(uint32_t *)shared_element(w, place, i) = from[i];
    return true;
}

// ---- the known pattern, for some lanes ----

// The place of lane 0's element, if those of all lanes of a mask are one row, or one element, in
// shared memory; or 0. There may be no lane 0.
KN_INLINE uintptr_t row_place(const struct kn_op *op, const struct kn_warp *w, uint32_t mask,
                              enum pattern pattern)
{
    const uint32_t lowest = (uint32_t)kn_lowest(mask), highest = 31 - (uint32_t)__builtin_clz(mask);
    const uint32_t at = KN_REGISTER(uint32_t, op->a)[lowest] + (uint32_t)op->u;
    const uint32_t size_B = pattern == SAME ? ELEMENT_B : (highest - lowest + 1) * ELEMENT_B;
    const struct kn_memory *m = w->memory;
    if (w->row != KN_LANES || at >= m->shared_B || m->shared_B - at < size_B || at % ELEMENT_B)
        return 0;
    return (uintptr_t)m->shared + at - (pattern == SAME ? 0 : lowest * ELEMENT_B);
}

// `on` are the lanes of the mask, 0 or -1 a lane.
KN_INLINE void row_load_masked(uint32_t *to, uintptr_t from, uint32_t mask, const int32_t *on)
{
#if defined(__AVX512DQ__)
    (void)on;
    for (int i = 0; i < KN_LANES; i += 16) {
        const __m512i before = _mm512_load_si512(to + i);
        const void *at = (const void *)(from + (unsigned)i * ELEMENT_B);
        _mm512_store_si512(to + i, _mm512_mask_loadu_epi32(before, (__mmask16)(mask >> i), at));
    }
#elif defined(__AVX2__)
    (void)mask;
    for (int i = 0; i < KN_LANES; i += 8) {
        const __m256i is = _mm256_load_si256((const __m256i *)(on + i));
        const __m256i before = _mm256_load_si256((const __m256i *)(to + i));
        const __m256i value =
            _mm256_maskload_epi32((const int *)(from + (unsigned)i * ELEMENT_B), is);
        _mm256_store_si256((__m256i *)(to + i), _mm256_blendv_epi8(before, value, is));
    }
#else
    (void)on;
    KN_EACH_OF(mask, i)
    to[i] = *(const uint32_t *)(from + (unsigned)i * ELEMENT_B);
#endif
}

KN_INLINE void row_store_masked(uintptr_t to, const uint32_t *from, uint32_t mask)
{
#if defined(__AVX512DQ__)
    for (int i = 0; i < KN_LANES; i += 16)
        _mm512_mask_storeu_epi32((void *)(to + (unsigned)i * ELEMENT_B), (__mmask16)(mask >> i),
                                 _mm512_load_si512(from + i));
#else
    // Stores with a mask of lanes take AMD's processors 20 cycles.
    KN_EACH_OF(mask, i)
    *(uint32_t *)(to + (unsigned)i * ELEMENT_B) = from[i];
#endif
}

KN_OUT_OF_LINE bool row_load_some(const struct kn_op *op, struct kn_warp *w, enum pattern pattern,
                                  uint32_t mask, uint32_t *to)
{
    const uintptr_t from = row_place(op, w, mask, pattern);
    if (!from)
        return shared_load(op, w, mask, to);
    if (pattern == ROW) {
        row_load_masked(to, from, mask, kn_lanes_of(op, w));
    } else {
        const uint32_t value = *(const uint32_t *)from;
        KN_EACH_OF(mask, i)
        to[i] = value;
    }
    return true;
}

KN_OUT_OF_LINE bool row_store_some(const struct kn_op *op, struct kn_warp *w, uint32_t mask)
{
    const uintptr_t to = row_place(op, w, mask, ROW);
    if (!to)
        return shared_store(op, w, mask);
    row_store_masked(to, KN_REGISTER(uint32_t, op->b), mask);
    return true;
}

// ---- the known pattern ----

// Whether the elements of all rows are in shared memory.
KN_INLINE bool rows_are_inside(const struct kn_op *op, const struct kn_warp *w, int row,
                               enum pattern pattern)
{
    const uint32_t *a = KN_REGISTER(uint32_t, op->a), shared_B = w->memory->shared_B;
    const uint32_t row_B = pattern == SAME ? ELEMENT_B : (uint32_t)row * ELEMENT_B;
    uint32_t bits = 0, most = 0;
    for (int i = 0; i < KN_LANES; i += row) {
        const uint32_t at = a[i] + (uint32_t)op->u;
        bits |= at;
        most = at > most ? at : most;
    }
    return !(bits % ELEMENT_B) && most < shared_B && shared_B - most >= row_B;
}

// The element of the first lane of a row.
KN_INLINE uint32_t *row_first(const struct kn_op *op, const struct kn_warp *w, int lane)
{
    const uint32_t at = KN_REGISTER(uint32_t, op->a)[lane] + (uint32_t)op->u;
    return (uint32_t *)(void *)(w->memory->shared + at);
}

#if KN_HAVE_CHAINS
enum { PART_LANES = KN_LANES / KN_PARTS };

KN_INLINE kn_bits same_part(uint32_t value)
{
    return (kn_bits){0} + value;
}

KN_INLINE kn_bits row_part(const uint32_t *from)
{
    kn_bits value;
    memcpy(&value, from, sizeof value);
    return value;
}

// The values of part `p`. Parts of 16 lanes may have two rows.
KN_INLINE kn_bits row_part_of(const struct kn_op *op, const struct kn_warp *w, int row,
                              enum pattern pattern, int p)
{
    const int lane = p * PART_LANES, first = lane / row * row;
    const uint32_t *from = row_first(op, w, first);
#if defined(__AVX512DQ__)
    if (row < PART_LANES) {
        const uint32_t *next = row_first(op, w, first + row);
        if (pattern == SAME)
            return (kn_bits)_mm512_mask_set1_epi32(_mm512_set1_epi32((int)*from), 0xff00,
                                                   (int)*next);
        const __m256i low = _mm256_loadu_si256((const void *)from);
        const __m256i high = _mm256_loadu_si256((const void *)next);
        return (kn_bits)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    }
#endif
    return pattern == SAME ? same_part(*from) : row_part(from + (lane - first));
}

KN_INLINE bool rows_load_parts(const struct kn_op *op, const struct kn_warp *w, int row,
                               enum pattern pattern, kn_bits *value)
{
    if (!rows_are_inside(op, w, row, pattern))
        return false;
    KN_EACH_PART
    value[p] = row_part_of(op, w, row, pattern, p);
    return true;
}

KN_INLINE bool rows_load(const struct kn_op *op, const struct kn_warp *w, enum pattern pattern,
                         kn_bits *value)
{
    switch (w->row) {
    case 32:
        return rows_load_parts(op, w, 32, pattern, value);
    case 16:
        return rows_load_parts(op, w, 16, pattern, value);
    case 8:
        return rows_load_parts(op, w, 8, pattern, value);
    default:
        return false;
    }
}

KN_INLINE bool rows_load_quickly(const struct kn_op *op, const struct kn_warp *w,
                                 enum pattern pattern)
{
    kn_bits value[KN_PARTS], *to = (kn_bits *)(void *)KN_REGISTER(uint32_t, op->d);
    if (!rows_load(op, w, pattern, value))
        return false;
    KN_EACH_PART
    to[p] = value[p];
    return true;
}

// A link, after one that has the value `before` or none. If some lanes are not active, nothing is
// known of their addresses.
KN_INLINE const struct kn_op *load_link(const struct kn_op *op, struct kn_warp *w,
                                        enum pattern pattern, const kn_bits *before,
                                        enum kn_link link)
{
    kn_bits value[KN_PARTS];
    if (__builtin_expect(w->partial || !rows_load(op, w, pattern, value), 0)) {
        uint32_t *scratch = (uint32_t *)(void *)w->guard_lanes; // which operations with guards use
        if (!row_load_some(op, w, pattern, w->active, scratch))
            return NULL;
        KN_EACH_PART
        value[p] = ((const kn_bits *)(const void *)scratch)[p];
    }
    if (link != KN_LINK_PASS)
        kn_put_parts(w, op->d, value);
    return kn_link_next(op, w, link == KN_LINK_KEEP ? before : value, link);
}

#define LOAD_LINKS(name, pattern)                                                                  \
    KN_INLINE const struct kn_op *name##_link(const struct kn_op *op, struct kn_warp *w,           \
                                              const kn_bits *before, const unsigned in,            \
                                              const enum kn_link link)                             \
    {                                                                                              \
        (void)in;                                                                                  \
        return load_link(op, w, pattern, before, link);                                            \
    }                                                                                              \
    KN_LINK_FIRST(name, PASS)                                                                      \
    KN_LINK_FIRST(name, BOTH)                                                                      \
    KN_LINK_IN(name, 0, KEEP)
#else
KN_INLINE bool rows_load_each(const struct kn_op *op, const struct kn_warp *w, int row,
                              enum pattern pattern)
{
    uint32_t *d = KN_REGISTER(uint32_t, op->d);
    if (!rows_are_inside(op, w, row, pattern))
        return false;
    uint32_t values[KN_LANES];
    for (int lane = 0; lane < KN_LANES; lane += row) {
        const uint32_t *from = row_first(op, w, lane);
        for (int i = 0; i < row; i++)
            values[lane + i] = from[pattern == SAME ? 0 : i];
    }
    memcpy(d, values, sizeof values);
    return true;
}

KN_INLINE bool rows_load_quickly(const struct kn_op *op, const struct kn_warp *w,
                                 enum pattern pattern)
{
    switch (w->row) {
    case 32:
        return rows_load_each(op, w, 32, pattern);
    case 16:
        return rows_load_each(op, w, 16, pattern);
    case 8:
        return rows_load_each(op, w, 8, pattern);
    default:
        return false;
    }
}
#endif

KN_INLINE bool rows_store(const struct kn_op *op, const struct kn_warp *w, int row)
{
    const uint32_t *from = KN_REGISTER(uint32_t, op->b);
    if (!rows_are_inside(op, w, row, ROW))
        return false;
    for (int lane = 0; lane < KN_LANES; lane += row)
        memcpy(row_first(op, w, lane), from + lane, (size_t)row * ELEMENT_B);
    return true;
}

KN_INLINE bool rows_store_quickly(const struct kn_op *op, const struct kn_warp *w)
{
    switch (w->row) {
    case 32:
        return rows_store(op, w, 32);
    case 16:
        return rows_store(op, w, 16);
    case 8:
        return rows_store(op, w, 8);
    default:
        return false;
    }
}

// ---- forms ----

#define LOAD(name, pattern)                                                                        \
    KN_OPERATION(name##_all)                                                                       \
    {                                                                                              \
        if (__builtin_expect(!rows_load_quickly(op, w, pattern), 0) &&                             \
            !shared_load(op, w, UINT32_MAX, KN_REGISTER(uint32_t, op->d)))                         \
            return NULL;                                                                           \
        KN_NEXT;                                                                                   \
    }                                                                                              \
    KN_OPERATION(name##_some)                                                                      \
    {                                                                                              \
        const uint32_t mask = kn_mask_of(op, w);                                                   \
        if (mask && !row_load_some(op, w, pattern, mask, KN_REGISTER(uint32_t, op->d)))            \
            return NULL;                                                                           \
        KN_NEXT;                                                                                   \
    }
LOAD(load_row, ROW)
LOAD(load_same, SAME)

KN_OPERATION(store_row_all)
{
    if (__builtin_expect(!rows_store_quickly(op, w), 0) && !shared_store(op, w, UINT32_MAX))
        return NULL;
    KN_NEXT;
}

KN_OPERATION(store_row_some)
{
    const uint32_t mask = kn_mask_of(op, w);
    if (mask && !row_store_some(op, w, mask))
        return NULL;
    KN_NEXT;
}

const struct kn_form KN_FAMILY(row)[] = {
    KN_ROW(load_row, "ld.shared.32:32.row", "w=wi"),
    KN_ROW(load_same, "ld.shared.32:32.same", "w=wi"),
    KN_ROW(store_row, "st.shared.32:32.row", "=wwi"),
    {0},
};

#if KN_HAVE_CHAINS
LOAD_LINKS(load_row, ROW)
LOAD_LINKS(load_same, SAME)
#define LOAD_CHAIN(name, text)                                                                     \
    {                                                                                              \
        .form = text, .run = {                                                                     \
            [KN_LINK_PASS] = {KN_LINK(name##_0_PASS)},                                             \
            [KN_LINK_BOTH] = {KN_LINK(name##_0_BOTH)},                                             \
            [KN_LINK_KEEP] = {KN_LINK(name##_0_KEEP)},                                             \
        }                                                                                          \
    }
const struct kn_chain KN_JOIN(kn_chains_row, KN_SET)[] = {
    LOAD_CHAIN(load_row, "ld.shared.32:32.row"),
    LOAD_CHAIN(load_same, "ld.shared.32:32.same"),
    {0},
};
#else
const struct kn_chain KN_JOIN(kn_chains_row, KN_SET)[] = {{0}};
#endif
