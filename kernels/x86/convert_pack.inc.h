// SPDX-License-Identifier: MIT
// Widening and narrowing for both register widths.
//
// The file that includes this one has defined
//   LANES, VI, v_storei(), v_or()     as for convert.inc.h
//   MM()                              the name of an intrinsic of this width
//   LOAD_LANES(), LOAD_2LANES()       load LANES and 2 * LANES bytes
//   IN_ORDER8(), IN_ORDER16()         put the pieces of two packs, or of one, in order
//
// Packs and unpacks work within 16 bytes, so their results are out of order.
struct vi4 {
    VI v[4];
};

#define LOAD(name, one)                                                                            \
    KN_INLINE struct vi4 name(const uint8_t *p)                                                    \
    {                                                                                              \
        struct vi4 n;                                                                              \
        for (unsigned i = 0; i < 4; i++)                                                           \
            n.v[i] = one;                                                                          \
        return n;                                                                                  \
    }
LOAD(load_u8, MM(cvtepu8_epi32)(LOAD_LANES(p + LANES * i)))
LOAD(load_s8, MM(cvtepi8_epi32)(LOAD_LANES(p + LANES * i)))
LOAD(load_u16, MM(cvtepu16_epi32)(LOAD_2LANES(p + 2 * LANES * i)))
LOAD(load_s16, MM(cvtepi16_epi32)(LOAD_2LANES(p + 2 * LANES * i)))

KN_INLINE void store_u8(uint8_t *p, struct vi4 n)
{
    v_storei(p, IN_ORDER8(MM(packus_epi16)(MM(packus_epi32)(n.v[0], n.v[1]),
                                           MM(packus_epi32)(n.v[2], n.v[3]))));
}

KN_INLINE void store_s8(uint8_t *p, struct vi4 n)
{
    v_storei(p, IN_ORDER8(MM(packs_epi16)(MM(packs_epi32)(n.v[0], n.v[1]),
                                          MM(packs_epi32)(n.v[2], n.v[3]))));
}

KN_INLINE void store_u16(uint8_t *p, struct vi4 n)
{
    v_storei(p, IN_ORDER16(MM(packus_epi32)(n.v[0], n.v[1])));
    v_storei(p + 4 * LANES, IN_ORDER16(MM(packus_epi32)(n.v[2], n.v[3])));
}

KN_INLINE void store_s16(uint8_t *p, struct vi4 n)
{
    v_storei(p, IN_ORDER16(MM(packs_epi32)(n.v[0], n.v[1])));
    v_storei(p + 4 * LANES, IN_ORDER16(MM(packs_epi32)(n.v[2], n.v[3])));
}

// Combines each four lanes to one, by or. Register i has the elements from i * LANES / 4 on.
KN_INLINE VI v_join(struct vi4 n)
{
    VI a = v_or(MM(unpacklo_epi32)(n.v[0], n.v[1]), MM(unpackhi_epi32)(n.v[0], n.v[1]));
    VI b = v_or(MM(unpacklo_epi32)(n.v[2], n.v[3]), MM(unpackhi_epi32)(n.v[2], n.v[3]));

    return IN_ORDER8(v_or(MM(unpacklo_epi64)(a, b), MM(unpackhi_epi64)(a, b)));
}
