// SPDX-License-Identifier: MIT
// Objects: the state that the layer keeps of a semaphore or fence of the program.
//
// An object acts on one of these, and the first that it has:
//
//   temporary           a payload that was imported with temporary permanence
//   drivers_temporary   the same, imported into the driver's semaphore or fence (SYNC_FD)
//   permanent           the payload that it was created with, or that was imported for good
//   otherwise           the driver's semaphore or fence itself
//
// A wait, the reset of a fence or an export ends the temporary ones. No lock is held before a call
// unless its comment says so.
#pragma once
#include "record.h"
#include "sync_payload.h"

struct vl_sync;

struct vl_object {
    struct vl_key key;
    enum dm_semaphore_kind kind; // a fence is binary
    struct vl_payload *permanent, *temporary;
    bool drivers_temporary;
    UT_hash_handle hh;
};

// The semaphores or the fences of a device. They have a table each, because a semaphore and a fence
// may have the same number.
struct vl_objects {
    struct vl_sync *sync;
    struct vl_object *table;
};

// Returns NULL if the layer has no record of the handle: then the object is the driver's. A fence
// or semaphore that does not exist gives NULL, too. Precondition: vl_sync_lock held.
struct vl_object *vl_object_find(struct vl_objects *objects, uint64_t handle);
// Returns the payload that a signal, a query or an export acts on, without a reference; NULL if
// that is the driver's object, or `object` is NULL. Precondition: vl_sync_lock held.
struct vl_payload *vl_object_payload(const struct vl_object *object);
// The same with a reference for the caller, and whether there is one.
struct vl_payload *vl_object_take(struct vl_objects *objects, uint64_t handle);
bool vl_object_is_ours(struct vl_objects *objects, uint64_t handle);
// Ends a temporary payload. Precondition: vl_sync_lock held.
void vl_object_restore(struct vl_object *object);

// Adds a record. Takes the payload over; drops it if memory runs out.
VkResult vl_object_add(struct vl_objects *objects, uint64_t handle, enum dm_semaphore_kind kind,
                       struct vl_payload *permanent);
// Drops the record of an object that the program destroys. Submissions that are pending have
// references to payloads of their own. If the device is lost, waits until no queue uses the object.
void vl_object_remove(struct vl_objects *objects, uint64_t handle);
// Drops all records of a device that ends. Nobody uses it.
void vl_objects_finish(struct vl_objects *objects);

// Imports a descriptor, which then belongs to the layer. Returns VK_ERROR_INVALID_EXTERNAL_HANDLE
// if it is not a payload of the object's kind. If it fails, the descriptor stays the program's.
VkResult vl_object_import(struct vl_objects *objects, uint64_t handle, int fd, bool temporary);
// Notes that the driver has imported a payload into its object.
void vl_object_imported(struct vl_objects *objects, uint64_t handle, bool temporary);
// Exports the payload as OPAQUE_FD. Returns VK_ERROR_INVALID_EXTERNAL_HANDLE if the object acts on
// the driver's.
VkResult vl_object_export(struct vl_objects *objects, uint64_t handle, int *fd);
// Notes that the driver has exported a copy of its payload (SYNC_FD).
void vl_object_exported(struct vl_objects *objects, uint64_t handle);
