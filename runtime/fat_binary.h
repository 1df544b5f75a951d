// SPDX-License-Identifier: MIT
// Fat binaries: loads what compiled code has registered, when it is first used.
//
// A fat binary becomes a library of the driver, which exists once for all contexts. The driver puts
// its code and variables into a context when they are first used there.
#pragma once
#include "registry.h"
#include "rt.h"

// Finds the kernel that the program registered for the host function `host`.
// Errors: cudaErrorInvalidDeviceFunction if nothing is registered, or if its fat binary has no such
// kernel; errors of loading.
cudaError_t rt_registered_kernel(const void *host, CUkernel *kernel);

// Finds the kernel or function that `func` names for a launch: a host function, a cudaKernel_t or
// a cudaFunction_t. The driver takes both kinds of handles as functions, and checks them.
// Errors: cudaErrorInvalidDeviceFunction if `func` is NULL; errors of loading.
cudaError_t rt_launchable(const void *func, CUfunction *function);

// Finds the current context's function of a kernel. Returns CUDA_ERROR_INVALID_HANDLE without a
// message if `launchable` is not a kernel.
CUresult rt_kernel_function(CUfunction launchable, CUfunction *function);

// As rt_launchable(), but returns the function of the current context.
cudaError_t rt_function(const void *func, CUfunction *function);

// Returns the host function that the program registered for `kernel`, or `kernel` itself.
const void *rt_host_function(CUkernel kernel);

// Finds the variable that the program names by the address of its host copy, in the current
// context. `address` or `size` may be NULL.
// Errors: cudaErrorInvalidSymbol if nothing is registered; errors of loading.
cudaError_t rt_variable(const void *symbol, CUdeviceptr *address, size_t *size);

// As rt_variable(), for `count` bytes from `offset`.
// Errors: cudaErrorInvalidValue if the variable is smaller.
cudaError_t rt_variable_range(const void *symbol, size_t offset, size_t count, CUdeviceptr *range);

// Loads the library of a binary unless it is loaded. After a failure, the next call tries again.
cudaError_t rt_binary_load(struct rt_binary *binary, CUlibrary *library);

// Finds the memory of a managed variable, which is the same in all contexts, and stores it in the
// pointer that compiled code reads. Loads the binary into the current context if necessary.
cudaError_t rt_managed_memory(struct rt_symbol *symbol, void **memory);

// The first context of the process exists: loads all registered binaries if CUDA_MODULE_LOADING is
// EAGER. A binary that cannot be loaded returns its error when it is used.
void rt_binaries_load(void);

// Takes over a binary that nothing refers to any more. Its library is unloaded later, because that
// waits for work on the device, and closing a shared object does not (recorded:
// waiting/close-library).
void rt_binary_retire(struct rt_binary *binary);

// Unloads the libraries of retired binaries. Called where the program waits anyway: when it
// synchronises with the device, or when another binary is loaded.
void rt_binaries_unload(void);
