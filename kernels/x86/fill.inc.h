// SPDX-License-Identifier: MIT
// Fills for one register width (VEC_B). One file for each instruction set includes this. The
// pattern repeats with the value's size, and every size is a multiple of that, so a store that ends
// at the last byte is in phase wherever it begins.
#include "kn_x86.h"
#include "small.h"

#include <immintrin.h>

// Fills up to 4 bytes. Only 8-bit values have a size of 3.
KN_INLINE void fill_upto4(uint8_t *dst, uint32_t pattern, uint64_t size_B)
{
    if (size_B >= 4) {
        memcpy(dst, &pattern, 4);
    } else if (size_B >= 2) {
        memcpy(dst, &pattern, 2);
        dst[size_B - 1] = (uint8_t)(pattern >> 8);
    } else if (size_B) {
        *dst = (uint8_t)pattern;
    }
}

// Fills less than VEC_B bytes.
KN_INLINE void fill_short(uint8_t *dst, uint32_t pattern, uint64_t size_B)
{
    __m256i v = _mm256_set1_epi32((int)pattern);
    __m128i x = _mm256_castsi256_si128(v);

    if (size_B >= 32) {
        _mm256_storeu_si256((__m256i *)dst, v);
        _mm256_storeu_si256((__m256i *)(dst + size_B - 32), v);
    } else if (size_B >= 16) {
        _mm_storeu_si128((__m128i *)dst, x);
        _mm_storeu_si128((__m128i *)(dst + size_B - 16), x);
    } else if (size_B >= 8) {
        _mm_storel_epi64((__m128i *)dst, x);
        _mm_storel_epi64((__m128i *)(dst + size_B - 8), x);
    } else if (size_B >= 4) {
        memcpy(dst, &pattern, 4);
        memcpy(dst + size_B - 4, &pattern, 4);
    } else {
        fill_upto4(dst, pattern, size_B);
    }
}

// Fills at least VEC_B bytes.
KN_INLINE void fill_long(uint8_t *dst, VEC v, uint64_t size_B)
{
    uint8_t *end = dst + size_B, *last = end - VEC_B;

    VEC_STORE(dst, v);
    if (size_B > 2 * VEC_B) {
        VEC_STORE(dst + VEC_B, v);
        if (size_B > 4 * VEC_B) {
            VEC_STORE(dst + 2 * VEC_B, v);
            VEC_STORE(dst + 3 * VEC_B, v);
            for (uint64_t i = 4 * VEC_B; i + 4 * VEC_B <= size_B; i += 4 * VEC_B) {
                VEC_STORE(dst + i, v);
                VEC_STORE(dst + i + VEC_B, v);
                VEC_STORE(dst + i + 2 * VEC_B, v);
                VEC_STORE(dst + i + 3 * VEC_B, v);
            }
            VEC_STORE(last - 3 * VEC_B, v);
            VEC_STORE(last - 2 * VEC_B, v);
        }
        VEC_STORE(last - VEC_B, v);
    }
    VEC_STORE(last, v);
}

// Between this size and kn_string_max_B, string stores are fastest, because they take over lines
// without reading them. Beyond, plain stores with the hardware prefetcher are faster. At least 2 *
// VEC_B bytes. Most single fills of 4 KiB hit the first cache, where 64-byte stores are faster.
#define STRING_MIN_B 4096
#define STRING_MIN_ALONE_B (VEC_B * 128)

// The pattern as it goes on after `skip` bytes.
KN_INLINE uint32_t turned_by(uint32_t pattern, unsigned skip)
{
    unsigned turn = (skip & 3) * 8;

    return turn ? pattern >> turn | pattern << (32 - turn) : pattern;
}

KN_INLINE void fill_string(uint8_t *dst, uint32_t pattern, VEC v, uint64_t size_B)
{
    unsigned skip = 64 - ((uintptr_t)dst & 63);
    uint32_t turned = turned_by(pattern, skip);
    uint64_t eight = (uint64_t)turned << 32 | turned, count = (size_B - skip) / 8;
    uint8_t *to = dst + skip;

    VEC_STORE(dst, v);
    VEC_STORE(dst + 64 - VEC_B, v);
    VEC_STORE(dst + size_B - VEC_B, v);
    __asm__ volatile("rep stosq" : "+D"(to), "+c"(count) : "a"(eight) : "memory");
}

#if VEC_B == 32
// Stores that do not read lines of the destination first. At least 128 bytes.
static KN_NOINLINE void fill_streamed(uint8_t *dst, uint32_t pattern, VEC v, uint64_t size_B)
{
    unsigned skip = 64 - ((uintptr_t)dst & 63);
    VEC turned = VEC_SET(turned_by(pattern, skip));

    VEC_STORE(dst, v);
    VEC_STORE(dst + 32, v);
    for (uint64_t i = skip; i + 64 <= size_B; i += 64) {
        _mm256_stream_si256((__m256i *)(dst + i), turned);
        _mm256_stream_si256((__m256i *)(dst + i + 32), turned);
    }
    _mm_sfence();
    VEC_STORE(dst + size_B - 64, v);
    VEC_STORE(dst + size_B - 32, v);
}
#endif

KN_INLINE void fill_any(uint8_t *dst, uint32_t pattern, VEC v, uint64_t size_B,
                        uint64_t string_min_B, uint64_t string_max_B)
{
#if VEC_B == 64
    // Wider stores lose a quarter if memory is the limit.
    if (size_B > string_max_B || size_B >= kn_fill_stream_min_B) {
        kn_fill_avx2(dst, pattern, size_B);
        return;
    }
#else
    if (size_B >= kn_fill_stream_min_B) {
        fill_streamed(dst, pattern, v, size_B);
        return;
    }
#endif
    if (size_B >= string_min_B && size_B <= string_max_B)
        fill_string(dst, pattern, v, size_B);
    else
        fill_long(dst, v, size_B);
}

void FILL_SUFFIX(kn_fill)(void *dst, uint32_t pattern, uint64_t size_B)
{
    uint8_t *d = dst;

    if (size_B < VEC_B)
        fill_short(d, pattern, size_B);
    else
        fill_any(d, pattern, VEC_SET(pattern), size_B, STRING_MIN_ALONE_B, kn_string_max_B);
}

void FILL_SUFFIX(kn_fill_rows)(void *dst, uint64_t pitch_B, uint32_t pattern, uint64_t width_B,
                               uint64_t rows)
{
    uint8_t *d = dst;
    VEC v = VEC_SET(pattern);
    uint64_t string_max_B = kn_string_max_B;

    if (width_B < VEC_B) {
        for (uint64_t row = 0; row < rows; row++)
            fill_short(d + row * pitch_B, pattern, width_B);
    } else {
        for (uint64_t row = 0; row < rows; row++)
            fill_any(d + row * pitch_B, pattern, v, width_B, STRING_MIN_B, string_max_B);
    }
}
