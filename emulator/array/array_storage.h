// SPDX-License-Identifier: MIT
// The memory of an array or mipmapped array, shared by its levels and planes.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "access.h"
#include "box.h"
#include "layout.h"

struct em_array_plan;
struct em_context;

// The memory of a mipmapped array. The array, its levels and their planes each hold a reference.
struct em_storage {
    unsigned references;
    struct dm_layout layout;
    uint64_t address; // device address of the layout's byte 0
    uint64_t size_B;  // size of the memory from `address` on
    // Bytes from `address` on that exist, though they may belong to other arrays; at least size_B.
    // 0: unknown
    uint64_t readable_B;
    // A copy may fault, because another process can truncate the file or because nothing may be
    // mapped here.
    bool may_fault;
    bool mapped;               // on external memory
    bool written;              // perhaps: by a copy, or through a surface
    bool of_graphics;          // the view of a mapped resource, whose memory outlives it
    const char *poison_reason; // why a copy poisons the context, as on the card; NULL if it does
                               // not
    const char *stale_reason; // why kernels cannot access it, although copies can; NULL if they can
    void *owner;              // the argument of `release`, a struct of its own
    // Frees the memory and the struct. Precondition: em_lock held.
    void (*release)(struct em_storage *);
    // Called by a command before it reads from the storage; may be NULL.
    // Precondition: em_lock not held.
    void (*before_read)(struct em_storage *);
    const struct em_watch_ops *watch; // notified of commands that access the storage; may be NULL
};

// Allocates memory for an array from a heap of the context (context_heap.h). Sparse arrays and
// arrays with deferred mapping get addresses only, because cuMemMapArrayAsync maps their memory.
// Precondition: em_lock held.
CUresult em_storage_create(struct em_context *context, const struct em_array_plan *plan,
                           struct em_storage **out);
// Initializes `access` as an access to a box of a level, and takes a reference to the storage.
// Watchers find the storage in access->owner. Precondition: em_lock held.
void em_storage_access(struct em_access *access, struct em_storage *storage, uint32_t level,
                       const struct dm_position *at, const struct dm_box_extent *extent,
                       enum em_access_mode mode);
// Brings the storage of an access up to date if the access reads an array: before_read.
// Precondition: em_lock not held.
void em_storage_before_read(const struct em_access *access);

void em_storage_ref(struct em_storage *storage);
// Precondition: em_lock held.
void em_storage_unref(struct em_storage *storage);
