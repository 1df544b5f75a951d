// SPDX-License-Identifier: MIT
// Surface references: names in a module that can be bound to an array. Only modules create them.
#pragma once
#include <cuda.h>

#include "object.h"

struct em_surface_reference {
    struct em_object object; // type EM_SURFACE_REFERENCE
    CUarray array;           // NULL if the reference is not bound
};

// cuSurfRefSetArray, cuSurfRefGetArray. Take the lock.
CUresult em_surface_reference_set(CUsurfref handle, CUarray array, unsigned flags);
CUresult em_surface_reference_get(CUsurfref handle, CUarray *out);
