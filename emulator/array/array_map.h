// SPDX-License-Identifier: MIT
// cuMemMapArrayAsync: memory for arrays with deferred mapping and for tiles of sparse arrays, in
// stream order.
#pragma once
#include <cuda.h>

struct em_stream;

// All entries are checked before the first one is carried out; they take effect in stream order.
// Takes the lock.
CUresult em_array_map(const CUarrayMapInfo *list, unsigned count, struct em_stream *stream);
