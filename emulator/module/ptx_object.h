// SPDX-License-Identifier: MIT
// The textures and surfaces of a grid that runs.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code.h"
#include "kn_lanes.h"

struct em_ptx_held;

// Begins as {.grid = …}. The rest is under em_lock.
struct em_ptx_objects {
    const struct em_grid *grid;
    struct em_ptx_held *held; // objects that the grid uses
    bool short_of_memory;     // for the list
    // A handle that names nothing was used, and the driver goes on (quirk OBJECT_HANDLE_EMPTY).
    bool empty;
    enum kn_object_kind empty_kind;
    uint64_t empty_handle;
};

// All have the precondition: em_lock not held.

// The struct kn_texture or kn_image of a handle, or NULL. It stays valid until
// em_ptx_objects_finish, even if the program destroys the object. Each part of a grid asks once for
// each object that it uses.
const void *em_ptx_object_find(struct em_ptx_objects *objects, enum kn_object_kind kind,
                               uint64_t handle);
// Writes a sentence about a handle that em_ptx_object_find has not found. Returns false if that
// failed because host memory is short.
bool em_ptx_object_text(struct em_ptx_objects *objects, enum kn_object_kind kind, uint64_t handle,
                        char *out, size_t size_B);
// Drops the references, and reports an empty handle: once for each kernel, as `*said` says.
void em_ptx_objects_finish(struct em_ptx_objects *objects, bool *said);
