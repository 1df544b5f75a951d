// SPDX-License-Identifier: MIT
// What the tests of the families share: random numbers, memory with guards, reports, and the
// stop-watch.
#pragma once

#include "kn.h"
#include "kn_dsp.h"

#include <stddef.h>
#include <stdint.h>

// Random numbers, the same for the same seed.
uint64_t ca_random(void);
uint64_t ca_below(uint64_t limit); // 0 to limit - 1
void ca_random_bytes(void *dst, size_t size_B);
// Mostly small, now and then near a power of two, at most `limit`.
uint64_t ca_random_size(uint64_t limit);

// `size_B` bytes (rounded up to pages) between two pages that fault.
struct ca_arena {
    uint8_t *base;
    size_t size_B;
};
void ca_arena_init(struct ca_arena *arena, size_t size_B);
void ca_arena_finish(struct ca_arena *arena);
// From now on a write to the arena faults; and not any more. Sources are sealed while they are
// read.
void ca_arena_seal(struct ca_arena *arena);
void ca_arena_unseal(struct ca_arena *arena);
// An offset at which `need_B` bytes fit: flush with the start, flush with the end, or anywhere.
size_t ca_arena_place(const struct ca_arena *arena, size_t need_B);

// Counts a failure and prints it (the first few).
void ca_fail(const char *function, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Compares two arenas of one size; says where they first differ. Returns 1 when equal.
int ca_same(const char *function, const struct ca_arena *got, const struct ca_arena *expected,
            const char *format, ...) __attribute__((format(printf, 4, 5)));

// What is tested from here on: if it crashes, that is what is said.
void ca_begin(const char *function);

// The tests of a family: functions of `dsp`, which is also kn_dsp(), against the C table. `rounds`
// scales the work.
typedef void ca_check_fn(const struct kn_dsp *dsp, unsigned rounds);
ca_check_fn ca_check_copy, ca_check_fill, ca_check_tile, ca_check_convert;
// The entry points above the tables, and with them the functions of `dsp`, against byte-by-byte
// models; the references too are tested so.
ca_check_fn ca_check_models, ca_check_convert_models;
