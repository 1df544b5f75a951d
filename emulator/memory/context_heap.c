// SPDX-License-Identifier: MIT
// The heaps of contexts.
#include "context_heap.h"

#include "alloc.h"
#include "arithmetic.h"
#include "context.h"
#include "device.h"
#include "error.h"
#include "lock.h"
#include "memory_device.h"

enum {
    IDLE_MOST = EM_HEAP_USES, // heaps that wait for another context: as many as one needs
    IDLE_SPARES = 1,          // the spare chunks of each
    TEXELS_SPARES = 2         // the same of a heap of arrays that is in use
};

struct em_context_heaps {
    struct em_heap *of[EM_HEAP_USES]; // NULL before the first block
};

enum em_heap_use em_heap_of_texels(uint32_t element_B)
{
    return (enum em_heap_use)(EM_HEAP_TEXELS + dm_log2_up(element_B));
}

static struct em_heap *make_heap(int device, struct em_device_memory *memory, enum em_heap_use use)
{
    struct em_heap *heap = memory->idle;
    if (heap) {
        memory->idle = heap->next;
        memory->idle_count--;
        heap->ended = false;
    } else {
        heap = dm_calloc(1, sizeof *heap);
        if (!heap)
            return NULL;
        heap->device = device;
        dm_heap_init(&heap->heap, &em_space, &memory->vram);
    }
    heap->heap.spares_most = use == EM_HEAP_LINEAR ? DM_HEAP_SPARES : TEXELS_SPARES;
    return heap;
}

// Returns the heap for a use, and makes it at the first call. NULL: host memory is short.
static struct em_heap *find_or_make(struct em_context *context, struct em_device_memory *memory,
                                    enum em_heap_use use)
{
    if (!context->heaps)
        context->heaps = dm_calloc(1, sizeof *context->heaps);
    if (!context->heaps)
        return NULL;
    struct em_heap **const heap = &context->heaps->of[use];
    if (!*heap)
        *heap = make_heap(context->device->ordinal, memory, use);
    return *heap;
}

CUresult em_context_heap(struct em_context *context, enum em_heap_use use, struct em_heap **out)
{
    em_assert_locked();
    struct em_device_memory *memory;
    // Another thread may have destroyed the context since this call found it alive.
    if (em_context_error_state(context) == EM_DESTROYED)
        return em_context_error(context);
    CUresult r = em_device_memory(context->device, &memory);
    if (r)
        return r;
    *out = find_or_make(context, memory, use);
    return *out ? CUDA_SUCCESS
                : em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a heap of the context");
}

void em_context_heaps_prepare(struct em_context *context, struct em_device_memory *memory)
{
    em_assert_locked();
    struct em_heap *heap = find_or_make(context, memory, EM_HEAP_LINEAR);
    if (heap)
        dm_heap_prepare(&heap->heap);
}

static void end_heap(struct em_heap *heap)
{
    dm_heap_finish(&heap->heap);
    dm_free(heap);
}

// Keeps an empty heap for another context, or ends it.
static void retire_heap(struct em_heap *heap)
{
    struct em_device_memory *memory;
    if (em_device_memory(&em_devices[heap->device], &memory) || memory->idle_count == IDLE_MOST) {
        end_heap(heap);
        return;
    }
    dm_heap_trim(&heap->heap, IDLE_SPARES);
    heap->next = memory->idle;
    memory->idle = heap;
    memory->idle_count++;
}

void em_heap_free(struct em_heap *heap, struct dm_block *block)
{
    em_assert_locked();
    dm_heap_free(&heap->heap, block);
    if (heap->ended && !heap->heap.blocks)
        retire_heap(heap);
}

void em_context_heaps_end(struct em_context *context)
{
    em_assert_locked();
    if (!context->heaps)
        return;
    for (int use = 0; use < EM_HEAP_USES; use++) {
        struct em_heap *heap = context->heaps->of[use];
        if (!heap)
            continue;
        heap->ended = true;
        if (!heap->heap.blocks)
            retire_heap(heap);
    }
    dm_free(context->heaps);
    context->heaps = NULL;
}

void em_heaps_drop_idle(struct em_device_memory *memory)
{
    em_assert_locked();
    while (memory->idle) {
        struct em_heap *next = memory->idle->next;
        end_heap(memory->idle);
        memory->idle = next;
    }
    memory->idle_count = 0;
}
