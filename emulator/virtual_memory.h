// SPDX-License-Identifier: MIT
// The manual's chapter "Virtual Memory Management": reserved addresses, physical memory, and mappings of one on the other.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "object.h"
#include "physical.h"

// Every card known maps in pages of 2 MiB.
enum { EM_VIRTUAL_GRANULE = 2 << 20 };

// What a CUmemGenericAllocationHandle stands for. It lives while a handle or a mapping holds it, and keeps its handle's number so long.
struct em_physical_object {
    struct em_object object; // type EM_PHYSICAL
    CUmemAllocationProp prop;
    struct dm_physical *physical;
    uint64_t size;
    unsigned handles; // cuMemCreate, cuMemImportFromShareableHandle and cuMemRetainAllocationHandle less cuMemRelease
    unsigned mappings;
    bool imported;
    bool tile_pool; // for cuMemMapArrayAsync alone
};

// The object of a handle that has not been released; CUDA_ERROR_INVALID_VALUE with a sentence. Precondition: em_lock held.
CUresult em_physical_get(CUmemGenericAllocationHandle handle, struct em_physical_object **out);

// What an allocation of kind EM_MEMORY_VIRTUAL maps. Precondition: em_lock held.
struct em_allocation;
struct em_physical_object *em_mapped_object(const struct em_allocation *a);

// The entry points' work; arguments that must not be NULL are not. All take the lock.
CUresult em_virtual_reserve(uint64_t size, uint64_t alignment, uint64_t hint, uint64_t *out);
CUresult em_virtual_free(uint64_t address, uint64_t size);
CUresult em_physical_create(uint64_t size, const CUmemAllocationProp *prop, CUmemGenericAllocationHandle *out);
CUresult em_physical_release(CUmemGenericAllocationHandle handle);
CUresult em_physical_retain(uint64_t address, CUmemGenericAllocationHandle *out);
CUresult em_physical_properties(CUmemGenericAllocationHandle handle, CUmemAllocationProp *out);
CUresult em_physical_export(CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type, int *fd);
CUresult em_physical_import(int fd, CUmemGenericAllocationHandle *out);
CUresult em_virtual_map(uint64_t address, uint64_t size, uint64_t offset, CUmemGenericAllocationHandle handle);
CUresult em_virtual_unmap(uint64_t address, uint64_t size);
CUresult em_virtual_set_access(uint64_t address, uint64_t size, const CUmemAccessDesc *desc, size_t count);
CUresult em_virtual_get_access(uint64_t address, const CUmemLocation *location, unsigned long long *out);
