// SPDX-License-Identifier: MIT
// Benchmarks of the copy and fill families.
#include "bench.h"

#include <stdio.h>
#include <string.h>

// The host's functions are called through pointers, because the compiler would replace direct calls
// by its own code.
static void *(*volatile host_memcpy)(void *, const void *, size_t) = memcpy;
static void *(*volatile host_memmove)(void *, const void *, size_t) = memmove;
static void *(*volatile host_memset)(void *, int, size_t) = memset;

static void run_copy(const struct kn_dsp *dsp, const struct ca_bench *b, uint8_t *dst,
                     const uint8_t *src)
{
    if (dsp)
        dsp->copy.copy(dst, src, b->bytes);
    else
        host_memcpy(dst, src, b->bytes);
}

static void run_move(const struct kn_dsp *dsp, const struct ca_bench *b, uint8_t *dst,
                     const uint8_t *src)
{
    // Moves down by a little within one buffer.
    if (dsp)
        dsp->copy.move(dst, dst + b->src_shift_B, b->bytes);
    else
        host_memmove(dst, dst + b->src_shift_B, b->bytes);
}

static void run_rows(const struct kn_dsp *dsp, const struct ca_bench *b, uint8_t *dst,
                     const uint8_t *src)
{
    if (dsp) {
        dsp->copy.rows(dst, b->dst_pitch_B, src, b->src_pitch_B, b->width_B, b->rows);
    } else {
        void *(*copy)(void *, const void *, size_t) = host_memcpy;
        for (uint64_t row = 0; row < b->rows; row++)
            copy(dst + row * b->dst_pitch_B, src + row * b->src_pitch_B, b->width_B);
    }
}

static void run_fill(const struct kn_dsp *dsp, const struct ca_bench *b, uint8_t *dst,
                     const uint8_t *src)
{
    if (dsp)
        dsp->fill.fill(dst,
                       b->value_B == 1   ? 0x5a5a5a5a
                       : b->value_B == 2 ? 0x12341234
                                         : 0x12345678,
                       b->bytes);
    else
        host_memset(dst, 0x5a, b->bytes);
}

static void run_fill_rows(const struct kn_dsp *dsp, const struct ca_bench *b, uint8_t *dst,
                          const uint8_t *src)
{
    if (dsp) {
        dsp->fill.rows(dst, b->dst_pitch_B, 0x12345678, b->width_B, b->rows);
    } else {
        void *(*set)(void *, int, size_t) = host_memset;
        for (uint64_t row = 0; row < b->rows; row++)
            set(dst + row * b->dst_pitch_B, 0x5a, b->width_B);
    }
}

static void run_fill_wide(const struct kn_dsp *dsp, const struct ca_bench *b, uint8_t *dst,
                          const uint8_t *src)
{
    if (dsp)
        kn_fill_wide_rows(dst, b->dst_pitch_B, src, b->value_B, b->width_B / b->value_B, b->rows);
    else
        run_fill_rows(NULL, b, dst, src);
}

static const uint64_t widths[] = {4,   8,   12,  16,  24,   32,   40,   48,    56,   64,
                                  100, 128, 256, 512, 1024, 2048, 4096, 16384, 65536};
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

