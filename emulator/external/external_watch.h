// SPDX-License-Identifier: MIT
// Watches buffers that are mapped on imported memory, and reports mistakes in their use: a write
// through one mapping that is read through another, and use after the external memory object was
// destroyed.
#pragma once
#include "imported.h"
#include "intervals.h"
#include "memory.h"

// The em_allocation.owner of a mapped buffer.
struct em_external_mapping {
    struct em_allocation allocation;
    struct em_imported *imported;
    uint64_t offset;
    uint32_t journal;
    struct dm_interval bytes; // of the payload; in imported->mappings
    // The bytes of the payload that commands wrote through this mapping in epoch `written_epoch`;
    // in imported->written if that is the epoch of the set.
    struct dm_interval written;
    uint64_t written_epoch;
    bool said_alias, said_destroyed, said_unflushed;
};

// Adds a mapping that has entered the memory map to its object's mappings, and removes it again.
// Precondition: em_lock held.
void em_external_watch(struct em_external_mapping *mapping);
void em_external_unwatch(struct em_external_mapping *mapping);
// The object's handle is destroyed: from now on, using one of its mappings is a mistake.
// Precondition: em_lock held.
void em_external_watch_destroyed(struct em_imported *imported);
