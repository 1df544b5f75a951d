// SPDX-License-Identifier: MIT
// Buffers that lie in one window of addresses over an imported object.
#include "external_shared.h"

#include "alloc.h"
#include "context.h"
#include "device.h"
#include "error.h"
#include "hash_table.h"
#include "lock.h"
#include "memory.h"

// The buffers that begin at one address.
struct buffer {
    uint64_t address;
    unsigned count;
    UT_hash_handle hh;
};

// The whole object as one allocation of the memory map, while a buffer is mapped in it.
struct em_external_window {
    struct em_allocation allocation;
    struct em_imported *imported;
    struct buffer *buffers;
};

static void release(struct em_allocation *a)
{
    struct em_external_window *w = a->owner;
    struct buffer *b, *next;
    DM_TABLE_EACH (w->buffers, b, next) {
        DM_TABLE_REMOVE(w->buffers, b);
        dm_free(b);
    }
    w->imported->shared = NULL;
    em_imported_unref(w->imported); // unmaps the window with its last reference
    dm_free(w);
}

static CUresult free_at(struct em_allocation *a, uint64_t address)
{
    struct em_external_window *w = a->owner;
    struct buffer *b = DM_TABLE_FIND(w->buffers, &address);
    if (b) {
        if (!--b->count) {
            DM_TABLE_REMOVE(w->buffers, b);
            dm_free(b);
        }
        if (!w->buffers)
            em_memory_remove(a);
        return CUDA_SUCCESS;
    }
    return em_mistake(
        B07, CUDA_ERROR_INVALID_VALUE,
        "%#llx lies in the window of CUexternalMemory #%u, and no buffer was mapped there",
        (unsigned long long)address, w->imported->number);
}

static CUresult open_window(struct em_context *context, struct em_imported *imported)
{
    uint64_t base;
    CUresult r = em_imported_window(imported, &base);
    if (r)
        return r;
    struct em_external_window *w = dm_calloc(1, sizeof *w);
    if (!w)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while mapping a buffer");
    w->imported = imported;
    w->allocation = (struct em_allocation){
        .base = base,
        .size = imported->physical->size,
        .kind = EM_MEMORY_IMPORTED,
        .context = context,
        .device = context->device->ordinal,
        .physical = imported->physical,
        .owner = w,
        .release = release,
        .free_at = free_at,
    };
    r = em_memory_enter(&w->allocation);
    if (r) {
        dm_free(w);
        return r;
    }
    em_imported_ref(imported);
    imported->shared = w;
    imported->file->addresses_given = true;
    return CUDA_SUCCESS;
}

CUresult em_external_map_shared(struct em_context *context, struct em_imported *imported,
                                uint64_t offset, uint64_t size, uint64_t *out)
{
    em_assert_locked();
    CUresult r = imported->shared ? CUDA_SUCCESS : open_window(context, imported);
    if (r)
        return r;
    struct em_external_window *w = imported->shared;
    uint64_t address = w->allocation.base + offset;
    struct buffer *b = DM_TABLE_FIND(w->buffers, &address);
    if (!b) {
        b = dm_calloc(1, sizeof *b);
        if (b)
            b->address = address;
        if (!b || DM_TABLE_ADD(w->buffers, address, b)) {
            dm_free(b);
            if (!w->buffers)
                em_memory_remove(&w->allocation);
            return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while mapping a buffer");
        }
    }
    b->count++;
    *out = b->address;
    return CUDA_SUCCESS;
}