void ca_bench_copy(uint64_t min_B, uint64_t max_B)
{
    for (uint64_t size_B = min_B; size_B <= max_B; size_B *= 4) {
        for (unsigned shift_B = 0; shift_B <= 16; shift_B += 16) {
            struct ca_bench b = {.name = "copy",
                                 .run = run_copy,
                                 .bytes = size_B,
                                 .dst_need_B = size_B,
                                 .src_need_B = size_B,
                                 .src_shift_B = shift_B,
                                 .target = 0.98};
            snprintf(b.detail, sizeof(b.detail), "%s%s", ca_size_text(size_B),
                     shift_B ? ", source + 16" : "");
            ca_bench_row(&b);
        }
    }
    for (uint64_t size_B = min_B; size_B <= max_B; size_B *= 16) {
        struct ca_bench b = {.name = "move",
                             .run = run_move,
                             .bytes = size_B,
                             .dst_need_B = size_B + 256,
                             .src_need_B = 64,
                             .src_shift_B = 256,
                             .target = 0.98};
        snprintf(b.detail, sizeof(b.detail), "%s, down 256 B", ca_size_text(size_B));
        ca_bench_row(&b);
    }
    // In the second cache, in memory, and in the first cache.
    for (unsigned place = 0; place < 3; place++) {
        for (unsigned i = 0; i < COUNT(widths); i++) {
            uint64_t total_B = place == 1 ? 16 << 20 : widths[i] <= 64 ? 8 << 10 : 128 << 10;
            uint64_t rows = place == 2 ? (6 << 10) / (2 * widths[i] + 64) : total_B / widths[i];
            if (place == 2 && widths[i] > 128)
                break;
            struct ca_bench b = {.name = "copy_rows",
                                 .run = run_rows,
                                 .width_B = widths[i],
                                 .rows = rows < 2 ? 2 : rows};

            b.dst_pitch_B = b.width_B + 64;
            b.src_pitch_B = b.width_B;
            b.bytes = b.width_B * b.rows;
            b.dst_need_B = b.dst_pitch_B * b.rows;
            b.src_need_B = b.src_pitch_B * b.rows;
            b.target = widths[i] < 64 && place != 1 ? 2 : 1;
            snprintf(b.detail, sizeof(b.detail), "%llu B x %llu", (unsigned long long)b.width_B,
                     (unsigned long long)b.rows);
            ca_bench_row(&b);
        }
    }
}

void ca_bench_fill(uint64_t min_B, uint64_t max_B)
{
    for (uint64_t size_B = min_B; size_B <= max_B; size_B *= 4) {
        for (unsigned value_B = 1; value_B <= 4; value_B *= 2) {
            struct ca_bench b = {.name = "fill",
                                 .run = run_fill,
                                 .bytes = size_B,
                                 .dst_need_B = size_B,
                                 .src_need_B = 64,
                                 .value_B = value_B,
                                 .target = size_B < 64 << 20 ? 0.95 : 0.98,
                                 .dst_shift_B = 256};
            snprintf(b.detail, sizeof(b.detail), "%s, %u-byte values", ca_size_text(size_B),
                     value_B);
            ca_bench_row(&b);
        }
    }
    for (unsigned i = 0; i < COUNT(widths); i++) {
        uint64_t total_B = widths[i] <= 64 ? 16 << 10 : 256 << 10;
        struct ca_bench b = {.name = "fill_rows",
                             .run = run_fill_rows,
                             .width_B = widths[i],
                             .rows = total_B / widths[i]};

        b.dst_pitch_B = b.width_B + 64;
        b.bytes = b.width_B * b.rows;
        b.dst_need_B = b.dst_pitch_B * b.rows;
        b.src_need_B = 64;
        b.target = 0.95;
        snprintf(b.detail, sizeof(b.detail), "%llu B x %llu", (unsigned long long)b.width_B,
                 (unsigned long long)b.rows);
        ca_bench_row(&b);
    }
    // Texels of 8 and 16 bytes, in images of 64 KiB and 4 MiB.
    for (unsigned i = 0; i < 4; i++) {
        struct ca_bench b = {.name = "fill_wide",
                             .run = run_fill_wide,
                             .width_B = i & 1 ? 1024 : 8192,
                             .value_B = i & 1 ? 8 : 16,
                             .target = 0.85};

        b.rows = (i & 2 ? 4 << 20 : 64 << 10) / b.width_B;
        b.dst_pitch_B = b.width_B + 64 * (i & 1);
        b.bytes = b.width_B * b.rows;
        b.dst_need_B = b.dst_pitch_B * b.rows;
        b.src_need_B = 64;
        snprintf(b.detail, sizeof(b.detail), "%llu B x %llu, %u-byte values",
                 (unsigned long long)b.width_B, (unsigned long long)b.rows, b.value_B);
        ca_bench_row(&b);
    }
}
