// SPDX-License-Identifier: MIT
// The executor of host functions: calls a C function for each thread or block of a grid.
#pragma once
#include <cardless.h>
#include <cuda.h>

#include "code.h"

// Makes the code of one entry of a table that has been checked. Precondition: em_lock not held,
// because libffi may have to be loaded.
CUresult em_host_kernel_new(const cardlessModuleDesc *table, unsigned index, struct em_code **out);
void em_host_kernel_free(struct em_code *code);

// Tables since this version say which bytes a kernel accesses, and can have references.
enum { EM_HOST_ACCESS_VERSION = 4 };

// The size and alignment of a parameter, in bytes. Returns false if there is no such type.
bool em_host_parameter_shape(const cardlessParam *param, unsigned *size_B, unsigned *alignment_B);

// For the functions of cardless.h that kernels call. Outside of a kernel they do nothing.
const cardlessThread *em_host_thread(void);
void em_host_barrier(bool of_grid);
void *em_host_variable(unsigned index);
void em_host_trap(void);
void em_host_assert(const char *assertion, const char *file, unsigned line, const char *function);
