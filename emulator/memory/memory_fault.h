// SPDX-License-Identifier: MIT
// The error that a command returns if an access to memory that the driver knows faults.
#pragma once
#include <cuda.h>
#include <stdbool.h>

#include "guard.h"

// Fails with CUDA_ERROR_ILLEGAL_ADDRESS, and reports why the memory could not be accessed.
// `operation` is "a copy" or the like. `may_fault` is true if it accesses imported memory, whose
// exporter can take the bytes away. Precondition: em_lock not held.
CUresult em_device_fault(const char *operation, const struct dm_fault *fault, bool may_fault);
