// SPDX-License-Identifier: MIT
// The conversion family, once for every instruction set.
//
// The file that includes this one has defined
//   LANES              32-bit values in a register
//   VF, VI, vi4        the types of a register of floats and of integers, and of four VI
//   CONVERT_SUFFIX()   the name of a function of this set
//   CONVERT_SMALL()    the functions for rows that are too short for this set
//   v_*()              the operations used below
//
// Every function works on four registers at a time, so that narrow results fill a whole register.
// If the length of a row is not a multiple of that, the last step overlaps the one before; rows
// never overlap each other.
#define STEP (4 * LANES)

#define EACH(i) _Pragma("GCC unroll 4") for (unsigned i = 0; i < 4; i++)

// The quotient v / scale, rounded once, by a reciprocal in two floats. Exact for every integer that
// is decoded here (the tests try all).
#define RECIPROCAL(scale) ((float)(1.0 / (scale)))
#define RECIPROCAL_REST(scale) ((float)(1.0 / (scale)-RECIPROCAL(scale)))
#define V_QUOTIENT(f, scale)                                                                       \
    v_fma(f, v_set(RECIPROCAL(scale)), v_mul(f, v_set(RECIPROCAL_REST(scale))))

// v * scale to the nearest integer, ties to even, rounded once: the sum has no bits for a fraction.
// |v * scale| < 2^22.
#define ROUNDER 0x1.8p23f
#define ROUNDER_BITS 0x4b400000
KN_INLINE VI v_scaled(VF v, VF scale)
{
    return v_sub(v_bits(v_fma(v, scale, v_set(ROUNDER))), v_seti(ROUNDER_BITS));
}

