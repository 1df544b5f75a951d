// SPDX-License-Identifier: MIT
// The virtual graphics API: its objects as graphics resources, and its side of mapping.
#include <stdio.h>

#include "alloc.h"
#include "error.h"
#include "graphics.h"
#include "kn_copy.h"
#include "lock.h"
#include "pkey.h"
#include "virtual_object.h"

// An object that is registered.
struct registered {
    struct em_virtual_object *object; // a reference
    enum em_virtual_kind kind;
    struct em_virtual_storage *storage; // its storage at registration: a reference
    unsigned flags;                     // of the mapping that was acquired
    bool acquired, written;
    // READ_ONLY: "CUDA will not write to this resource". If it does, graphics must not see it: room
    // for the bytes before the first write, and whether they are there.
    unsigned char *saved;
    bool is_saved;
};

static enum em_graphics_status virtual_check(void *owner)
{
    const struct registered *r = owner;
    em_lock();
    bool lives = em_object_peek(em_virtual_type(r->kind), r->object->object.handle),
         same = r->object->storage == r->storage;
    em_unlock();
    return !lives ? EM_GRAPHICS_DELETED : same ? EM_GRAPHICS_OK : EM_GRAPHICS_RESIZED;
}

static const char *virtual_text(void *owner, char *out, size_t capacity)
{
    const struct registered *r = owner;
    snprintf(out, capacity, "%s #%u", em_type_name(em_virtual_type(r->kind)),
             r->object->object.number);
    return out;
}

// Commands that were issued before run before CUDA gets the bytes.
static uint64_t virtual_mapped(void *owner)
{
    struct registered *r = owner;
    r->storage->mapped++;
    return em_virtual_issued();
}

static void virtual_unmapped(void *owner)
{
    struct registered *r = owner;
    r->storage->mapped--;
    r->storage->unmaps++;
}

static bool virtual_ready(void *owner, uint64_t fence)
{
    (void)owner;
    return em_virtual_can_run(fence);
}

// Before the first write to a resource that is mapped READ_ONLY.
static void virtual_save_bytes(struct registered *r)
{
    const struct em_graphics_memory *m = r->storage->memory;
    if (!r->saved || r->is_saved)
        return;
    uint32_t keys = dm_pkey_enter();
    kn_copy(r->saved, (const void *)(uintptr_t)m->address, m->size_B);
    dm_pkey_leave(keys);
    r->is_saved = true;
}

// A write cannot fail for lack of memory, so the space for the bytes is allocated before.
static CUresult virtual_allocate_saved(struct registered *r)
{
    const uint64_t size_B = r->storage->memory->size_B;
    if (r->saved || !(r->flags & CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY))
        return CUDA_SUCCESS;
    r->saved = dm_alloc(size_B);
    return r->saved ? CUDA_SUCCESS
                    : em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                              "out of host memory for the %llu bytes of a resource that is mapped "
                              "READ_ONLY",
                              (unsigned long long)size_B);
}

static CUresult virtual_acquire(void *owner, uint64_t fence, unsigned flags)
{
    struct registered *r = owner;
    bool all;
    CUresult result = em_virtual_run(fence, &all);
    r->flags = flags;
    if (!result)
        result = virtual_allocate_saved(r);
    r->acquired = true;
    if (r->written)
        virtual_save_bytes(r);
    return result;
}

static void note_access(void *owner, const struct em_graphics_part *part, enum em_access_mode mode)
{
    struct registered *r = owner;
    (void)part;
    if (mode == EM_ACCESS_READ)
        return;
    r->written = true;
    if (r->acquired)
        virtual_save_bytes(r);
}

static CUresult virtual_release(void *owner, uint64_t sequence, bool write_back)
{
    struct registered *r = owner;
    const struct em_graphics_memory *m = r->storage->memory;
    (void)sequence;
    (void)write_back;
    if (r->is_saved) {
        uint32_t keys = dm_pkey_enter();
        kn_copy((void *)(uintptr_t)m->address, r->saved, m->size_B);
        dm_pkey_leave(keys);
    }
    dm_free(r->saved);
    r->saved = NULL;
    r->is_saved = r->acquired = r->written = false;
    r->storage->unmaps_done++;
    return CUDA_SUCCESS;
}

static void virtual_close(void *owner)
{
    struct registered *r = owner;
    dm_free(r->saved);
    em_virtual_storage_unref(r->storage);
    em_object_unref(&r->object->object);
    dm_free(r);
}

static const struct em_graphics_ops virtual_graphics = {
    .api = "the virtual graphics API",
    .held_back = true,
    .check = virtual_check,
    .text = virtual_text,
    .mapped = virtual_mapped,
    .unmapped = virtual_unmapped,
    .ready = virtual_ready,
    .acquire = virtual_acquire,
    .access = note_access,
    .release = virtual_release,
    .close = virtual_close,
};

CUresult em_virtual_register(enum em_virtual_kind kind, uint64_t handle, unsigned flags,
                             CUgraphicsResource *out)
{
    CUresult r = em_graphics_check_flags(
        kind == EM_VIRTUAL_BUFFER_OBJECT ? EM_GRAPHICS_BUFFER : EM_GRAPHICS_IMAGE, flags);
    if (r)
        return r;
    struct registered *g = dm_calloc(1, sizeof *g);
    if (!g)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while registering a graphics resource");
    em_lock();
    r = em_virtual_get(kind, handle, &g->object);
    if (!r) {
        g->kind = kind;
        g->storage = g->object->storage;
        em_object_ref(&g->object->object);
        em_virtual_storage_ref(g->storage);
    }
    em_unlock();
    if (r) {
        dm_free(g);
        return r;
    }
    r = em_graphics_register(&virtual_graphics, g, &g->storage->shape, flags, out);
    if (r) {
        em_lock();
        virtual_close(g);
        em_unlock();
    }
    return r;
}
