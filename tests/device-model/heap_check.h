// SPDX-License-Identifier: MIT
// Checks every invariant of a heap's books.
#pragma once
#include "heap.h"

// 0 or -EILSEQ.
int heap_check(const struct dm_heap *heap);
