// SPDX-License-Identifier: MIT
// The calls of CUDA 2, which name a buffer instead of a resource.
#include "gl_old.h"

#include "alloc.h"
#include "call.h"
#include "context.h"
#include "error.h"
#include "gl_resource.h"
#include "graphics.h"
#include "hash_table.h"
#include "lock.h"
#include "object.h"

struct em_gl_old_key {
    uint64_t context; // handle of the CUDA context
    uint64_t buffer;
};

// A buffer that was registered in a context by its name.
struct em_gl_old {
    struct em_gl_old_key key;
    CUgraphicsResource resource;
    struct em_gl_old **link; // the resource's pointer to this
    UT_hash_handle hh;
};

static struct em_gl_old *gl_old_buffers; // guarded by em_lock

static struct em_gl_old_key gl_old_key(unsigned buffer)
{
    return (struct em_gl_old_key){em_self.current->base.object.handle, buffer};
}

void em_gl_old_forget(struct em_gl_old *old)
{
    if (!old)
        return;
    *old->link = NULL;
    DM_TABLE_REMOVE(gl_old_buffers, old);
    dm_free(old);
}

// Finds a buffer of the current context. Its resource may have been unregistered, but still be kept
// by commands. Precondition: em_lock held.
static struct em_gl_old *gl_old_find(const struct em_gl_old_key *key)
{
    em_assert_locked();
    struct em_gl_old *old = DM_TABLE_FIND(gl_old_buffers, key);
    if (old && !em_object_peek(EM_GRAPHICS, (uint64_t)(uintptr_t)old->resource)) {
        em_gl_old_forget(old);
        old = NULL;
    }
    return old;
}

static CUresult gl_old_get(unsigned buffer, CUgraphicsResource *out)
{
    struct em_gl_old_key key = gl_old_key(buffer);
    em_lock();
    const struct em_gl_old *old = gl_old_find(&key);
    if (old)
        *out = old->resource;
    em_unlock();
    return old ? CUDA_SUCCESS
               : em_fail(CUDA_ERROR_INVALID_VALUE,
                         "buffer %u is not registered in this context; call "
                         "cuGLRegisterBufferObject first",
                         buffer);
}

static CUresult gl_old_already_registered(unsigned buffer)
{
    return em_fail(CUDA_ERROR_ALREADY_MAPPED, "buffer %u is already registered", buffer);
}

// The resource is registered: makes it known by the buffer's name, unless another thread has been
// quicker.
static CUresult gl_old_enter(unsigned buffer, CUgraphicsResource resource)
{
    struct em_gl_old_key key = gl_old_key(buffer);
    CUresult r = CUDA_SUCCESS;
    em_lock();
    struct em_gl_old **link = em_gl_resource_old(resource), *old = NULL;
    if (gl_old_find(&key)) {
        r = gl_old_already_registered(buffer);
    } else if (link) { // else another thread has unregistered it again
        old = dm_calloc(1, sizeof *old);
        if (old)
            *old = (struct em_gl_old){.key = key, .resource = resource, .link = link};
        if (!old || DM_TABLE_ADD(gl_old_buffers, key, old)) {
            dm_free(old);
            old = NULL;
            r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while registering buffer %u",
                        buffer);
        }
        *link = old;
    }
    em_unlock();
    return r;
}

CUresult em_gl_old_register(unsigned buffer)
{
    struct em_gl_old_key key = gl_old_key(buffer);
    CUgraphicsResource resource;
    em_lock();
    bool known = gl_old_find(&key) != NULL;
    em_unlock();
    if (known) // the driver's code: gl-graphics oldapi/register
        return gl_old_already_registered(buffer);
    if (!buffer)
        return em_fail(CUDA_ERROR_INVALID_HANDLE,
                       "buffer is 0, which is not the name of an OpenGL buffer");
    CUresult r = em_gl_register_buffer(buffer, CU_GRAPHICS_REGISTER_FLAGS_NONE, &resource);
    if (r)
        return r;
    r = gl_old_enter(buffer, resource);
    if (r)
        em_graphics_unregister(resource);
    return r;
}

CUresult em_gl_old_unregister(unsigned buffer)
{
    CUgraphicsResource resource;
    CUresult r = gl_old_get(buffer, &resource);
    return r ? r : em_graphics_unregister(resource);
}

CUresult em_gl_old_set_flags(unsigned buffer, unsigned flags)
{
    CUgraphicsResource resource;
    CUresult r = gl_old_get(buffer, &resource);
    return r ? r : em_graphics_set_flags(resource, flags);
}

CUresult em_gl_old_map(unsigned buffer, struct em_stream *stream, CUdeviceptr *address,
                       size_t *size)
{
    CUgraphicsResource resource;
    if (address)
        *address = 0;
    CUresult r = gl_old_get(buffer, &resource);
    if (!r)
        r = em_graphics_map(1, &resource, stream);
    return r ? r : em_graphics_pointer(resource, address, size);
}

CUresult em_gl_old_unmap(unsigned buffer, struct em_stream *stream)
{
    CUgraphicsResource resource;
    CUresult r = gl_old_get(buffer, &resource);
    return r ? r : em_graphics_unmap(1, &resource, stream);
}
