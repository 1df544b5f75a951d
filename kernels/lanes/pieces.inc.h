// SPDX-License-Identifier: MIT
// Loads of whole registers of 32 bits whose addresses are pieces, scattered or uniform.
#pragma once

#include "address.inc.h"

// Whole registers of pieces, which are written as vectors as long as those that are read later: a
// processor does not pass the parts of several stores on to one load. Lanes read in their order, so
// that the lowest one that fails is reported.
#if defined(__AVX2__)
enum { KN_LOADS_QUICKLY = true };

static inline __m256i kn_piece(const struct kn_warp *w, struct kn_place place, int p)
{
    const int *from = (const int *)(uintptr_t)w->addresses[KN_PIECE * p];
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const __m256i values = kn_has_piece(place.uniform, p)
                               ? _mm256_set1_epi32(*from)
                               : _mm256_loadu_si256((const __m256i *)from);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return values;
}

static inline __m256i kn_scattered(const struct kn_warp *w, int p)
{
    int x[KN_PIECE];
#pragma GCC unroll 8
    for (int i = 0; i < KN_PIECE; i++)
        x[i] = *(const volatile int *)(uintptr_t)w->addresses[KN_PIECE * p + i];
    return _mm256_set_epi32(x[7], x[6], x[5], x[4], x[3], x[2], x[1], x[0]);
}

static inline void kn_put(uint32_t *d, __m256i low, __m256i high)
{
#if defined(__AVX512DQ__)
    _mm512_store_si512(d, _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
#else
    _mm256_store_si256((__m256i *)d, low);
    _mm256_store_si256((__m256i *)(d + KN_PIECE), high);
#endif
}

// Four consecutive values to four registers, each for all lanes.
static inline void kn_load_uniform(const struct kn_op *op, struct kn_warp *w, const char *first)
{
    const int *from = (const int *)(const void *)first;
    const __m256i x = _mm256_set1_epi32(from[0]), y = _mm256_set1_epi32(from[1]);
    const __m256i z = _mm256_set1_epi32(from[2]), last = _mm256_set1_epi32(from[3]);
    for (int p = 0; p < KN_PIECES; p += 2) {
        kn_put(KN_REGISTER(uint32_t, op->d) + KN_PIECE * p, x, x);
        kn_put(KN_REGISTER(uint32_t, op->more[0]) + KN_PIECE * p, y, y);
        kn_put(KN_REGISTER(uint32_t, op->more[1]) + KN_PIECE * p, z, z);
        kn_put(KN_REGISTER(uint32_t, op->more[2]) + KN_PIECE * p, last, last);
    }
}

static inline bool kn_load_quickly(struct kn_warp *w, uint32_t *d, struct kn_place place)
{
    const bool pieces = place.kind == KN_PLACE_PIECES;
    for (int p = 0; p < KN_PIECES; p += 2) {
        const __m256i low = pieces ? kn_piece(w, place, p) : kn_scattered(w, p);
        const __m256i high = pieces ? kn_piece(w, place, p + 1) : kn_scattered(w, p + 1);
        kn_put(d + KN_PIECE * p, low, high);
    }
    return true;
}
#else
enum { KN_LOADS_QUICKLY = false };

static inline bool kn_load_quickly(struct kn_warp *w, uint32_t *d, struct kn_place place)
{
    (void)w;
    (void)d;
    (void)place;
    return false;
}

static inline void kn_load_uniform(const struct kn_op *op, struct kn_warp *w, const char *first)
{
    (void)op;
    (void)w;
    (void)first;
}
#endif
