// SPDX-License-Identifier: MIT
// The executor of kernels of PTX texts.
#pragma once
#include <cuda.h>

#include "code.h"
#include "module.h"

struct em_device;
struct px_module;
struct px_program;
struct px_report;

// Makes the code of a kernel of a text, which lives as long as `text`. The variables of the image
// must be those of the text. Returns NULL if host memory is short.
struct em_code *em_ptx_kernel_new(struct px_module *text, unsigned function);
void em_ptx_kernel_free(struct em_code *code);

// CUDA_ERROR_INVALID_PTX if the kernel has more static shared memory than a block of the device
// (recorded: load_ptx/static-shared-300K). Without a device (NULL), nothing is checked.
CUresult em_ptx_check_shared(const struct px_module *text, unsigned function,
                             const struct px_program *program, const struct em_device *device);

// The code for an error of room ptx, which is reported with its sentence.
CUresult em_ptx_fail(int status, const struct px_report *report, const char *noun);
