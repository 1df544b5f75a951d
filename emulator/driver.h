// SPDX-License-Identifier: MIT
// The state of the driver in a process: cuInit starts it, a fork makes it unusable in the child,
// and it shuts down when the library is unloaded or the process exits.
#pragma once
#include <cuda.h>

// cuInit: starts the driver, unless an earlier call has started it. Any thread may call it.
CUresult em_init(unsigned flags);

// Makes the list of devices, unless cuInit has made it, and starts nothing else: afterwards the
// process may still fork and use CUDA in the child. Works in a forked child, too.
// Precondition: em_lock not held.
CUresult em_list_devices(void);
