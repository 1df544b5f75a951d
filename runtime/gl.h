// SPDX-License-Identifier: MIT
// Devices of graphics APIs.
#pragma once
#include "rt.h"

// Enters the primary context of a device, which must not exist yet.
// Errors: cudaErrorSetOnActiveProcess if it does.
cudaError_t rt_set_first_device(int device);
