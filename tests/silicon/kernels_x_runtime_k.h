// SPDX-License-Identifier: MIT
// The host code that nvcc generates for probes/x_runtime_k.cu, written by hand so that the probe is
// built without nvcc. The texts of the kernels are x_runtime_k.ptx.gz, one for each PART.
#pragma once
#include "../runtime/program.h"
#include "x_runtime_k_ptx.h"

#define X_CFG int gx, int gy, int gz, int bx, int by, int bz, size_t sh, cudaStream_t s
#define GRID ((dim3){(unsigned)gx, (unsigned)gy, (unsigned)gz})
#define BLOCK ((dim3){(unsigned)bx, (unsigned)by, (unsigned)bz})
#define ONE ((dim3){1, 1, 1})

// kernel<<<grid, block, shared, stream>>>(arguments)
#define GO(grid, block, shared, stream, call)                                                      \
    do {                                                                                           \
        if (!__cudaPushCallConfiguration(grid, block, shared, stream))                             \
            call;                                                                                  \
    } while (0)

// The host function of a kernel.
#define KERNEL(name, parameters, ...)                                                              \
    static void name parameters                                                                    \
    {                                                                                              \
        static cudaKernel_t kernel;                                                                \
        (void)program_launch(&kernel, name, (void *[]){__VA_ARGS__});                              \
    }