#define DECODE(name, in_B, load, out)                                                              \
    KN_INLINE void step_decode_##name(uint8_t *dst, const uint8_t *src)                            \
    {                                                                                              \
        struct vi4 n = load(src);                                                                  \
        EACH(i)                                                                                    \
        {                                                                                          \
            VI v = n.v[i];                                                                         \
            out;                                                                                   \
        }                                                                                          \
    }                                                                                              \
    ROW(decode_##name, in_B, 4)

#define ENCODE(name, out_B, store, operation)                                                      \
    KN_INLINE void step_encode_##name(uint8_t *dst, const uint8_t *src)                            \
    {                                                                                              \
        struct vi4 n;                                                                              \
        EACH(i) n.v[i] = operation;                                                                \
        store(dst, n);                                                                             \
    }                                                                                              \
    ROW(encode_##name, 4, out_B)

// Distance at which the destination is prefetched (docs/internals/conversion.md); 0 if it is not.
// Lines after the row are never prefetched.
#ifndef CONVERT_PREFETCH_B
#define CONVERT_PREFETCH_B 0
#endif
#define ROW_STEPS(step, in_B, out_B)                                                               \
    do {                                                                                           \
        uint64_t i_ = 0;                                                                           \
        for (; CONVERT_PREFETCH_B && i_ + STEP + CONVERT_PREFETCH_B / (out_B) <= count;            \
             i_ += STEP) {                                                                         \
            uint8_t *d_ = (uint8_t *)dst + i_ * (out_B);                                           \
            for (unsigned line_ = 0; line_ < STEP * (out_B); line_ += 64)                          \
                __builtin_prefetch(d_ + CONVERT_PREFETCH_B + line_, 1, 3);                         \
            step(d_, (const uint8_t *)src + i_ * (in_B));                                          \
        }                                                                                          \
        for (; i_ + STEP <= count; i_ += STEP)                                                     \
            step((uint8_t *)dst + i_ * (out_B), (const uint8_t *)src + i_ * (in_B));               \
        if (i_ < count)                                                                            \
            step((uint8_t *)dst + (count - STEP) * (out_B),                                        \
                 (const uint8_t *)src + (count - STEP) * (in_B));                                  \
    } while (0)

#define ROW(name, in_B, out_B)                                                                     \
    void CONVERT_SUFFIX(kn_##name)(void *dst, const void *src, uint64_t count, unsigned channels)  \
    {                                                                                              \
        if (count < STEP)                                                                          \
            CONVERT_SMALL(kn_##name)(dst, src, count, channels);                                   \
        else                                                                                       \
            ROW_STEPS(step_##name, in_B, out_B);                                                   \
    }

// sRGB: four channels need a step of their own, because alpha is linear.
#define ROW_SRGB(name, in_B, out_B)                                                                \
    void CONVERT_SUFFIX(kn_##name##_srgb8)(void *dst, const void *src, uint64_t count,             \
                                           unsigned channels)                                      \
    {                                                                                              \
        if (count < STEP)                                                                          \
            CONVERT_SMALL(kn_##name##_srgb8)(dst, src, count, channels);                           \
        else if (channels == 4)                                                                    \
            ROW_STEPS(step_##name##_srgba8, in_B, out_B);                                          \
        else                                                                                       \
            ROW_STEPS(step_##name##_srgb8, in_B, out_B);                                           \
    }

#define CAST(name, operation)                                                                      \
    KN_INLINE void step_cast_##name(uint8_t *dst, const uint8_t *src)                              \
    {                                                                                              \
        EACH(i) operation;                                                                         \
    }                                                                                              \
    void CONVERT_SUFFIX(kn_cast_##name)(void *dst, const void *src, uint64_t count)                \
    {                                                                                              \
        if (count < STEP)                                                                          \
            CONVERT_SMALL(kn_cast_##name)(dst, src, count);                                        \
        else                                                                                       \
            ROW_STEPS(step_cast_##name, 4, 4);                                                     \
    }

#define PUT(x) v_storef(dst + i * 4 * LANES, x)
#define PUTI(x) v_storei(dst + i * 4 * LANES, x)
#define GET v_loadf(src + i * 4 * LANES)
#define GETI v_loadi(src + i * 4 * LANES)

DECODE(unorm8, 1, load_u8, PUT(V_QUOTIENT(v_float(v), 255)))
DECODE(unorm16, 2, load_u16, PUT(V_QUOTIENT(v_float(v), 65535)))
DECODE(snorm8, 1, load_s8, PUT(v_max(V_QUOTIENT(v_float(v), 127), v_set(-1.0f))))
DECODE(snorm16, 2, load_s16, PUT(v_max(V_QUOTIENT(v_float(v), 32767), v_set(-1.0f))))
DECODE(uint8, 1, load_u8, PUTI(v))
DECODE(uint16, 2, load_u16, PUTI(v))
DECODE(sint8, 1, load_s8, PUTI(v))
DECODE(sint16, 2, load_s16, PUTI(v))

ENCODE(unorm8, 1, store_u8, v_scaled(v_clamp01(GET), v_set(255)))
ENCODE(unorm16, 2, store_u16, v_scaled(v_clamp01(GET), v_set(65535)))
ENCODE(snorm8, 1, store_s8, v_scaled(v_clamp11(GET), v_set(127)))
ENCODE(snorm16, 2, store_s16, v_scaled(v_clamp11(GET), v_set(32767)))
ENCODE(uint8, 1, store_u8, v_minu(GETI, v_seti(UINT8_MAX)))
ENCODE(uint16, 2, store_u16, v_minu(GETI, v_seti(UINT16_MAX)))
ENCODE(sint8, 1, store_s8, GETI)
ENCODE(sint16, 2, store_s16, GETI)

CAST(float_uint, PUT(v_floatu(GETI)))
CAST(float_sint, PUT(v_float(GETI)))
CAST(uint_float, PUTI(v_to_uint(GET)))
CAST(sint_float, PUTI(v_to_sint(GET)))
CAST(uint_sint, PUTI(v_maxs(GETI, v_seti(0))))
CAST(sint_uint, PUTI(v_minu(GETI, v_seti(INT32_MAX))))

KN_INLINE void step_decode_half(uint8_t *dst, const uint8_t *src)
{
    EACH(i) PUT(v_load_half(src + i * 2 * LANES));
}
ROW(decode_half, 2, 4)

KN_INLINE void step_encode_half(uint8_t *dst, const uint8_t *src)
{
    EACH(i) v_store_half(dst + i * 2 * LANES, GET);
}
ROW(encode_half, 4, 2)

// A register of 10-10-10-2 elements becomes four registers of channels: each element is copied to
// four lanes, then shifted and masked there.
KN_INLINE void step_decode_unorm10_2(uint8_t *dst, const uint8_t *src)
{
    VI pixels = v_loadi(src);
    VF high = v_set4(RECIPROCAL(1023), RECIPROCAL(3)),
       rest = v_set4(RECIPROCAL_REST(1023), RECIPROCAL_REST(3));

    EACH(i)
    {
        VF f = v_float(v_fields(v_spread(pixels, i)));
        PUT(v_fma(f, high, v_mul(f, rest)));
    }
}
ROW(decode_unorm10_2, 1, 4)

KN_INLINE void step_encode_unorm10_2(uint8_t *dst, const uint8_t *src)
{
    struct vi4 n;

    EACH(i) n.v[i] = v_place(v_scaled(v_clamp01(GET), v_set4(1023, 3)));
    v_storei(dst, v_join(n));
}
ROW(encode_unorm10_2, 4, 1)

// Decodes one value at a time; the second half of the table is for alpha. The barriers prevent the
// compiler from making gathers of it, which are slower than this on processors with the microcode
// fix for data sampling.
KN_INLINE void decode_eight(uint8_t *dst, const uint8_t *src, unsigned alpha)
{
    uint64_t n;

    memcpy(&n, src, 8);
    _Pragma("GCC unroll 8") for (unsigned i = 0; i < 8; i++)
    {
        uint32_t bits = kn_srgb_decode_bits[(n >> (8 * i) & 0xff) + ((i & 3) == 3 ? alpha : 0)];
        __asm__("" : "+r"(bits));
        memcpy(dst + 4 * i, &bits, 4);
    }
}

// If the set has a decoder with permutations, it handles V_SRGB_REGISTERS of the four registers,
// because the look-ups use other ports.
#ifndef V_SRGB
#define V_SRGB_REGISTERS 0
#define V_SRGB(n) (n)
#endif
KN_INLINE void step_decode_srgb8(uint8_t *dst, const uint8_t *src)
{
    struct vi4 n = load_u8(src);

    for (unsigned i = V_SRGB_REGISTERS * LANES; i < STEP; i += 8)
        decode_eight(dst + 4 * i, src + i, 0);
    for (int i = 0; i < V_SRGB_REGISTERS; i++)
        PUTI(V_SRGB(n.v[i]));
}

KN_INLINE void step_decode_srgba8(uint8_t *dst, const uint8_t *src)
{
    struct vi4 n = load_u8(src);

    for (unsigned i = V_SRGB_REGISTERS * LANES; i < STEP; i += 8)
        decode_eight(dst + 4 * i, src + i, 256);
    for (int i = 0; i < V_SRGB_REGISTERS; i++)
        PUTI(v_with_alpha(V_SRGB(n.v[i]), v_bits(V_QUOTIENT(v_float(n.v[i]), 255))));
}
ROW_SRGB(decode, 1, 4)

#ifndef SRGB_ENCODED_ELSEWHERE
// Clamps the floats of a step to the range of the table. Their upper halves are the indices. The
// entries are loaded one by one, for the same reason as above.
KN_INLINE struct vi4 srgb_codes(const uint8_t *src)
{
    _Alignas(64) uint8_t bits[4 * STEP], entries[4 * STEP];
    struct vi4 n;

    EACH(i)
    {
        VF clamped =
            v_min(v_above(GET, v_setf_bits(KN_SRGB_FIRST_BITS)), v_setf_bits(KN_SRGB_LAST_BITS));
        n.v[i] = v_sub(v_bits(clamped), v_seti(KN_SRGB_FIRST_BITS));
        v_storei(bits + i * 4 * LANES, n.v[i]);
    }
    _Pragma("GCC unroll 16") for (unsigned i = 0; i < STEP; i++)
    {
        uint16_t piece;
        uint32_t entry;
        memcpy(&piece, bits + 4 * i + 2, 2);
        entry = kn_srgb_encode_entries[piece];
        __asm__("" : "+r"(entry));
        memcpy(entries + 4 * i, &entry, 4);
    }
    EACH(i)
    n.v[i] =
        v_shift_right16(v_add(v_loadi(entries + i * 4 * LANES), v_and(n.v[i], v_seti(0xffff))));
    return n;
}

KN_INLINE void step_encode_srgb8(uint8_t *dst, const uint8_t *src)
{
    store_u8(dst, srgb_codes(src));
}

KN_INLINE void step_encode_srgba8(uint8_t *dst, const uint8_t *src)
{
    struct vi4 n = srgb_codes(src);

    EACH(i) n.v[i] = v_with_alpha(n.v[i], v_scaled(v_clamp01(GET), v_set(255)));
    store_u8(dst, n);
}
ROW_SRGB(encode, 4, 1)
#endif
