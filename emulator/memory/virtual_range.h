// SPDX-License-Identifier: MIT
// The mappings of cuMemMap in a range of addresses.
#pragma once
#include "memory.h"
#include "physical_object.h"

// The owner (em_allocation.owner) of such a mapping.
struct em_virtual_mapping {
    struct em_allocation allocation;
    struct em_physical_object *object;
    unsigned numa_access; // the host's access, set by cuMemSetAccess, if the memory is on the host
};

// Returns the DM_MAP_* flags of the pages, from the access of the host and the device.
// Precondition: em_lock held.
unsigned em_virtual_page_flags(const struct em_virtual_mapping *mapping);
// Returns the first allocation with a byte in [from, end), or NULL. *cut is set if it is not a
// mapping or extends beyond [address, end). Precondition: em_lock held.
struct em_allocation *em_virtual_next(uint64_t address, uint64_t end, uint64_t from, bool *cut);
// Checks that [address, end) contains only whole mappings and, if `no_holes` is set, no unmapped
// addresses. Precondition: em_lock held.
CUresult em_virtual_check_whole(uint64_t address, uint64_t end, bool no_holes);
// If the device has more access than `kept` to a mapping in [address, end), waits for all submitted
// work, in every context because mappings belong to no context. The manual leaves this wait to the
// program, but late work would access pages that are gone. Releases em_lock while it waits, so the
// caller must check its arguments again. Precondition: em_lock held.
CUresult em_virtual_wait(uint64_t address, uint64_t end, unsigned kept);
