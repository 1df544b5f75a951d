// SPDX-License-Identifier: MIT
// Ends everything that a program has left, so that a fuzzer can run its next input in the same
// process (cardless_fuzz.h).
#pragma once
#include <cuda.h>
#include <stddef.h>

// Counts what the program has not ended: objects, and as one each its allocations and reservations.
// Writes a sentence about one of them, or "", if `capacity` is not 0. Precondition: em_lock NOT
// held.
CUresult em_left(unsigned *count, char *text, size_t capacity);
// Ends all of it, and all contexts. Afterwards this thread has no current context. Other threads
// should not make calls meanwhile. Precondition: em_lock NOT held.
CUresult em_reset(void);
