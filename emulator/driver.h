// SPDX-License-Identifier: MIT
// The driver's life in a process: started by cuInit, lost by a fork, gone when the library is
// unloaded.
#pragma once
#include <cuda.h>

// cuInit. Starts the driver the first time it succeeds; safe from every thread.
CUresult em_init(unsigned flags);
