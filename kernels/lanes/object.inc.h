// SPDX-License-Identifier: MIT
// For the families that use textures and surfaces: finds the object of a handle.
#pragma once

#include "lanes.inc.h"

// The object of a handle, or NULL. A handle that was found lately costs one comparison.
static inline const void *kn_object(const struct kn_warp *w, enum kn_object_kind kind,
                                    uint64_t handle)
{
    struct kn_objects *objects = w->memory->objects;
    if (!objects)
        return NULL;
    // Handles of objects that were made one after the other should have different places.
    const uint64_t place =
        (handle ^ handle >> 4 ^ handle >> 16 ^ (uint64_t)kind) % KN_OBJECTS_RECENT;
    if (objects->recent[place].handle == handle && objects->recent[place].kind == kind &&
        objects->recent[place].object)
        return objects->recent[place].object;
    const void *object = objects->find(objects, kind, handle);
    if (object) {
        objects->recent[place].handle = handle;
        objects->recent[place].kind = kind;
        objects->recent[place].object = object;
    }
    return object;
}

// The lanes of `mask` that have the same handle as the lowest of them.
static inline uint32_t kn_same_handle(const uint64_t *handles, uint32_t mask)
{
    const uint64_t first = handles[kn_lowest(mask)];
    uint32_t same = 0;
    uint64_t differ = 0;
    KN_EACH_LANE
    differ |= handles[i] ^ first;
    if (!differ)
        return mask;
    for (int i = 0; i < KN_LANES; i++)
        same |= (uint32_t)(handles[i] == first) << i;
    return same & mask;
}

// Stops the warp because a handle is wrong. Returns NULL.
static inline const void *kn_object_fault(const struct kn_op *op, struct kn_warp *w,
                                          enum kn_object_kind kind, uint32_t lanes, uint64_t handle)
{
    w->at = op;
    w->fault =
        (struct kn_fault){.kind = kind == KN_OBJECT_TEXTURE ? KN_FAULT_TEXTURE : KN_FAULT_SURFACE,
                          .space = KN_FAULT_GENERIC,
                          .lanes = lanes,
                          .address = handle};
    w->stop = KN_STOP_FAULT;
    return NULL;
}
