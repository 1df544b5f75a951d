// SPDX-License-Identifier: MIT
// For programs that tests start: a call that fails ends the program.
#pragma once
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        CUresult r_ = (call);                                                                      \
        if (r_) {                                                                                  \
            fprintf(stderr, "%s: %d\n", #call, (int)r_);                                           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
