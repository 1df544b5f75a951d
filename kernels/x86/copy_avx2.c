// SPDX-License-Identifier: MIT
// Copies with 32-byte registers. The C library does straight copies that fit in the caches.
#include "kn_x86.h"
#include "small.h"

#include <immintrin.h>

#define LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(p), v)

// Distance at which both sides are prefetched.
#define PREFETCH_B 1024
// Longer rows gain from prefetching.
#define PREFETCH_ROW_MIN_B 1500

// For sizes beyond the caches: copies whole lines of the destination in order, and prefetches them
// before they are written, so that stores do not wait for them.
static void copy_prefetched(uint8_t *dst, const uint8_t *src, uint64_t size_B)
{
    uint64_t i = 64 - ((uintptr_t)dst & 63);

    memcpy(dst, src, i);
    for (; i + PREFETCH_B + 64 <= size_B; i += 64) {
        __m256i a = LOAD(src + i), b = LOAD(src + i + 32);
        __builtin_prefetch(src + i + PREFETCH_B, 0, 3);
        __builtin_prefetch(dst + i + PREFETCH_B, 1, 3);
        STORE(dst + i, a);
        STORE(dst + i + 32, b);
    }
    memcpy(dst + i, src + i, size_B - i);
}

// For processors whose string moves take over lines of the destination without reading them.
static void copy_string(void *dst, const void *src, uint64_t size_B)
{
    __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(size_B) : : "memory");
}

// For sizes beyond the caches: stores that do not read lines of the destination first.
static void copy_streamed(uint8_t *dst, const uint8_t *src, uint64_t size_B)
{
    uint64_t i = 64 - ((uintptr_t)dst & 63);

    memcpy(dst, src, i);
    for (; i + 64 <= size_B; i += 64) {
        __m256i a = LOAD(src + i), b = LOAD(src + i + 32);
        __builtin_prefetch(src + i + PREFETCH_B, 0, 3);
        _mm256_stream_si256((__m256i *)(dst + i), a);
        _mm256_stream_si256((__m256i *)(dst + i + 32), b);
    }
    _mm_sfence();
    memcpy(dst + i, src + i, size_B - i);
}

// The same in several pages beside each other, which keeps more of the memory's banks busy. Each
// page has two lines in turn.
#define STREAM_PAGES 8
#define STREAM_PAGE_B 4096
static void copy_streamed_pages(uint8_t *dst, const uint8_t *src, uint64_t size_B)
{
    uint64_t i = 64 - ((uintptr_t)dst & 63);

    memcpy(dst, src, i);
    for (; i + STREAM_PAGES * STREAM_PAGE_B <= size_B; i += STREAM_PAGES * STREAM_PAGE_B)
        for (uint64_t line = 0; line < STREAM_PAGE_B; line += 128)
            for (uint64_t page = 0; page < STREAM_PAGES; page++) {
                const uint8_t *from = src + i + page * STREAM_PAGE_B + line;
                uint8_t *to = dst + i + page * STREAM_PAGE_B + line;
                __m256i a = LOAD(from), b = LOAD(from + 32), c = LOAD(from + 64),
                        d = LOAD(from + 96);

                _mm256_stream_si256((__m256i *)to, a);
                _mm256_stream_si256((__m256i *)(to + 32), b);
                _mm256_stream_si256((__m256i *)(to + 64), c);
                _mm256_stream_si256((__m256i *)(to + 96), d);
            }
    _mm_sfence();
    memcpy(dst + i, src + i, size_B - i);
}

void kn_copy_avx2(void *dst, const void *src, uint64_t size_B)
{
    if (size_B >= kn_copy_string_min_B)
        copy_string(dst, src, size_B);
    else if (size_B >= kn_copy_stream_min_B && kn_copy_stream_pages == STREAM_PAGES)
        copy_streamed_pages(dst, src, size_B);
    else if (size_B >= kn_copy_stream_min_B)
        copy_streamed(dst, src, size_B);
    else if (size_B >= kn_copy_prefetch_min_B)
        copy_prefetched(dst, src, size_B);
    else
        memcpy(dst, src, size_B);
}

// Copies more than 128 bytes: the first 32 unaligned, then steps to aligned destinations, and the
// last 128 unaligned.
KN_INLINE void copy_long(uint8_t *dst, const uint8_t *src, uint64_t size_B)
{
    uint64_t i = 32 - ((uintptr_t)dst & 31);
    __m256i head = LOAD(src);
    const uint8_t *last = src + size_B - 128;
    __m256i a = LOAD(last), b = LOAD(last + 32), c = LOAD(last + 64), d = LOAD(last + 96);

    STORE(dst, head);
    for (; i + 128 < size_B; i += 128) {
        __m256i e = LOAD(src + i), f = LOAD(src + i + 32), g = LOAD(src + i + 64),
                h = LOAD(src + i + 96);
        STORE(dst + i, e);
        STORE(dst + i + 32, f);
        STORE(dst + i + 64, g);
        STORE(dst + i + 96, h);
    }
    dst += size_B - 128;
    STORE(dst, a);
    STORE(dst + 32, b);
    STORE(dst + 64, c);
    STORE(dst + 96, d);
}

void kn_copy_rows_avx2(void *dst, uint64_t dst_pitch_B, const void *src, uint64_t src_pitch_B,
                       uint64_t width_B, uint64_t rows)
{
    if (width_B > PREFETCH_ROW_MIN_B && width_B * rows >= kn_copy_prefetch_min_B)
        KN_EACH_ROW(copy_prefetched(to, from, width_B));
    else
        KN_COPY_ROWS(copy_long);
}
