// SPDX-License-Identifier: MIT
// Libraries: images that belong to no context, and their kernels.
#pragma once
#include <cuda.h>
#include <stddef.h>

#include "module.h"

struct em_library;
struct em_kernel;

// Precondition of all but the last two: em_lock not held.

CUresult em_library_load(const void *image, const struct em_load *how, CUlibrary *out);
CUresult em_library_load_file(const char *path, const struct em_load *how, CUlibrary *out);
CUresult em_library_unload(CUlibrary library);
CUresult em_library_kernel(CUlibrary library, const char *name, CUkernel *out);
CUresult em_library_kernel_count(CUlibrary library, unsigned *out);
CUresult em_library_kernels(CUlibrary library, unsigned count, CUkernel *out);
// The library's module in the current context, which is made if it does not exist.
CUresult em_library_module(CUlibrary library, CUmodule *out);
CUresult em_library_variable(CUlibrary library, const char *name, CUdeviceptr *address,
                             size_t *size_B);
// A managed variable, which the modules of all contexts share. Loads the library in the current
// context if it is in no context yet. `address` and `size_B` may be NULL.
CUresult em_library_managed(CUlibrary library, const char *name, CUdeviceptr *address,
                            size_t *size_B);
// Checks the handle.
CUresult em_library_check(CUlibrary library);

CUresult em_kernel_get_function(CUkernel kernel, CUfunction *out);
CUresult em_kernel_library(CUkernel kernel, CUlibrary *out);
CUresult em_kernel_name(CUkernel kernel, const char **out);
CUresult em_kernel_parameter(CUkernel kernel, size_t index, size_t *offset_B, size_t *size_B);
CUresult em_kernel_get_attribute(CUkernel kernel, CUdevice device, CUfunction_attribute attribute,
                                 int *out);
CUresult em_kernel_set_attribute(CUkernel kernel, CUdevice device, CUfunction_attribute attribute,
                                 int value);
CUresult em_kernel_check(CUkernel kernel, CUdevice device);

// Returns the code of a kernel. Precondition: em_lock held.
const struct em_code *em_kernel_code(const struct em_kernel *k);
// The function of a kernel in a context, which is made if it does not exist.
// Precondition: em_lock held.
CUresult em_kernel_function(struct em_kernel *k, struct em_context *context,
                            struct em_function **out);
