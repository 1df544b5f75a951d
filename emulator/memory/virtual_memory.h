// SPDX-License-Identifier: MIT
// The manual's chapter "Virtual Memory Management": reserved addresses, and mappings of physical
// memory on them.
#pragma once
#include <cuda.h>
#include <stdint.h>

#include "physical_object.h"

// Returns the physical memory that an allocation of kind EM_MEMORY_VIRTUAL maps.
// Precondition: em_lock held.
struct em_allocation;
struct em_physical_object *em_mapped_object(const struct em_allocation *a);

// The work of the entry points, which have checked their arguments for NULL. All take the lock.
CUresult em_virtual_reserve(uint64_t size, uint64_t alignment, uint64_t hint, uint64_t *out);
CUresult em_virtual_free(uint64_t address, uint64_t size);
CUresult em_virtual_map(uint64_t address, uint64_t size, uint64_t offset,
                        CUmemGenericAllocationHandle handle);
CUresult em_virtual_unmap(uint64_t address, uint64_t size);
CUresult em_virtual_set_access(uint64_t address, uint64_t size, const CUmemAccessDesc *desc,
                               size_t count);
CUresult em_virtual_get_access(uint64_t address, const CUmemLocation *location,
                               unsigned long long *out);
