// SPDX-License-Identifier: MIT
// Checks of programs that nvcc compiles. A failed check prints its values, and ends the program.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define OK(call) GIVES(call, cudaSuccess)
#define GIVES(call, code)                                                                          \
    do {                                                                                           \
        const cudaError_t got_ = (call), want_ = (code);                                           \
        if (got_ != want_) {                                                                       \
            printf("%s:%d: %s gives %s, expected %s\n", __FILE__, __LINE__, #call,                 \
                   cudaGetErrorName(got_), cudaGetErrorName(want_));                               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define EQUAL(got, want)                                                                           \
    do {                                                                                           \
        const long long got_ = (long long)(got), want_ = (long long)(want);                        \
        if (got_ != want_) {                                                                       \
            printf("%s:%d: %s is %lld, expected %lld\n", __FILE__, __LINE__, #got, got_, want_);   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
