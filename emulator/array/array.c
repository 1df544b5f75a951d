// SPDX-License-Identifier: MIT
// Array and mipmapped array objects.
#include "array.h"

#include <string.h>

#include "alloc.h"
#include "call.h"
#include "context.h"
#include "device.h"
#include "lock.h"
#include "memory_device.h"
#include "order.h"
#include "record.h"
#include "record_array.h"
#include "quirk.h"

// ---- handles

// The manual asks for CUDA_ERROR_INVALID_HANDLE. The driver answers otherwise because it
// dereferences the handle without checking it.
static CUresult array_bad_handle(uint64_t handle)
{
    if (!handle || !em_quirk(ARRAY_STALE_CODE))
        return CUDA_ERROR_INVALID_HANDLE;
    return em_handle_was(handle) ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult em_array_was_lent(uint64_t handle, CUresult code)
{
    em_assert_locked();
    char text[256];
    if (em_handle_end(EM_ARRAY, handle) != EM_END_UNMAP &&
        em_handle_end(EM_MIPMAP, handle) != EM_END_UNMAP)
        return CUDA_SUCCESS;
    return em_mistake(G06, code, "%s", em_handle_text(handle, text, sizeof text));
}

CUresult em_array_get(CUarray handle, struct em_array **out)
{
    em_assert_locked();
    uint64_t h = (uint64_t)(uintptr_t)handle;
    *out = (struct em_array *)em_object_peek(EM_ARRAY, h);
    if (em_likely(*out))
        return CUDA_SUCCESS;
    if (em_handle_end(EM_ARRAY, h) == EM_END_MIPMAP) {
        char text[256];
        return em_mistake(I10, array_bad_handle(h),
                          "%s, together with the mipmapped array that owned this level",
                          em_handle_text(h, text, sizeof text));
    }
    CUresult r = em_array_was_lent(h, array_bad_handle(h));
    return r ? r : em_object_get(EM_ARRAY, h, array_bad_handle(h), out);
}

CUresult em_mipmap_get(CUmipmappedArray handle, struct em_mipmap **out)
{
    em_assert_locked();
    uint64_t h = (uint64_t)(uintptr_t)handle;
    *out = (struct em_mipmap *)em_object_peek(EM_MIPMAP, h);
    if (em_likely(*out))
        return CUDA_SUCCESS;
    CUresult r = em_array_was_lent(h, array_bad_handle(h));
    return r ? r : em_object_get(EM_MIPMAP, h, array_bad_handle(h), out);
}

// ---- arrays

static void array_finish(struct em_object *object)
{
    struct em_array *a = (struct em_array *)object;
    em_storage_unref(a->storage);
    dm_free(a);
}

// Creates an array object over a level of `storage`, and takes a reference to the storage.
// Precondition: em_lock held.
static CUresult array_start(struct em_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                            struct em_storage *storage, uint32_t level, struct em_mipmap *parent,
                            struct em_array **out)
{
    em_assert_locked();
    struct em_array *a = dm_calloc(1, sizeof *a);
    if (!a)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while creating an array");
    CUresult r = em_object_start(&a->object, EM_ARRAY, context, array_finish);
    if (r) {
        dm_free(a);
        return r;
    }
    a->desc = *desc;
    a->storage = storage;
    a->level = level;
    a->parent = parent;
    em_storage_ref(storage);
    if (__builtin_expect(em_recording, 0))
        em_record_array(a->object.handle, desc, storage, level);
    *out = a;
    return CUDA_SUCCESS;
}

CUresult em_array_start(struct em_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                        struct em_storage *storage, uint32_t level, struct em_array **out)
{
    em_assert_locked();
    return array_start(context, desc, storage, level, NULL, out);
}

static void end_array(struct em_array *a, enum em_end_reason reason)
{
    for (unsigned i = 0; i < DM_PLANES_MAX; i++) {
        if (a->plane[i])
            em_object_end(&a->plane[i]->object, reason);
    }
    em_object_end(&a->object, reason);
}

void em_array_retire(struct em_array *a)
{
    em_assert_locked();
    end_array(a, EM_END_CALL);
}

CUresult em_array_create(const CUDA_ARRAY3D_DESCRIPTOR *desc, CUarray *out)
{
    struct em_context *context = em_self.current;
    struct em_array_plan plan;
    struct em_storage *storage;
    struct em_array *array;
    CUresult r =
        em_array_plan(context->device, desc, 1, EM_ARRAY_CREATE, DM_LAYOUT_BLOCK_LINEAR, &plan);
    if (r)
        return r;
    em_lock();
    r = em_storage_create(context, &plan, &storage);
    if (r)
        goto unlock;
    r = array_start(context, &plan.desc, storage, 0, NULL, &array);
    em_storage_unref(storage);
    if (!r)
        *out = (CUarray)(uintptr_t)array->object.handle;
unlock:
    em_unlock();
    return r;
}

// Work that uses the memory keeps it, so that only the ordering checker knows of a mistake.
static void check_unused(const struct em_storage *s)
{
    if (em_unlikely(em_order_on))
        em_order_free(s->address, s->size_B);
}

// The driver waits for the work of the context before it frees an array (recorded: x_runtime,
// waiting/free-array). In that time another thread may destroy it too, so it is looked up again.
CUresult em_array_destroy(CUarray handle)
{
    struct em_array *a;
    em_lock();
    CUresult r = em_array_get(handle, &a);
    if (!r && !a->whole && !a->parent && !a->lent)
        r = em_memory_wait_idle(a->object.context);
    if (!r)
        r = em_array_get(handle, &a);
    if (!r && a->whole)
        em_explain(CUDA_SUCCESS,
                   "CUarray #%u is a plane of CUarray #%u, which owns it; nothing was destroyed",
                   a->object.number, a->whole->object.number);
    else if (!r && a->parent)
        em_mistake(
            I09, CUDA_SUCCESS,
            "CUarray #%u is level %u of CUmipmappedArray #%u, which owns it; nothing was destroyed",
            a->object.number, a->level, a->parent->object.number);
    else if (!r && a->lent)
        em_explain(CUDA_SUCCESS,
                   "CUarray #%u belongs to a graphics resource; nothing was destroyed",
                   a->object.number);
    else if (!r) {
        check_unused(a->storage);
        em_array_retire(a);
    }
    em_unlock();
    return r;
}

CUresult em_array_describe(CUarray handle, CUDA_ARRAY3D_DESCRIPTOR *out)
{
    struct em_array *a;
    em_lock();
    CUresult r = em_array_get(handle, &a);
    if (!r)
        *out = a->desc;
    em_unlock();
    return r;
}

CUresult em_array_surface(const struct em_array *array, struct dm_surface *out)
{
    em_assert_locked();
    const struct em_storage *s = array->storage;
    if (em_array_planar(array)) {
        char text[128];
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%s has the planar format %s; copy each plane through cuArrayGetPlane",
                       em_object_text(&array->object, text, sizeof text),
                       em_array_format(&array->desc)->name);
    }
    // Only a plane can exceed the memory, because the driver accepts a planar image if its first
    // plane fits into the memory that it is mapped on.
    if (array->whole &&
        s->address + s->size_B > array->whole->storage->address + array->whole->storage->size_B) {
        char text[128];
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "%s exceeds the external memory that its image is mapped on; map it on more memory",
            em_object_text(&array->object, text, sizeof text));
    }
    *out = (struct dm_surface){
        .base = (void *)(uintptr_t)s->address, .layout = &s->layout, .level = array->level};
    return CUDA_SUCCESS;
}

