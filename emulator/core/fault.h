// SPDX-License-Identifier: MIT
// The error that a command returns if an access to device memory faults.
#pragma once
#include <cuda.h>
#include <stdbool.h>

#include "guard.h"

// Fails with CUDA_ERROR_ILLEGAL_ADDRESS, and reports why the memory could not be accessed.
// `operation` is "a copy" or the like. `may_fault` is true if someone else can take the bytes away,
// because the memory was imported or belongs to the program.
CUresult em_device_fault(const char *operation, const struct dm_fault *fault, bool may_fault);
