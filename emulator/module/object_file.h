// SPDX-License-Identifier: MIT
// PTX in the output of a host compiler: object files, and libraries of them (nvcc -rdc -c, nvcc
// -lib).
#pragma once
#include <cuda.h>

#include "fat_binary.h"

// Adds the PTX of all fat binaries in an ELF file, or in the members of a library that are ELF
// files. CUDA_ERROR_UNKNOWN if the bytes are not such a file, or have no fat binary (recorded:
// link/ptx-as-other-type). Precondition: em_lock not held.
CUresult em_object_texts(const struct em_bytes *bytes, unsigned architecture, const char *name,
                         struct em_texts *out);
CUresult em_archive_texts(const struct em_bytes *bytes, unsigned architecture,
                          struct em_texts *out);
