// SPDX-License-Identifier: MIT
// The memory of arrays and mipmapped arrays: reference counts, accesses, and allocation.
#include "array_storage.h"

#include <errno.h>

#include "alloc.h"
#include "array.h"
#include "array_tiles.h"
#include "call.h"
#include "context.h"
#include "context_heap.h"
#include "device.h"
#include "inject.h"
#include "lock.h"
#include "memory_device.h"
#include "order.h"
#include "record_array.h"
#include "record_content.h"

void em_storage_ref(struct em_storage *storage)
{
    em_assert_locked();
    storage->references++;
}

void em_storage_unref(struct em_storage *storage)
{
    em_assert_locked();
    if (--storage->references)
        return;
    if (em_unlikely(em_order_on) && !storage->of_graphics)
        em_order_forget(storage->address, storage->size_B);
    if (em_unlikely(em_recording_contents))
        em_record_texels(storage, em_call_now());
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

static void storage_span(const struct em_access *access, uint64_t *first, uint64_t *end)
{
    const struct em_storage *storage = access->owner;
    *first = storage->address;
    *end = storage->address + storage->size_B;
}

static const struct em_access_ops storage_access_ops = {.watch = watch_storage,
                                                        .retain = retain_storage,
                                                        .release = release_storage,
                                                        .span = storage_span};

void em_storage_access(struct em_access *access, struct em_storage *storage, uint32_t level,
                       const struct dm_position *at, const struct dm_box_extent *extent,
                       enum em_access_mode mode)
{
    em_assert_locked();
    em_storage_ref(storage);
    storage->written |= mode != EM_ACCESS_READ;
    em_access_init(access, &storage_access_ops, storage, mode);
    access->at = *at;
    access->extent = *extent;
    access->level = level;
}

void em_storage_before_read(const struct em_access *access)
{
    em_assert_unlocked();
    struct em_storage *storage = access->ops == &storage_access_ops ? access->owner : NULL;
    if (storage && storage->before_read)
        storage->before_read(storage);
}

// Memory from a heap of the context.
struct heap_storage {
    struct em_storage storage;
    struct em_heap *heap;
    struct dm_block *block;
};

static void release_heap(struct em_storage *storage)
{
    struct heap_storage *s = storage->owner;
    if (!storage->written)
        dm_heap_set_unwritten(s->block);
    em_heap_free(s->heap, s->block);
    dm_free(s);
}

CUresult em_storage_create(struct em_context *context, const struct em_array_plan *plan,
                           struct em_storage **out)
{
    em_assert_locked();
    if (plan->desc.Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING))
        return em_tiled_create(plan, out);
    struct em_heap *heap;
    CUresult r = em_context_heap(context, em_heap_of_texels(plan->layout.element_B), &heap);
    if (r)
        return r;
    struct heap_storage *s = dm_calloc(1, sizeof *s);
    if (!s)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while creating an array");
    s->heap = heap;
    const uint64_t size_B = plan->layout.total_B;
    s->storage = (struct em_storage){.references = 1,
                                     .layout = plan->layout,
                                     .size_B = size_B,
                                     .owner = s,
                                     .release = release_heap};
    int status =
        em_inject(EM_INJECT_MEMORY) ? -ECANCELED : dm_heap_alloc(&heap->heap, size_B, &s->block);
    if (status) {
        r = em_out_of_device_memory(context->device->ordinal, "an array", size_B, status);
        dm_free(s);
        return r;
    }
    s->storage.address = s->block->va;
    s->storage.readable_B = dm_heap_span_end(s->block) - s->block->va;
    *out = &s->storage;
    return CUDA_SUCCESS;
}
