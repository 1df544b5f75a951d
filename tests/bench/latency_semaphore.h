// SPDX-License-Identifier: MIT
// The part of the latency benchmark that measures semaphores.
#pragma once
#include <cuda.h>
#include <stdbool.h>

// Whether the driver has the functions that Cardless adds, without which some rows are left out.
bool is_cardless(void);
// Forks the process at the other end. Before the first call into the driver.
void semaphores_begin(void);
void semaphores(CUstream stream);
