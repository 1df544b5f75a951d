// SPDX-License-Identifier: MIT
// The object of a CUexternalMemory, for the calls that map buffers and mipmapped arrays on it.
#pragma once
#include <cuda.h>

#include "imported.h"
#include "object.h"

struct em_external {
    struct em_object object; // type EM_EXTERNAL_MEMORY
    struct em_imported *imported;
    uint32_t journal;
};

// The object of a handle. Precondition: em_lock held.
CUresult em_external_get(CUexternalMemory handle, struct em_external **out);
