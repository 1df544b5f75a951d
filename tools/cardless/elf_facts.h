// SPDX-License-Identifier: MIT
// Facts about an ELF program that decide whether it loads our libcuda.so.1.
#pragma once
#include <limits.h>
#include <stdbool.h>

struct elf_facts {
    bool is_elf;          // a 64-bit little-endian ELF file for this machine
    bool is_dynamic;      // has an interpreter and a dynamic section
    bool has_device_code; // carries nvcc's fat binaries
    bool needs_cudart;    // DT_NEEDED libcudart.so.*
    bool needs_cuda;      // DT_NEEDED libcuda.so.*
    bool is_setid;        // set-user-id or set-group-id: the loader ignores LD_LIBRARY_PATH
    char rpath[PATH_MAX]; // DT_RPATH if it has an effect (there is no DT_RUNPATH), else empty
};

// Fills *facts from the file. Never fails: facts that cannot be read, from a truncated or hostile
// file for example, stay false.
void elf_read(const char *path, struct elf_facts *facts);
