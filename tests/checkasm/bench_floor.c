// SPDX-License-Identifier: MIT
// Lower limits for functions that miss their targets: loops that only make the memory accesses that
// cannot be avoided, timed like the functions.
#include "bench.h"
#include "small.h"

#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

static void *(*volatile host_memcpy)(void *, const void *, size_t) = memcpy;

// Copies whole lines in order, by loads and stores. This is the limit of tiling, if its order and
// its shuffles cost nothing.
#if defined(__x86_64__)
__attribute__((target("avx512f"))) static void copy_lines_64(uint8_t *dst, const uint8_t *src,
                                                             uint64_t size_B)
{
    for (uint64_t i = 0; i < size_B; i += 64)
        _mm512_storeu_si512(dst + i, _mm512_loadu_si512(src + i));
}

__attribute__((target("avx2"))) static void copy_lines_32(uint8_t *dst, const uint8_t *src,
                                                          uint64_t size_B)
{
    for (uint64_t i = 0; i < size_B; i += 32)
        _mm256_storeu_si256((__m256i *)(dst + i), _mm256_loadu_si256((const __m256i *)(src + i)));
}
#endif

static void copy_lines_8(uint8_t *dst, const uint8_t *src, uint64_t size_B)
{
    for (uint64_t i = 0; i < size_B; i += 8) {
        uint64_t v;
        memcpy(&v, src + i, 8);
        __asm__ volatile("" : "+r"(v)); // prevents the compiler from calling memcpy()
        memcpy(dst + i, &v, 8);
    }
}

static void run_lines(const struct kn_dsp *dsp, const struct ca_bench *b, uint8_t *dst,
                      const uint8_t *src)
{
    if (!dsp)
        host_memcpy(dst, src, b->bytes);
#if defined(__x86_64__)
    else if (kn_cpu_flags() & KN_CPU_AVX512)
        copy_lines_64(dst, src, b->bytes);
    else if (kn_cpu_flags() & KN_CPU_AVX2)
        copy_lines_32(dst, src, b->bytes);
#endif
    else
        copy_lines_8(dst, src, b->bytes);
}

#if defined(__x86_64__)
// The ways of copying beyond the caches that our own is compared with.
__attribute__((target("avx2"))) static void stream_lines(uint8_t *dst, const uint8_t *src,
                                                         uint64_t size_B)
{
    for (uint64_t i = 0; i < size_B; i += 64) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(src + i)),
                b = _mm256_loadu_si256((const __m256i *)(src + i + 32));
        _mm256_stream_si256((__m256i *)(dst + i), a);
        _mm256_stream_si256((__m256i *)(dst + i + 32), b);
    }
    _mm_sfence();
}

static void run_stream(const struct kn_dsp *dsp, const struct ca_bench *b, uint8_t *dst,
                       const uint8_t *src)
{
    if (dsp && kn_cpu_flags() & KN_CPU_AVX2)
        stream_lines(dst, src, b->bytes);
    else
        host_memcpy(dst, src, b->bytes);
}

static void run_string(const struct kn_dsp *dsp, const struct ca_bench *b, uint8_t *dst,
                       const uint8_t *src)
{
    uint64_t size_B = b->bytes;

    if (dsp)
        __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(size_B) : : "memory");
    else
        host_memcpy(dst, src, size_B);
}

static void beyond_caches(uint64_t min_B, uint64_t max_B)
{
    const struct {
        ca_bench_fn *run;
        const char *name;
    } ways[] = {{run_stream, "streaming stores"}, {run_string, "rep movsb"}};

    for (uint64_t size_B = 16 << 20; size_B <= 256 << 20 && size_B <= max_B; size_B *= 4)
        for (unsigned i = 0; i < 2 && size_B >= min_B; i++) {
            struct ca_bench b = {.name = "floor",
                                 .run = ways[i].run,
                                 .bytes = size_B,
                                 .dst_need_B = size_B,
                                 .src_need_B = size_B};
            snprintf(b.detail, sizeof(b.detail), "%s by %s", ca_size_text(size_B), ways[i].name);
            ca_bench_row(&b);
        }
}
#endif

// Loads and stores one byte of each line that a row touches.
static KN_NOINLINE void touch_rows(uint8_t *dst, uint64_t dst_pitch_B, const uint8_t *src,
                                   uint64_t src_pitch_B, uint64_t width_B, uint64_t rows)
{
    for (uint64_t row = 0; row < rows; row++, dst += dst_pitch_B, src += src_pitch_B) {
        uint8_t last = src[width_B - 1];
        dst[0] = src[0];
        if (((uintptr_t)dst & 63) + width_B > 64)
            dst[width_B - 1] = last;
        else
            __asm__ volatile("" : : "r"(last));
    }
}

static void run_touch(const struct kn_dsp *dsp, const struct ca_bench *b, uint8_t *dst,
                      const uint8_t *src)
{
    if (dsp)
        touch_rows(dst, b->dst_pitch_B, src, b->src_pitch_B, b->width_B, b->rows);
    else
        for (uint64_t row = 0; row < b->rows; row++)
            host_memcpy(dst + row * b->dst_pitch_B, src + row * b->src_pitch_B, b->width_B);
}

void ca_bench_floor(uint64_t min_B, uint64_t max_B)
{
    static const unsigned widths[] = {12, 24, 32, 40, 48, 56};

    for (uint64_t size_B = 64 << 10; size_B <= 1 << 20 && size_B <= max_B; size_B *= 2)
        for (unsigned shift_B = 0; shift_B <= 24 && size_B >= min_B; shift_B += 24) {
            struct ca_bench b = {.name = "floor",
                                 .run = run_lines,
                                 .bytes = size_B,
                                 .dst_need_B = size_B,
                                 .src_need_B = size_B,
                                 .dst_shift_B = shift_B};
            snprintf(b.detail, sizeof(b.detail), "%s by loads%s stores", ca_size_text(size_B),
                     shift_B ? ", unaligned" : " and");
            ca_bench_row(&b);
        }
#if defined(__x86_64__)
    beyond_caches(min_B, max_B);
#endif
    for (unsigned i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
        struct ca_bench b = {
            .name = "floor", .run = run_touch, .width_B = widths[i], .rows = (8 << 10) / widths[i]};
        b.dst_pitch_B = b.width_B + 64;
        b.src_pitch_B = b.width_B;
        b.bytes = b.width_B * b.rows;
        b.dst_need_B = b.dst_pitch_B * b.rows;
        b.src_need_B = b.src_pitch_B * b.rows;
        snprintf(b.detail, sizeof(b.detail), "%u B x %llu, a byte a line", widths[i],
                 (unsigned long long)b.rows);
        ca_bench_row(&b);
    }
}
