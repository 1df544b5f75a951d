// SPDX-License-Identifier: MIT
// Shared by the tests of all families: random numbers, memory with guard pages, reports, timing.
#pragma once

#include "kn.h"
#include "kn_dsp.h"

#include <stddef.h>
#include <stdint.h>

// Random numbers: the same seed gives the same sequence.
uint64_t ca_random(void);
uint64_t ca_below(uint64_t limit); // from 0 to limit - 1
void ca_random_bytes(void *dst, size_t size_B);
// Mostly small, sometimes close to a power of two, at most `limit`.
uint64_t ca_random_size(uint64_t limit);

// `size_B` bytes (rounded up to pages) between two pages that fault.
struct ca_arena {
    uint8_t *base;
    size_t size_B;
};
void ca_arena_init(struct ca_arena *arena, size_t size_B);
void ca_arena_finish(struct ca_arena *arena);
// While an arena is sealed, writes to it fault. Sources are sealed while they are read.
void ca_arena_seal(struct ca_arena *arena);
void ca_arena_unseal(struct ca_arena *arena);
// Returns an offset at which `need_B` bytes fit: at the start, at the end, or anywhere.
size_t ca_arena_place(const struct ca_arena *arena, size_t need_B);

// Counts a failure, and prints the first few.
void ca_fail(const char *function, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Compares two arenas of one size and prints the first difference. Returns 1 if they are equal.
int ca_same(const char *function, const struct ca_arena *got, const struct ca_arena *expected,
            const char *format, ...) __attribute__((format(printf, 4, 5)));

// Names the function under test, for the message if it crashes.
void ca_begin(const char *function);

// How many cases a loop of `count` takes: times --rounds, and one in --part of them.
unsigned ca_cases(unsigned count);

// Test a family: functions of `dsp`, which is also kn_dsp(), against the C table.
typedef void ca_check_fn(const struct kn_dsp *dsp);
ca_check_fn ca_check_copy, ca_check_fill, ca_check_tile, ca_check_convert, ca_check_lanes,
    ca_check_chains, ca_check_sample, ca_check_surface;
// Test the entry points, and with them the functions of `dsp`, against byte-by-byte models. This
// also tests the references.
ca_check_fn ca_check_models, ca_check_convert_models, ca_check_lane_models;
