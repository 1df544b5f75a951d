// SPDX-License-Identifier: MIT
// Buffers mapped on imported memory, and what is noticed of their use: writes through one mapping
// that are read through another, and use after the external memory object is gone.
#pragma once
#include "imported.h"
#include "memory.h"

// What em_allocation.owner of a mapped buffer is.
struct em_external_mapping {
    struct em_allocation allocation;
    struct em_imported *imported;
    uint64_t offset;
    uint32_t journal;
    struct em_external_mapping *next; // in imported->mappings
    // Bytes of the payload that commands wrote through this mapping since epoch `dirty_epoch`
    // began.
    uint64_t dirty_first, dirty_end, dirty_epoch;
    bool said_alias, said_destroyed, said_unflushed;
};

// Puts a mapping that has entered the memory map into its object's list. Precondition: em_lock
// held.
void em_external_watch(struct em_external_mapping *mapping);
void em_external_unwatch(struct em_external_mapping *mapping);
// The object's handle is destroyed: from now on uses of its mappings are mistakes. Precondition:
// em_lock held.
void em_external_watch_destroyed(struct em_imported *imported);