// ---- mipmapped arrays

static void mipmap_finish(struct em_object *object)
{
    struct em_mipmap *m = (struct em_mipmap *)object;
    em_storage_unref(m->storage);
    dm_free(m);
}

void em_mipmap_retire(struct em_mipmap *m, enum em_end_reason reason)
{
    em_assert_locked();
    enum em_end_reason of_levels = reason == EM_END_CALL ? EM_END_MIPMAP : reason;
    for (unsigned i = 0; i < m->levels; i++) {
        if (m->level[i])
            end_array(m->level[i], of_levels);
    }
    em_object_end(&m->object, reason);
}

CUresult em_mipmap_start(struct em_context *context, const struct em_array_plan *plan,
                         struct em_storage *storage, CUmipmappedArray *out)
{
    em_assert_locked();
    CUresult r;
    struct em_mipmap *m = dm_calloc(1, sizeof *m);
    if (!m) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                    "out of host memory while creating a mipmapped array");
        goto drop;
    }
    r = em_object_start(&m->object, EM_MIPMAP, context, mipmap_finish);
    if (r) {
        dm_free(m);
        goto drop;
    }
    m->desc = plan->desc;
    m->levels = plan->levels;
    m->storage = storage;
    if (__builtin_expect(em_recording, 0))
        em_record_array(m->object.handle, &plan->desc, storage, 0);
    *out = (CUmipmappedArray)(uintptr_t)m->object.handle;
    return CUDA_SUCCESS;
