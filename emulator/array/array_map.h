// SPDX-License-Identifier: MIT
// cuMemMapArrayAsync: memory for arrays with deferred mapping and for tiles of sparse arrays, in
// stream order.
#pragma once
#include <cuda.h>

struct em_command;
struct em_stream;

// Checks all entries, then issues them as one command. Takes the lock.
CUresult em_array_map(const CUarrayMapInfo *list, unsigned count, struct em_stream *stream);
// Checks all entries and makes a command of them that can be kept, cloned and issued. Precondition:
// em_lock held.
CUresult em_array_map_prepare(const CUarrayMapInfo *list, unsigned count, struct em_command **out);
