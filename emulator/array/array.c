// SPDX-License-Identifier: MIT
// Array and mipmapped array objects, and the device memory behind them.
#include "array.h"

#include <string.h>

#include "alloc.h"
#include "array_tiles.h"
#include "call.h"
#include "context.h"
#include "device.h"
#include "lock.h"
#include "memory_device.h"
#include "quirk.h"
#include "sparse.h"

// ---- storage

void em_storage_ref(struct em_storage *storage)
{
    storage->references++;
}

void em_storage_unref(struct em_storage *storage)
{
    if (!--storage->references)
        storage->release(storage);
}

static const struct em_watch_ops *watch_storage(struct em_access *access)
{
    return ((const struct em_storage *)access->owner)->watch;
}

static void retain_storage(struct em_access *access)
{
    em_storage_ref(access->owner);
}

static void release_storage(struct em_access *access)
{
    em_storage_unref(access->owner);
}

static const struct em_access_ops storage_access_ops = {
    .watch = watch_storage, .retain = retain_storage, .release = release_storage};

void em_storage_access(struct em_access *access, struct em_storage *storage, uint32_t level,
                       const struct dm_position *at, const struct dm_box_extent *extent,
                       enum em_access_mode mode)
{
    em_storage_ref(storage);
    em_access_init(access, &storage_access_ops, storage, mode);
    access->at = *at;
    access->extent = *extent;
    access->level = level;
}

// Memory of the device's heap.
struct heap_storage {
    struct em_storage storage;
    struct dm_heap *heap;
    struct dm_block *block;
};

static void release_heap(struct em_storage *storage)
{
    struct heap_storage *s = storage->owner;
    dm_heap_free(s->heap, s->block);
    dm_free(s);
}

// Precondition: em_lock held.
static CUresult allocate(struct em_context *context, const struct em_array_plan *plan,
                         struct em_storage **out)
{
    struct em_device_memory *memory;
    CUresult r = em_device_memory(context->device, &memory);
    if (r)
        return r;
    // They get their memory from cuMemMapArrayAsync.
    if (plan->desc.Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING))
        return em_tiled_create(plan, out);
    struct heap_storage *s = dm_calloc(1, sizeof *s);
    if (!s)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for an array");
    s->heap = &memory->heap;
    s->storage = (struct em_storage){.references = 1,
                                     .layout = plan->layout,
                                     .size_B = plan->layout.size_B,
                                     .owner = s,
                                     .release = release_heap};
    int status = dm_heap_alloc(&memory->heap, plan->layout.size_B, &s->block);
    if (status) {
        r = em_out_of_device_memory(context->device->ordinal, "an array", plan->layout.size_B,
                                    status);
        dm_free(s);
        return r;
    }
    s->storage.address = s->block->va;
    *out = &s->storage;
    return CUDA_SUCCESS;
}

// ---- handles

