// SPDX-License-Identifier: MIT
// Fat binaries: containers of one kernel source for several architectures, as PTX text and as
// machine code.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "texts.h"

// Bytes that the program gives: of a file, or in memory from an address on, whose number is
// unknown.
#define EM_UNKNOWN_SIZE UINT64_MAX
struct em_bytes {
    const char *at;
    uint64_t size_B;
};
// Whether `size_B` bytes from `from` on can be read. Reports why not.
CUresult em_bytes_check(const struct em_bytes *bytes, uint64_t from, uint64_t size_B);

// Whether bytes begin like a container, or like the struct with which a program refers to one. At
// most 4 bytes are read, and not beyond the first difference.
bool em_is_fat_binary(const char *bytes);

// The head of a container, and the struct with which a program refers to one (nvcc's
// fatBinaryCtl.h).
#define EM_FAT_CONTAINER_MAGIC 0xba55ed50u
#define EM_FAT_WRAPPER_MAGIC 0x466243b1u
struct em_fat_container {
    uint32_t magic;
    uint16_t version, head_B;
    uint64_t rest_B;
};
enum { EM_FAT_WRAPPER_PLAIN = 1, EM_FAT_WRAPPER_LINKED = 2 }; // versions; 2: nvcc -rdc=true
struct em_fat_wrapper {
    uint32_t magic, version;
    const char *data;
    const void *more; // version 2: a list of containers that ends with NULL
};

// Adds the PTX that suits an architecture (90 for sm_90) best: that of the highest one not above
// it. Without PTX, CUDA_ERROR_NO_BINARY_FOR_GPU. A program's struct of version 2 refers to
// several containers, whose texts must be linked. Precondition: em_lock not held.
CUresult em_fat_binary_texts(const struct em_bytes *bytes, unsigned architecture,
                             struct em_texts *out);

// The same for all containers that lie in [from, from + size_B), one after the other, as in a
// section of an object file. Containers without PTX are left out.
CUresult em_fat_binaries_texts(const struct em_bytes *bytes, uint64_t from, uint64_t size_B,
                               unsigned architecture, const char *name, struct em_texts *out);