drop:
    em_storage_unref(storage);
    return r;
}

CUresult em_mipmap_create(const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned levels,
                          CUmipmappedArray *out)
{
    struct em_context *context = em_self.current;
    struct em_array_plan plan;
    struct em_storage *storage;
    CUresult r = em_array_plan(context->device, desc, levels, EM_MIPMAP_CREATE,
                               DM_LAYOUT_BLOCK_LINEAR, &plan);
    if (r)
        return r;
    em_lock();
    r = em_storage_create(context, &plan, &storage);
    if (!r)
        r = em_mipmap_start(context, &plan, storage, out);
    em_unlock();
    return r;
}

CUresult em_mipmap_destroy(CUmipmappedArray handle)
{
    struct em_mipmap *m;
    em_lock();
    CUresult r = em_mipmap_get(handle, &m);
    if (!r && !m->lent)
        r = em_memory_wait_idle(m->object.context);
    if (!r)
        r = em_mipmap_get(handle, &m);
    if (!r && m->lent)
        em_explain(CUDA_SUCCESS,
                   "CUmipmappedArray #%u belongs to a graphics resource; nothing was destroyed",
                   m->object.number);
    else if (!r) {
        check_unused(m->storage);
        em_mipmap_retire(m, EM_END_CALL);
    }
    em_unlock();
    return r;
}

// "max(1, extent >> level)". The number of layers does not change, and an extent of 0 stays 0.
static CUDA_ARRAY3D_DESCRIPTOR mipmap_level_desc(const struct em_mipmap *m, unsigned level)
{
    CUDA_ARRAY3D_DESCRIPTOR d = m->desc;
    size_t *extents[] = {&d.Width, &d.Height,
                         d.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP) ? NULL : &d.Depth};
    for (unsigned i = 0; i < 3; i++)
        if (extents[i])
            *extents[i] = dm_layout_minify(*extents[i], level);
    return d;
}

CUresult em_mipmap_level(CUmipmappedArray handle, unsigned level, CUarray *out)
{
    struct em_mipmap *m;
    em_lock();
    CUresult r = em_mipmap_get(handle, &m);
    if (!r && level >= m->levels)
        r = em_mistake(I10, CUDA_ERROR_INVALID_VALUE,
                       "level is %u, but CUmipmappedArray #%u has %u levels; it must be below %u",
                       level, m->object.number, m->levels, m->levels);
    if (!r && !m->level[level]) {
        CUDA_ARRAY3D_DESCRIPTOR d = mipmap_level_desc(m, level);
        r = array_start(m->object.context, &d, m->storage, level, m, &m->level[level]);
    }
    if (!r)
        *out = (CUarray)(uintptr_t)m->level[level]->object.handle;
    em_unlock();
    return r;
}
