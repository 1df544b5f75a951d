// SPDX-License-Identifier: MIT
// The linker (cuLink*): joins PTX of several inputs to one image.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

#include "code.h"

// Precondition of all: em_lock not held.

// The caller's own bytes are kept in the linker.
struct em_link_own {
    char bytes[128];
};

// Makes a linker in the current context. `target` is the architecture of CU_JIT_TARGET, or NULL for
// that of the device. The image keeps the limit of registers.
CUresult em_link_create(const unsigned *target, const struct em_register_limit *registers,
                        const struct em_link_own *own, CUlinkState *out);
// Copies the caller's own bytes out.
CUresult em_link_own(CUlinkState state, struct em_link_own *own);

// Adds an input. `name` may be NULL. An input with a mistake is not added. If it does not go with
// the earlier ones, no image can be made any more.
CUresult em_link_add(CUlinkState state, CUjitInputType type, const void *data, size_t size_B,
                     const char *name);
CUresult em_link_add_file(CUlinkState state, CUjitInputType type, const char *path);
// Makes the image, which lives as long as the linker. `size_B` may be NULL.
CUresult em_link_complete(CUlinkState state, void **image, size_t *size_B);
CUresult em_link_destroy(CUlinkState state);
