// SPDX-License-Identifier: MIT
// Workers: the driver's threads that compute parts of large commands, one for each processor core
// of the process but one, which the commanding thread itself uses. They are started when first
// needed, and sleep in between. Several commands may use them at the same time.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct dm_fault;

// Below this many bytes a copy or fill is not split: waking a worker takes tens of microseconds. A
// larger one is split into parts of a quarter of this or more, so that a worker that loses its
// processor delays the command only by a small part.
#define EM_WORKERS_MIN_B (UINT64_C(4) << 20)

enum { EM_PARTS_MAX = 16 };

// Divides `total` things into `parts` parts that begin at multiples of `unit`, of which there must
// be at least `parts`, and returns where one part begins and how many things it has.
void em_part(uint64_t total, uint64_t unit, unsigned part, unsigned parts, uint64_t *from,
             uint64_t *count);

// Returns into how many parts to split a copy or fill of `bytes` bytes (EM_WORKERS_MIN_B or more)
// that can be split into at most `units`: 1 if it must not be split.
unsigned em_parts(uint64_t bytes, uint64_t units);

// Whether the process has more than one processor core.
bool em_workers_may_help(void);

// Calls part(argument, index) for each index below `count`, in this thread and in workers:
// whichever is free takes the next one. Workers that have not started are skipped. All calls have
// ended on return. If a call returns false, no further index is begun. Precondition: em_lock not
// held.
typedef bool em_part_fn(void *argument, uint64_t index);
void em_workers_run(em_part_fn *part, void *argument, uint64_t count);

typedef int em_guarded_fn(void (*fn)(void *), void *arg,
                          struct dm_fault *fault); // dm_guarded or dm_guarded_foreign

// Calls guarded(fn, part) in the same way for each of `count` parts, which are `part_B` bytes
// apart. Returns 0, or -EFAULT and the fault of the first part that had one. Workers open device
// pages for themselves; the caller does so for this thread.
int em_workers_run_guarded(em_guarded_fn *guarded, void (*fn)(void *), void *parts, uint64_t part_B,
                           unsigned count, struct dm_fault *fault);
