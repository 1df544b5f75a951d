// SPDX-License-Identifier: MIT
// Physical memory of the manual's chapter "Virtual Memory Management". A
// CUmemGenericAllocationHandle refers to one such object.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "object.h"
#include "physical.h"

// All known cards map pages of 2 MiB.
enum { EM_VIRTUAL_GRANULE = 2 << 20 };

// The object lives while a handle or a mapping refers to it, and keeps its number until then.
struct em_physical_object {
    struct em_object object; // type EM_PHYSICAL
    CUmemAllocationProp prop;
    struct dm_physical *physical;
    uint64_t size;
    unsigned handles; // calls of cuMemCreate, cuMemImportFromShareableHandle and
                      // cuMemRetainAllocationHandle, minus calls of cuMemRelease
    unsigned mappings;
    bool imported;
    bool tile_pool; // only cuMemMapArrayAsync maps it
};

// Returns the object of a handle, or reports CUDA_ERROR_INVALID_VALUE if the handle has been
// released.
// Precondition: em_lock held.
CUresult em_physical_get(CUmemGenericAllocationHandle handle, struct em_physical_object **out);
// Returns whether the memory is on the host. If it is, the host can access its mappings.
bool em_physical_on_host(const struct em_physical_object *object);
// Ends the object if no handle and no mapping refers to it. Precondition: em_lock held.
void em_physical_end_if_unused(struct em_physical_object *object);

// The work of the entry points, which have checked their arguments for NULL. All take the lock.
CUresult em_physical_create(uint64_t size, const CUmemAllocationProp *prop,
                            CUmemGenericAllocationHandle *out);
CUresult em_physical_release(CUmemGenericAllocationHandle handle);
CUresult em_physical_retain(uint64_t address, CUmemGenericAllocationHandle *out);
CUresult em_physical_properties(CUmemGenericAllocationHandle handle, CUmemAllocationProp *out);
CUresult em_physical_export(CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                            int *fd);
CUresult em_physical_import(int fd, CUmemGenericAllocationHandle *out);
