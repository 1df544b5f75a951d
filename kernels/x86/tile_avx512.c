// SPDX-License-Identifier: MIT
// The tile family with 64-byte registers. A 64-byte line of a GOB is a 16-byte column of four rows: four rows of 64 bytes
// become four lines by transposing a 4 x 4 matrix of 16-byte lanes, which is its own inverse. Half the work is done by loads
// that insert 32 bytes, since one shuffle a cycle is all there is. Parts of a GOB take the same way with byte masks.
#include "kn_x86.h"
#include "small.h"

#include <immintrin.h>

struct lines {
    __m512i l[4];
};

KN_INLINE __m512i pair(const uint8_t *low, const uint8_t *high)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)low)), _mm256_loadu_si256((const __m256i *)high), 1);
}

// Four vectors of 64 bytes, transposed.
KN_INLINE struct lines load_transposed(const uint8_t *p0, const uint8_t *p1, const uint8_t *p2, const uint8_t *p3)
{
    __m512i a = pair(p0, p1), b = pair(p2, p3), c = pair(p0 + 32, p1 + 32), d = pair(p2 + 32, p3 + 32);

    return (struct lines){
        {_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xdd), _mm512_shuffle_i64x2(c, d, 0x88), _mm512_shuffle_i64x2(c, d, 0xdd)}};
}

KN_INLINE struct lines transpose(struct lines v)
{
    __m512i a = _mm512_shuffle_i64x2(v.l[0], v.l[1], 0x44), b = _mm512_shuffle_i64x2(v.l[2], v.l[3], 0x44);
    __m512i c = _mm512_shuffle_i64x2(v.l[0], v.l[1], 0xee), d = _mm512_shuffle_i64x2(v.l[2], v.l[3], 0xee);

    return (struct lines){
        {_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xdd), _mm512_shuffle_i64x2(c, d, 0x88), _mm512_shuffle_i64x2(c, d, 0xdd)}};
}

KN_INLINE void put(uint8_t *p, __m512i v, int stream)
{
    if (stream)
        _mm512_stream_si512((__m512i *)p, v);
    else
        _mm512_storeu_si512(p, v);
}

// Lines of the four rows from row 4 * half on: 128 * half + 0, 64, 256, 320.
KN_INLINE unsigned line_B(unsigned column)
{
    return (column & 2) << 7 | (column & 1) << 6;
}

KN_INLINE void gob_tile(uint8_t *gob, const uint8_t *linear, uint64_t pitch_B, int stream)
{
    const uint8_t *lower = linear + 4 * pitch_B;
    struct lines u = load_transposed(linear, linear + pitch_B, linear + 2 * pitch_B, linear + 3 * pitch_B);
    struct lines v = load_transposed(lower, lower + pitch_B, lower + 2 * pitch_B, lower + 3 * pitch_B);

    put(gob, u.l[0], stream);
    put(gob + 64, u.l[1], stream);
    put(gob + 128, v.l[0], stream);
    put(gob + 192, v.l[1], stream);
    put(gob + 256, u.l[2], stream);
    put(gob + 320, u.l[3], stream);
    put(gob + 384, v.l[2], stream);
    put(gob + 448, v.l[3], stream);
}

KN_INLINE void gob_untile(const uint8_t *gob, uint8_t *linear, uint64_t pitch_B, int stream)
{
    struct lines u = load_transposed(gob, gob + 64, gob + 256, gob + 320);
    struct lines v = load_transposed(gob + 128, gob + 192, gob + 384, gob + 448);

    for (unsigned i = 0; i < 4; i++)
        put(linear + i * pitch_B, u.l[i], stream);
    for (unsigned i = 0; i < 4; i++)
        put(linear + (4 + i) * pitch_B, v.l[i], stream);
}

KN_INLINE void gob_copy(uint8_t *dst, const uint8_t *src, int stream)
{
    for (unsigned i = 0; i < KN_GOB_B; i += 64)
        put(dst + i, _mm512_loadu_si512(src + i), stream);
}

KN_INLINE uint64_t byte_mask(unsigned x0, unsigned x1)
{
    return ~UINT64_C(0) >> (64 - (x1 - x0)) << x0;
}

// One bit at the start of each of the rows y0 to y1's lanes among the four from `first` on.
KN_INLINE uint64_t lane_mask(unsigned first, unsigned y0, unsigned y1)
{
    uint64_t lanes = 0;

    for (unsigned i = 0; i < 4; i++)
        if (first + i >= y0 && first + i < y1)
            lanes |= UINT64_C(1) << (16 * i);
    return lanes;
}

// Bytes x0 to x1 of rows y0 to y1 of a GOB; `linear` is where (x0, y0) is. Masked bytes are neither read nor written.
static void gob_tile_part(uint8_t *gob, const uint8_t *linear, uint64_t pitch_B, unsigned x0, unsigned x1, unsigned y0, unsigned y1)
{
    uint64_t bytes = byte_mask(x0, x1);

    for (unsigned first = 0; first < 8; first += 4) {
        uint64_t lanes = lane_mask(first, y0, y1);
        struct lines v;
        if (!lanes)
            continue;
        for (unsigned i = 0; i < 4; i++) {
            uint64_t here = lanes >> (16 * i) & 1;
            uintptr_t from = (uintptr_t)linear + (first + i - y0) * pitch_B - x0;
            v.l[i] = here ? _mm512_maskz_loadu_epi8(bytes, (const void *)from) : _mm512_setzero_si512();
        }
        v = transpose(v);
        for (unsigned column = x0 >> 4; column <= (x1 - 1) >> 4; column++)
            _mm512_mask_storeu_epi8(gob + first * 32 + line_B(column), (bytes >> (16 * column) & 0xffff) * lanes, v.l[column]);
    }
}

static void gob_untile_part(const uint8_t *gob, uint8_t *linear, uint64_t pitch_B, unsigned x0, unsigned x1, unsigned y0, unsigned y1)
{
    uint64_t bytes = byte_mask(x0, x1);

    for (unsigned first = 0; first < 8; first += 4) {
        uint64_t lanes = lane_mask(first, y0, y1);
        struct lines v;
        if (!lanes)
            continue;
        for (unsigned column = 0; column < 4; column++)
            v.l[column] = _mm512_maskz_loadu_epi8((bytes >> (16 * column) & 0xffff) * lanes, gob + first * 32 + line_B(column));
        v = transpose(v);
        for (unsigned i = 0; i < 4; i++) {
            uintptr_t to = (uintptr_t)linear + (first + i - y0) * pitch_B - x0;
            if (lanes >> (16 * i) & 1)
                _mm512_mask_storeu_epi8((void *)to, bytes, v.l[i]);
        }
    }
}

#define TILE_STREAM 1
#define TILE_FENCE() _mm_sfence()
#define TILE_SUFFIX(name) name##_avx512
#include "tile_template.h"
