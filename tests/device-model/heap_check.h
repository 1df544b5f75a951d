// SPDX-License-Identifier: MIT
// Checks every invariant of a heap's bookkeeping.
#pragma once
#include "heap.h"

// Returns 0 or -EILSEQ.
int heap_check(const struct dm_heap *heap);
