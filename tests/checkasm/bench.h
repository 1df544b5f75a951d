// SPDX-License-Identifier: MIT
// Benchmarks: each row of the table times a function of every instruction set and the C library's,
// in turns.
#pragma once

#include "tile_random.h"

// Calls the function under test once with the memory of a slot. `dsp` is null for the C library's
// function; otherwise it is also kn_dsp().
struct ca_bench;
typedef void ca_bench_fn(const struct kn_dsp *dsp, const struct ca_bench *b, uint8_t *dst,
                         const uint8_t *src);

struct ca_bench {
    const char *name;
    char detail[48];
    ca_bench_fn *run;
    uint64_t bytes;                    // bytes that one call moves
    uint64_t dst_need_B, src_need_B;   // bytes of memory that it touches
    unsigned dst_shift_B, src_shift_B; // offset from 512-byte alignment
    struct ca_box box;
    uint64_t width_B, rows, dst_pitch_B, src_pitch_B;
    unsigned value_B;
    struct kn_format dst_format, src_format;
    const void *more; // parameters of this row only
    double target;    // the ratio to reach, or 0 if there is no target
};

void ca_bench_begin(const char *filter, uint64_t max_B, unsigned milliseconds);
void ca_bench_row(const struct ca_bench *b);
void ca_bench_copy(uint64_t min_B, uint64_t max_B);
void ca_bench_fill(uint64_t min_B, uint64_t max_B);
void ca_bench_floor(uint64_t min_B, uint64_t max_B);
void ca_bench_tile(uint64_t min_B, uint64_t max_B);
void ca_bench_random_boxes(uint64_t min_B, uint64_t max_B);
void ca_bench_convert(void);
// The forms over 32 lanes whose names contain `filter` (NULL: all).
void ca_bench_lanes(const char *filter, unsigned milliseconds);
void ca_bench_layout(uint64_t min_B, uint64_t max_B);
// Formats a size: "64 KiB".
const char *ca_size_text(uint64_t size_B);
