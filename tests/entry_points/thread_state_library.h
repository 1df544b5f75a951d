// SPDX-License-Identifier: MIT
#pragma once
#include <stdbool.h>

// Stores `value` in the thread-local state of the library, and lets a guarded call of this thread
// fault. Returns whether each thread has a state of its own, the descriptor leads to the same
// state, and the fault was caught. `*found`: the state has the same offset in all threads.
__attribute__((visibility("default"))) bool library_try(long value, bool *found);
