// SPDX-License-Identifier: MIT
// The state of the driver in a process: cuInit starts it, a fork makes it unusable in the child,
// and it shuts down when the library is unloaded or the process exits.
#pragma once
#include <cuda.h>

// cuInit: starts the driver, unless an earlier call has started it. Any thread may call it.
CUresult em_init(unsigned flags);
