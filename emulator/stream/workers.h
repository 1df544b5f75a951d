// SPDX-License-Identifier: MIT
// A second processor core for large copies and fills: one helper thread, made at the first of them,
// and asleep in between.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct dm_fault;

// Below this many bytes a command does not even ask whether it may be split: waking the helper
// costs tens of microseconds. Larger ones are split into parts of a quarter of this or more, so
// that nobody waits long for a helper that has lost its processor.
#define EM_SECOND_CORE_MIN_B (UINT64_C(4) << 20)

enum { EM_PARTS_MAX = 16 };

// A part of `total` things in `parts` parts that begin at multiples of `unit`. There are at most as
// many parts as units.
void em_part(uint64_t total, uint64_t unit, unsigned part, unsigned parts, uint64_t *from,
             uint64_t *count);

// How many parts `bytes` bytes, EM_SECOND_CORE_MIN_B or more, make, where `units` is the most that
// there can be: 1 where they may not be split.
unsigned em_parts(uint64_t bytes, uint64_t units);

typedef int em_guarded_fn(void (*fn)(void *), void *arg,
                          struct dm_fault *fault); // dm_guarded or dm_guarded_foreign

// guarded(fn, part) for each of `count` parts that lie `part_B` apart: here, one after the other,
// and in the helper at the same time, whoever is free taking the next. A helper that does not come
// to run is not waited for. All have ended on return, but after a fault some parts may not have
// been begun. 0, or -EFAULT with the fault of the first part that met with one. The helper opens
// device pages for itself; the caller does so for this thread.
int em_second_core_run(em_guarded_fn *guarded, void (*fn)(void *), void *parts, uint64_t part_B,
                       unsigned count, struct dm_fault *fault);
