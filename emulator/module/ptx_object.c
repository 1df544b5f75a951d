// SPDX-License-Identifier: MIT
// The textures and surfaces of a grid that runs: kept until it has ended.
#include "ptx_object.h"

#include <stdio.h>

#include "alloc.h"
#include "error.h"
#include "kernel_object.h"
#include "lock.h"
#include "quirk.h"

struct em_ptx_held {
    struct em_object *object; // a reference
    struct em_ptx_held *next;
};

// Precondition: em_lock held.
static const void *find_empty(struct em_ptx_objects *objects, enum kn_object_kind kind,
                              uint64_t handle)
{
    em_assert_locked();
    if (!em_quirk(OBJECT_HANDLE_EMPTY))
        return NULL;
    objects->empty = true;
    objects->empty_kind = kind;
    objects->empty_handle = handle;
    return em_kernel_object_empty(kind);
}

// An object that the launch keeps, or NULL.
static const void *find_kept(const struct em_grid *grid, enum kn_object_kind kind, uint64_t handle)
{
    for (unsigned i = 0; i < grid->object_count; i++) {
        const struct em_launch_object *o = &grid->objects[i];
        if (o->handle == handle && o->kind == (int)kind && o->object)
            return em_kernel_object_model((struct em_texture *)o->object);
    }
    return NULL;
}

// Precondition: em_lock held.
static const void *find_locked(struct em_ptx_objects *objects, enum kn_object_kind kind,
                               uint64_t handle, struct em_ptx_held *held)
{
    em_assert_locked();
    const bool is_reference = handle >= EM_REFERENCE_NUMBER(0); // that is not bound
    struct em_texture *found =
        is_reference ? NULL : em_kernel_object(objects->grid->context, kind, handle);
    if (!found)
        return is_reference || em_kernel_handle_is_empty(handle) ? find_empty(objects, kind, handle)
                                                                 : NULL;
    held->object = em_kernel_object_base(found);
    em_object_ref(held->object);
    held->next = objects->held;
    objects->held = held;
    return em_kernel_object_model(found);
}

const void *em_ptx_object_find(struct em_ptx_objects *objects, enum kn_object_kind kind,
                               uint64_t handle)
{
    em_assert_unlocked();
    const void *model = find_kept(objects->grid, kind, handle);
    if (model)
        return model;
    struct em_ptx_held *held = dm_calloc(1, sizeof *held);
    em_lock();
    if (held)
        model = find_locked(objects, kind, handle, held);
    else
        objects->short_of_memory = true;
    em_unlock();
    if (held && !held->object)
        dm_free(held);
    return model;
}

bool em_ptx_object_text(struct em_ptx_objects *objects, enum kn_object_kind kind, uint64_t handle,
                        char *out, size_t size_B)
{
    em_assert_unlocked();
    em_lock();
    const bool good = !objects->short_of_memory;
    if (handle >= EM_REFERENCE_NUMBER(0))
        snprintf(out, size_B, "the reference is not bound");
    else
        em_kernel_object_text(objects->grid->context, kind, handle, out, size_B);
    em_unlock();
    return good;
}

void em_ptx_objects_finish(struct em_ptx_objects *objects, bool *said)
{
    em_assert_unlocked();
    em_lock();
    for (struct em_ptx_held *h = objects->held; h; h = h->next)
        em_object_unref(h->object);
    const bool report = objects->empty && !*said;
    *said |= objects->empty;
    em_unlock();
    while (objects->held) {
        struct em_ptx_held *next = objects->held->next;
        dm_free(objects->held);
        objects->held = next;
    }
    if (!report)
        return;
    char text[160];
    em_ptx_object_text(objects, objects->empty_kind, objects->empty_handle, text, sizeof text);
    em_mistake(K06, CUDA_SUCCESS,
               "kernel %s used the handle %#llx, which is not that of a %s: it reads as 0, and "
               "writes are dropped; %s",
               objects->grid->code->name, (unsigned long long)objects->empty_handle,
               objects->empty_kind == KN_OBJECT_TEXTURE ? "texture" : "surface", text);
}
