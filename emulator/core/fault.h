// SPDX-License-Identifier: MIT
// What a fault in memory of the device means for the command that met it.
#pragma once
#include <cuda.h>
#include <stdbool.h>

#include "guard.h"

// Fails with CUDA_ERROR_ILLEGAL_ADDRESS and says why the memory was out of reach. what: "a copy";
// may_fault: it is memory whose bytes somebody else may take away.
CUresult em_device_fault(const char *what, const struct dm_fault *fault, bool may_fault);