// The manual: CUDA_ERROR_INVALID_HANDLE. The driver looks into what it takes for the object.
static CUresult bad_handle(uint64_t handle)
{
    if (!handle || !em_quirk(ARRAY_STALE_CODE))
        return CUDA_ERROR_INVALID_HANDLE;
    return em_handle_was(handle) ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult em_array_was_lent(uint64_t handle, CUresult code)
{
    char text[256];
    if (em_handle_end(EM_ARRAY, handle) != EM_END_UNMAP &&
        em_handle_end(EM_MIPMAP, handle) != EM_END_UNMAP)
        return CUDA_SUCCESS;
    return em_mistake(G06, code, "%s", em_handle_text(handle, text, sizeof text));
}

CUresult em_array_get(CUarray handle, struct em_array **out)
{
    uint64_t h = (uint64_t)(uintptr_t)handle;
    *out = (struct em_array *)em_object_peek(EM_ARRAY, h);
    if (em_likely(*out))
        return CUDA_SUCCESS;
    if (em_handle_end(EM_ARRAY, h) == EM_END_MIPMAP) {
        char text[256];
        return em_mistake(I10, bad_handle(h), "%s, with the mipmapped array that it was a level of",
                          em_handle_text(h, text, sizeof text));
    }
    CUresult r = em_array_was_lent(h, bad_handle(h));
    return r ? r : em_object_get(EM_ARRAY, h, bad_handle(h), out);
}

CUresult em_mipmap_get(CUmipmappedArray handle, struct em_mipmap **out)
{
    uint64_t h = (uint64_t)(uintptr_t)handle;
    *out = (struct em_mipmap *)em_object_peek(EM_MIPMAP, h);
    if (em_likely(*out))
        return CUDA_SUCCESS;
    CUresult r = em_array_was_lent(h, bad_handle(h));
    return r ? r : em_object_get(EM_MIPMAP, h, bad_handle(h), out);
}

// ---- arrays

static void array_finish(struct em_object *object)
{
    struct em_array *a = (struct em_array *)object;
    em_storage_unref(a->storage);
    dm_free(a);
}

// An array object over a level of `storage`, to which it takes a reference. Precondition: em_lock
// held.
static CUresult start_array(struct em_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                            struct em_storage *storage, uint32_t level, struct em_mipmap *parent,
                            struct em_array **out)
{
    struct em_array *a = dm_calloc(1, sizeof *a);
    if (!a)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for an array");
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
    *out = a;
    return CUDA_SUCCESS;
}

CUresult em_array_start(struct em_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                        struct em_storage *storage, uint32_t level, struct em_array **out)
{
    return start_array(context, desc, storage, level, NULL, out);
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
    if ((r = allocate(context, &plan, &storage)))
        goto unlock;
    r = start_array(context, &plan.desc, storage, 0, NULL, &array);
    em_storage_unref(storage);
    if (!r)
        *out = (CUarray)(uintptr_t)array->object.handle;
unlock:
    em_unlock();
    return r;
}

CUresult em_array_destroy(CUarray handle)
{
    struct em_array *a;
    em_lock();
    CUresult r = em_array_get(handle, &a);
    if (!r && a->whole)
        em_explain(CUDA_SUCCESS, "CUarray #%u is a plane of CUarray #%u, which stays",
                   a->object.number, a->whole->object.number);
    else if (!r && a->parent)
        em_mistake(I09, CUDA_SUCCESS,
                   "CUarray #%u is level %u of CUmipmappedArray #%u, which stays", a->object.number,
                   a->level, a->parent->object.number);
    else if (!r && a->lent)
        em_explain(CUDA_SUCCESS, "CUarray #%u belongs to a graphics resource and stays",
                   a->object.number);
    else if (!r)
        em_array_retire(a);
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
    const struct em_storage *s = array->storage;
    if (em_array_planar(array)) {
        char text[128];
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%s has planes (format %s): copies go to the arrays of cuArrayGetPlane",
                       em_object_text(&array->object, text, sizeof text),
                       em_array_format(&array->desc)->name);
    }
    // Only planes can: the driver lets planar images pass whose first plane alone fits into the
    // memory they are mapped on.
    if (array->whole &&
        s->address + s->size_B > array->whole->storage->address + array->whole->storage->size_B) {
        char text[128];
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%s lies past the end of the memory that its image is mapped on",
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
    CUresult r;
    struct em_mipmap *m = dm_calloc(1, sizeof *m);
    if (!m) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a mipmapped array");
        goto drop;
    }
    if ((r = em_object_start(&m->object, EM_MIPMAP, context, mipmap_finish))) {
        dm_free(m);
        goto drop;
    }
    m->desc = plan->desc;
    m->levels = plan->levels;
    m->storage = storage;
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
    r = allocate(context, &plan, &storage);
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
    if (!r && m->lent)
        em_explain(CUDA_SUCCESS, "CUmipmappedArray #%u belongs to a graphics resource and stays",
                   m->object.number);
    else if (!r)
        em_mipmap_retire(m, EM_END_CALL);
    em_unlock();
    return r;
}

