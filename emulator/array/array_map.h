// SPDX-License-Identifier: MIT
// cuMemMapArrayAsync: maps memory to arrays with deferred mapping and to tiles of sparse arrays, in
// stream order.
#pragma once
#include <cuda.h>

struct em_command;
struct em_stream;

// Checks all entries, then submits them as one command. Takes the lock.
CUresult em_array_map(const CUarrayMapInfo *list, unsigned count, struct em_stream *stream);
// Checks all entries and creates a command that can be kept, cloned and submitted.
// Precondition: em_lock held.
CUresult em_array_map_prepare(const CUarrayMapInfo *list, unsigned count, struct em_command **out);
