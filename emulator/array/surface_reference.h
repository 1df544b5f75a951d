// SPDX-License-Identifier: MIT
// Surface references: names in a module that can be bound to an array. Only modules create them.
#pragma once
#include <cuda.h>

#include "object.h"

struct em_context;

struct em_surface_reference {
    struct em_object object; // type EM_SURFACE_REFERENCE
    CUarray array;           // NULL if the reference is not bound
};

// A reference that is not bound. Precondition: em_lock held.
CUresult em_surface_reference_new(struct em_context *context, struct em_object **out);

// cuSurfRefSetArray, cuSurfRefGetArray. Take the lock.
CUresult em_surface_reference_set(CUsurfref handle, CUarray array, unsigned flags);
CUresult em_surface_reference_get(CUsurfref handle, CUarray *out);
