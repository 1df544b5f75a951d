// SPDX-License-Identifier: MIT
// Holds the state of each thread.
#include "thread.h"

DM_DEFINE_THREAD_STATE(struct em_thread, em_thread)
