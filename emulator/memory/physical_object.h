// SPDX-License-Identifier: MIT
// Physical memory of the manual's chapter "Virtual Memory Management": what a
// CUmemGenericAllocationHandle stands for.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "object.h"
#include "physical.h"

// Every card known maps in pages of 2 MiB.
enum { EM_VIRTUAL_GRANULE = 2 << 20 };

// It lives while a handle or a mapping holds it, and keeps its handle's number so long.
struct em_physical_object {
    struct em_object object; // type EM_PHYSICAL
    CUmemAllocationProp prop;
    struct dm_physical *physical;
    uint64_t size;
    unsigned handles; // cuMemCreate, cuMemImportFromShareableHandle and cuMemRetainAllocationHandle
                      // less cuMemRelease
    unsigned mappings;
    bool imported;
    bool tile_pool; // for cuMemMapArrayAsync alone
};

// The object of a handle that has not been released; CUDA_ERROR_INVALID_VALUE with a sentence.
// Precondition: em_lock held.
CUresult em_physical_get(CUmemGenericAllocationHandle handle, struct em_physical_object **out);
// Whether it lies on the host, which can then reach its mappings.
bool em_physical_on_host(const struct em_physical_object *object);
// Ends the object when nothing holds it any more. Precondition: em_lock held.
void em_physical_let_go(struct em_physical_object *object);

// The entry points' work; arguments that must not be NULL are not. All take the lock.
CUresult em_physical_create(uint64_t size, const CUmemAllocationProp *prop,
                            CUmemGenericAllocationHandle *out);
CUresult em_physical_release(CUmemGenericAllocationHandle handle);
CUresult em_physical_retain(uint64_t address, CUmemGenericAllocationHandle *out);
CUresult em_physical_properties(CUmemGenericAllocationHandle handle, CUmemAllocationProp *out);
CUresult em_physical_export(CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                            int *fd);
CUresult em_physical_import(int fd, CUmemGenericAllocationHandle *out);
