// SPDX-License-Identifier: MIT
// A software device that reports what programs check before they share with CUDA.
#pragma once
#include <stdbool.h>

// Returns true if CARDLESS_VULKAN_AS=nvidia is set. Then the functions of
// VL_INSTANCE_PROPERTY_FUNCTIONS are intercepted.
bool vl_as_nvidia(void);
