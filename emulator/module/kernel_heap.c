// SPDX-License-Identifier: MIT
// Allocates memory for kernels. Blocks are ranges of one piece of device memory; the map of them is
// in host memory, so a kernel cannot damage it.
#include "kernel_heap.h"

#include <stdio.h>

#include "alloc.h"
#include "context.h"
#include "error.h"
#include "lock.h"
#include "memory_device.h"
#include "mutex.h"
#include "object.h"
#include "rangemap.h"

enum {
    BLOCK_UNIT_B = 16, // "the pointer is … aligned to a 16-byte boundary"
    FREED = 256,       // addresses that are remembered for messages
};

struct em_kernel_heap {
    struct em_object object; // type EM_KERNEL_HEAP
    uint64_t base, size_B;
    struct dm_mutex lock; // guards the rest
    struct dm_rangemap blocks;
    uint64_t freed[FREED]; // a ring
    unsigned freed_count;
};

static void finish_heap(struct em_object *object)
{
    struct em_kernel_heap *heap = (struct em_kernel_heap *)object;
    em_assert_locked();
    object->context->kernel_heap = NULL;
    dm_rangemap_finish(&heap->blocks);
    dm_mutex_destroy(&heap->lock);
    dm_free(heap);
}

// The memory ends with the context's other memory.
static CUresult make_heap(struct em_context *context)
{
    em_assert_locked();
    struct em_kernel_heap *heap = dm_calloc(1, sizeof *heap);
    if (!heap)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for the heap of kernels");
    heap->size_B = context->limit[CU_LIMIT_MALLOC_HEAP_SIZE];
    dm_mutex_init(&heap->lock, LEAF);
    dm_rangemap_init(&heap->blocks);
    CUresult r = em_memory_alloc_variable(context, heap->size_B, &heap->base);
    if (!r)
        r = em_object_start(&heap->object, EM_KERNEL_HEAP, context, finish_heap);
    if (r) {
        struct em_allocation *a = heap->base ? em_memory_find(heap->base, 1) : NULL;
        if (a)
            em_memory_remove(a);
        dm_mutex_destroy(&heap->lock);
        dm_free(heap);
        return r;
    }
    context->kernel_heap = heap;
    return CUDA_SUCCESS;
}

CUresult em_kernel_heap_get(struct em_context *context, struct em_kernel_heap **out)
{
    em_assert_unlocked();
    em_lock();
    CUresult r = context->kernel_heap ? CUDA_SUCCESS : make_heap(context);
    *out = context->kernel_heap;
    em_unlock();
    return r;
}

uint64_t em_kernel_heap_allocate(struct em_kernel_heap *heap, uint64_t size_B)
{
    uint64_t at = 0;
    if (size_B > heap->size_B)
        return 0;
    size_B = size_B ? (size_B + BLOCK_UNIT_B - 1) / BLOCK_UNIT_B * BLOCK_UNIT_B : BLOCK_UNIT_B;
    dm_mutex_lock(&heap->lock);
    if (dm_rangemap_gap(&heap->blocks, heap->base, heap->base + heap->size_B - 1, size_B,
                        BLOCK_UNIT_B, &at))
        at = 0;
    else if (dm_rangemap_insert(&heap->blocks, at, size_B, heap))
        at = EM_KERNEL_HEAP_FAILED;
    dm_mutex_unlock(&heap->lock);
    return at;
}

static void explain(const struct em_kernel_heap *heap, uint64_t address, char *why, size_t why_B)
{
    struct dm_range block;
    bool freed = false;
    for (unsigned i = 0; i < FREED; i++)
        freed = freed || heap->freed[i] == address;
    if (dm_rangemap_find(&heap->blocks, address, &block))
        snprintf(why, why_B,
                 "the address is %llu bytes inside a block of %llu bytes; free() takes the address "
                 "that malloc() has returned",
                 (unsigned long long)(address - block.start), (unsigned long long)block.size);
    else if (freed)
        snprintf(why, why_B, "the block was freed before");
    else
        snprintf(why, why_B, "malloc() in a kernel has not returned this address");
}

bool em_kernel_heap_free(struct em_kernel_heap *heap, uint64_t address, char *why, size_t why_B)
{
    dm_mutex_lock(&heap->lock);
    const bool freed = !dm_rangemap_remove(&heap->blocks, address, NULL);
    if (freed)
        heap->freed[heap->freed_count++ % FREED] = address;
    else
        explain(heap, address, why, why_B);
    dm_mutex_unlock(&heap->lock);
    return freed;
}
