// SPDX-License-Identifier: MIT
// Parameters of graph nodes in the driver's form.
#pragma once
#include "rt.h"

// The context that the driver wants to know for nodes that use memory or run kernels.
cudaError_t rt_current_context(CUcontext *context);
