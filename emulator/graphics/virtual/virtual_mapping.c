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
    struct em_virtual_storage *storage; // a reference: what it was at registration
    unsigned flags;                     // of the mapping that was acquired
    bool acquired, written;
    // READ_ONLY: "CUDA will not write to this resource". What it writes all the same, graphics
    // never sees: the bytes before the first write.
    unsigned char *before;
};

static enum em_graphics_status check(void *owner)
{
    const struct registered *r = owner;
    em_lock();
    bool lives = em_object_peek(em_virtual_type(r->kind), r->object->object.handle),
         same = r->object->storage == r->storage;
    em_unlock();
    return !lives ? EM_GRAPHICS_DELETED : same ? EM_GRAPHICS_OK : EM_GRAPHICS_RESIZED;
}

static const char *text(void *owner, char *out, size_t room)
{
    const struct registered *r = owner;
    snprintf(out, room, "%s #%u", em_type_name(em_virtual_type(r->kind)), r->object->object.number);
    return out;
}

// What graphics was told to do before is done before CUDA has the bytes.
static uint64_t mapped(void *owner)
{
    struct registered *r = owner;
    r->storage->mapped++;
    return em_virtual_issued();
}

static void unmapped(void *owner)
{
    struct registered *r = owner;
    r->storage->mapped--;
    r->storage->unmaps++;
}

static bool ready(void *owner, uint64_t fence)
{
    (void)owner;
    return em_virtual_can_run(fence);
}

static void keep_bytes(struct registered *r)
{
    const struct em_graphics_memory *m = r->storage->memory;
    if (r->before || !(r->flags & CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY) ||
        !(r->before = dm_alloc(m->size_B)))
        return;
    uint32_t keys = dm_pkey_enter();
    kn_copy(r->before, (const void *)(uintptr_t)m->address, m->size_B);
    dm_pkey_leave(keys);
}

static CUresult acquire(void *owner, uint64_t fence, unsigned flags)
{
    struct registered *r = owner;
    bool all;
    CUresult result = em_virtual_run(fence, &all);
    r->flags = flags;
    r->acquired = true;
    if (r->written)
        keep_bytes(r);
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
        keep_bytes(r);
}

static CUresult release(void *owner, uint64_t sequence, bool keep)
{
    struct registered *r = owner;
    const struct em_graphics_memory *m = r->storage->memory;
    (void)sequence;
    (void)keep;
    if (r->before) { // READ_ONLY
        uint32_t keys = dm_pkey_enter();
        kn_copy((void *)(uintptr_t)m->address, r->before, m->size_B);
        dm_pkey_leave(keys);
    }
    dm_free(r->before);
    r->before = NULL;
    r->acquired = r->written = false;
    r->storage->unmaps_done++;
    return CUDA_SUCCESS;
}

static void close_registered(void *owner)
{
    struct registered *r = owner;
    dm_free(r->before);
    em_virtual_storage_unref(r->storage);
    em_object_unref(&r->object->object);
    dm_free(r);
}

static const struct em_graphics_ops virtual_graphics = {
    .api = "the virtual graphics API",
    .held_back = true,
    .check = check,
    .text = text,
    .mapped = mapped,
    .unmapped = unmapped,
    .ready = ready,
    .acquire = acquire,
    .access = note_access,
    .release = release,
    .close = close_registered,
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
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a graphics resource");
    em_lock();
    if (!(r = em_virtual_get(kind, handle, &g->object))) {
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
    if ((r = em_graphics_register(&virtual_graphics, g, &g->storage->shape, flags, out))) {
        em_lock();
        close_registered(g);
        em_unlock();
    }
    return r;
}
