// SPDX-License-Identifier: MIT
// The mappings of cuMemMap in a range of addresses.
#pragma once
#include "memory.h"
#include "physical_object.h"

// What em_allocation.owner of such a mapping is.
struct em_virtual_mapping {
    struct em_allocation allocation;
    struct em_physical_object *object;
    unsigned numa_access; // what cuMemSetAccess gave the host, for memory that lies there
};

// What the host and the device may do comes to this for the pages. Precondition: em_lock held.
unsigned em_virtual_page_flags(const struct em_virtual_mapping *mapping);
// The first mapping at or above `address` that begins below `end`, or NULL; *cut tells of one that
// reaches out of [address, end).
struct em_allocation *em_virtual_next(uint64_t address, uint64_t end, uint64_t from, bool *cut);
// Whether [address, end) holds whole mappings alone; with `no_holes`, nothing else. Precondition:
// em_lock held.
CUresult em_virtual_check_whole(uint64_t address, uint64_t end, bool no_holes);
// Waits for what uses mappings where the device may do more than `kept`. Mappings belong to no
// context. The manual leaves it to the program to wait for what uses them; work that comes too late
// would touch pages that are gone, so all of it is waited for where access is lost. Gives up the
// lock meanwhile: check again afterwards. Precondition: em_lock held.
CUresult em_virtual_wait(uint64_t address, uint64_t end, unsigned kept);
