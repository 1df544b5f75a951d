// SPDX-License-Identifier: MIT
// A second processor core for large copies and fills: one helper thread, made at the first of them, and asleep in between.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct dm_fault;

// Below this many bytes a command never asks for the helper: waking it costs tens of microseconds.
#define EM_SECOND_CORE_MIN_B (UINT64_C(4) << 20)

// Whether work on `bytes` bytes may be split: the policy and the processors that the process may run on allow it.
bool em_second_core_for(uint64_t bytes);

typedef int em_guarded_fn(void (*fn)(void *), void *arg, struct dm_fault *fault); // dm_guarded or dm_guarded_foreign

// guarded(fn, first) here and guarded(fn, second) in the helper at the same time; one after the other where the helper is not to be had.
// Both have ended on return, and so has all access to `first` and `second`. 0, or -EFAULT with the fault of `first`, else that of `second`.
// The helper opens device pages for itself; the caller does so for this thread.
int em_second_core_guarded(em_guarded_fn *guarded, void (*fn)(void *), void *first, void *second, struct dm_fault *fault);
