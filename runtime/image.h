// SPDX-License-Identifier: MIT
// Images: what compiled code passes to __cudaRegisterFatBinary, as a library of the driver.
#pragma once
#include "registry.h"
#include "rt.h"

// Loads the image of a binary. `*library` is valid if the result is CUDA_SUCCESS.
CUresult rt_image_load(const struct rt_binary *binary, CUlibrary *library);
