// SPDX-License-Identifier: MIT
// Cubins: ELF files of a card's machine code, which cannot run here.
#pragma once
#include <cuda.h>
#include <stdint.h>

#include "fat_binary.h"

// What to do about a cubin.
#define EM_CUBIN_ADVICE                                                                            \
    "build the program so that it contains PTX (nvcc -gencode arch=compute_75,code=compute_75)"

// Whether the bytes [at, at + size_B) are an intact ELF file: its sections and segments lie inside.
// CUDA_ERROR_INVALID_IMAGE if not.
CUresult em_cubin_check(const struct em_bytes *bytes, uint64_t at, uint64_t size_B);
