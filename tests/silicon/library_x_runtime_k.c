// SPDX-License-Identifier: MIT
// The host code of probes/x_runtime_k.cu, PART 5: the library that the probe opens and closes. See
// kernels_x_runtime_k.h.
#include "kernels_x_runtime_k.h"

#define EXPORT __attribute__((visibility("default")))

static unsigned so_var, so_const;
KERNEL(k_so, (unsigned *o), &o)

EXPORT const void *so_symbol(void);
EXPORT const void *so_kernel(void);
EXPORT void so_go(unsigned *p);

const void *so_symbol(void)
{
    return &so_var;
}

const void *so_kernel(void)
{
    return k_so;
}

void so_go(unsigned *p)
{
    GO(ONE, ONE, 0, NULL, k_so(p));
}

static struct program_wrapper wrapper;
static void **handle;

__attribute__((constructor)) static void register_library(void)
{
    wrapper = program_wrapper(part_5);
    handle = __cudaRegisterFatBinary(&wrapper);
    program_function(handle, k_so, "k_so");
    program_variable(handle, &so_var, "so_var", sizeof so_var);
    program_variable(handle, &so_const, "so_const", sizeof so_const);
    __cudaRegisterFatBinaryEnd(handle);
}

__attribute__((destructor)) static void unregister_library(void)
{
    __cudaUnregisterFatBinary(handle);
    program_finish(&wrapper);
}
