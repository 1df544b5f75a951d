// SPDX-License-Identifier: MIT
// Images: what compiled code passes to __cudaRegisterFatBinary, as a library of the driver.
#pragma once
#include "registry.h"
#include "rt.h"

// Returns an error if the program has registered something else than a fat binary, or one that
// cannot be read. The functions below need a binary that passes.
cudaError_t rt_image_check(const struct rt_binary *binary);
// Whether loading needs a context: the linker does, and its result depends on the device. So does
// the check of variables of the host.
bool rt_image_needs_context(const struct rt_binary *binary);
// Loads the image of a binary. `*library` is valid if the result is CUDA_SUCCESS.
CUresult rt_image_load(const struct rt_binary *binary, CUlibrary *library);