// "max(1, extent >> level)"; layers stay, and an extent that is not there too.
static CUDA_ARRAY3D_DESCRIPTOR level_desc(const struct em_mipmap *m, unsigned level)
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
                       "level %u of CUmipmappedArray #%u, which has %u", level, m->object.number,
                       m->levels);
    if (!r && !m->level[level]) {
        CUDA_ARRAY3D_DESCRIPTOR d = level_desc(m, level);
        r = start_array(m->object.context, &d, m->storage, level, m, &m->level[level]);
    }
    if (!r)
        *out = (CUarray)(uintptr_t)m->level[level]->object.handle;
    em_unlock();
    return r;
}

// ---- what memory they need

static CUresult requirements(const struct em_storage *storage, unsigned flags, bool level,
                             CUDA_ARRAY_MEMORY_REQUIREMENTS *out)
{
    // "must have been allocated with the flag CUDA_ARRAY3D_DEFERRED_MAPPING otherwise
    // CUDA_ERROR_INVALID_VALUE will be returned"
    if (!(flags & CUDA_ARRAY3D_DEFERRED_MAPPING) || level)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       level ? "a level of a mipmapped array has no memory of its own"
                             : "the array was made without CUDA_ARRAY3D_DEFERRED_MAPPING");
    uint64_t size_B, alignment_B;
    dm_layout_memory_requirements(&storage->layout, &size_B, &alignment_B);
    memset(out, 0, sizeof *out);
    out->size = size_B;
    out->alignment = alignment_B;
    return CUDA_SUCCESS;
}

CUresult em_array_requirements(CUarray handle, CUDA_ARRAY_MEMORY_REQUIREMENTS *out)
{
    struct em_array *a;
    em_lock();
    CUresult r = em_array_get(handle, &a);
    if (!r)
        r = requirements(a->storage, a->desc.Flags, a->parent != NULL, out);
    em_unlock();
    return r;
}

CUresult em_mipmap_requirements(CUmipmappedArray handle, CUDA_ARRAY_MEMORY_REQUIREMENTS *out)
{
    struct em_mipmap *m;
    em_lock();
    CUresult r = em_mipmap_get(handle, &m);
    if (!r)
        r = requirements(m->storage, m->desc.Flags, false, out);
    em_unlock();
    return r;
}

static CUresult sparse(const struct em_storage *storage, unsigned flags, bool level, bool mipmapped,
                       CUDA_ARRAY_SPARSE_PROPERTIES *out)
{
    struct dm_sparse s;
    // "If the CUDA array was not allocated with CUDA_ARRAY3D_SPARSE, CUDA_ERROR_INVALID_VALUE will
    // be returned."
    if (!(flags & CUDA_ARRAY3D_SPARSE) || level || dm_sparse_init(&s, &storage->layout))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       level ? "a level of a mipmapped array has no sparse properties of its own"
                             : "the array was made without CUDA_ARRAY3D_SPARSE");
    out->tileExtent.width = s.tile_width_px;
    out->tileExtent.height = s.tile_height_px;
    out->tileExtent.depth = s.tile_depth;
    out->miptailFirstLevel = !mipmapped && !s.miptail_B ? 0 : s.miptail_first_level;
    out->miptailSize = s.miptail_B;
    out->flags = s.single_miptail ? CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL : 0;
    return CUDA_SUCCESS;
}

CUresult em_array_sparse(CUarray handle, CUDA_ARRAY_SPARSE_PROPERTIES *out)
{
    struct em_array *a;
    em_lock();
    CUresult r = em_array_get(handle, &a);
    if (!r)
        r = sparse(a->storage, a->desc.Flags, a->parent != NULL, false, out);
    em_unlock();
    return r;
}

CUresult em_mipmap_sparse(CUmipmappedArray handle, CUDA_ARRAY_SPARSE_PROPERTIES *out)
{
    struct em_mipmap *m;
    em_lock();
    CUresult r = em_mipmap_get(handle, &m);
    if (!r)
        r = sparse(m->storage, m->desc.Flags, false, true, out);
    em_unlock();
    return r;
}
