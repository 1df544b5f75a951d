// SPDX-License-Identifier: MIT
// Creates, finds, imports and exports the payloads of semaphores and fences.
#include "sync.h"

struct vl_object *vl_object_find(struct vl_objects *objects, uint64_t handle)
{
    dm_assert_locked(&vl_sync_lock);
    struct vl_key key = {objects->sync->device, handle};
    return DM_TABLE_FIND(objects->table, &key);
}

struct vl_payload *vl_object_payload(const struct vl_object *o)
{
    dm_assert_locked(&vl_sync_lock);
    if (!o || o->drivers_temporary)
        return NULL;
    return o->temporary ? o->temporary : o->permanent;
}

struct vl_payload *vl_object_take(struct vl_objects *objects, uint64_t handle)
{
    dm_mutex_lock(&vl_sync_lock);
    struct vl_payload *p = vl_payload_take(vl_object_payload(vl_object_find(objects, handle)));
    dm_mutex_unlock(&vl_sync_lock);
    return p;
}

bool vl_object_is_ours(struct vl_objects *objects, uint64_t handle)
{
    dm_mutex_lock(&vl_sync_lock);
    bool ours = vl_object_payload(vl_object_find(objects, handle));
    dm_mutex_unlock(&vl_sync_lock);
    return ours;
}

void vl_object_restore(struct vl_object *o)
{
    dm_assert_locked(&vl_sync_lock);
    vl_payload_drop(o->temporary);
    o->temporary = NULL;
    o->drivers_temporary = false;
}

// ---- records

VkResult vl_object_add(struct vl_objects *objects, uint64_t handle, enum dm_semaphore_kind kind,
                       struct vl_payload *permanent)
{
    struct vl_object *o = dm_calloc(1, sizeof *o);
    if (o) {
        o->key = (struct vl_key){objects->sync->device, handle};
        o->kind = kind;
        o->permanent = permanent;
        dm_mutex_lock(&vl_sync_lock);
        int status = DM_TABLE_ADD(objects->table, key, o);
        dm_mutex_unlock(&vl_sync_lock);
        if (!status)
            return VK_SUCCESS;
    }
    dm_free(o);
    vl_payload_drop(permanent);
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void object_free(struct vl_object *o)
{
    vl_payload_drop(o->permanent);
    vl_payload_drop(o->temporary);
    dm_free(o);
}

void vl_object_remove(struct vl_objects *objects, uint64_t handle)
{
    dm_mutex_lock(&vl_sync_lock);
    struct vl_object *o = vl_object_find(objects, handle);
    if (o)
        DM_TABLE_REMOVE(objects->table, o);
    dm_mutex_unlock(&vl_sync_lock);
    if (o)
        object_free(o);
    if (vl_sync_lost(objects->sync))
        vl_queue_drain(objects->sync, VK_NULL_HANDLE);
}

void vl_objects_finish(struct vl_objects *objects)
{
    struct vl_object *o, *next;
    DM_TABLE_EACH (objects->table, o, next) {
        DM_TABLE_REMOVE(objects->table, o);
        object_free(o);
    }
}

// ---- import and export

// Puts an imported payload into the object, and drops the one that it replaces. `payload` is NULL
// if the driver has imported it.
static void object_replace(struct vl_object *o, struct vl_payload *payload, bool temporary)
{
    dm_assert_locked(&vl_sync_lock);
    struct vl_payload **slot = temporary ? &o->temporary : &o->permanent;
    vl_payload_drop(*slot);
    *slot = payload;
    if (temporary)
        o->drivers_temporary = !payload;
}

VkResult vl_object_import(struct vl_objects *objects, uint64_t handle, int fd, bool temporary)
{
    dm_mutex_lock(&vl_sync_lock);
    const struct vl_object *o = vl_object_find(objects, handle);
    enum dm_semaphore_kind kind = o ? o->kind : DM_SEMAPHORE_BINARY;
    dm_mutex_unlock(&vl_sync_lock);
    // A successful import closes the descriptor, so everything that can fail comes before. A record
    // without payloads changes nothing. The program must not use the object in two calls at once,
    // so nobody adds it meanwhile.
    VkResult r = o ? VK_SUCCESS : vl_object_add(objects, handle, kind, NULL);
    struct vl_payload *payload;
    if (!r)
        r = vl_payload_import(fd, kind, &payload);
    if (r)
        return r;
    dm_mutex_lock(&vl_sync_lock);
    object_replace(vl_object_find(objects, handle), payload, temporary);
    dm_mutex_unlock(&vl_sync_lock);
    return VK_SUCCESS;
}

void vl_object_imported(struct vl_objects *objects, uint64_t handle, bool temporary)
{
    dm_mutex_lock(&vl_sync_lock);
    struct vl_object *o = vl_object_find(objects, handle);
    if (o)
        object_replace(o, NULL, temporary);
    dm_mutex_unlock(&vl_sync_lock);
}

VkResult vl_object_export(struct vl_objects *objects, uint64_t handle, int *fd)
{
    struct vl_payload *payload = vl_object_take(objects, handle);
    if (!payload)
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    VkResult r = vl_payload_export(payload, fd);
    vl_payload_drop(payload);
    // "If the semaphore was using a temporarily imported payload, the semaphore's prior permanent
    // payload will be restored."
    if (!r)
        vl_object_exported(objects, handle);
    return r;
}

void vl_object_exported(struct vl_objects *objects, uint64_t handle)
{
    dm_mutex_lock(&vl_sync_lock);
    struct vl_object *o = vl_object_find(objects, handle);
    if (o)
        vl_object_restore(o);
    dm_mutex_unlock(&vl_sync_lock);
}
