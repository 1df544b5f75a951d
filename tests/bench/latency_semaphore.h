// SPDX-License-Identifier: MIT
// The part of the latency benchmark that measures semaphores.
#pragma once
#include <cuda.h>

// Forks the process at the other end. Before the first call into the driver.
void semaphores_begin(void);
void semaphores(CUstream stream);
