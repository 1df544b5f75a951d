// SPDX-License-Identifier: MIT
// The calls of CUDA 2 for buffers of OpenGL: resources found by the buffer's name.
#include "alloc.h"
#include "call.h"
#include "gl_resource.h"
#include "graphics.h"
#include "lock.h"
#include "object.h"

// A buffer that was registered in a context. Small lists: nobody registers many.
struct row {
    struct row *next;
    uint64_t context; // handle of the CUDA context
    unsigned buffer;
    CUgraphicsResource resource;
};

static struct row *rows; // guarded by em_lock

// Rows whose resource has gone with its context are dropped on the way. Precondition: em_lock held.
static struct row **find(unsigned buffer)
{
    uint64_t context = em_context_base(em_self.current)->object.handle;
    struct row **at = &rows;
    while (*at) {
        struct row *row = *at;
        if (!em_object_peek(EM_GRAPHICS, (uint64_t)(uintptr_t)row->resource)) {
            *at = row->next;
            dm_free(row);
        } else if (row->context == context && row->buffer == buffer) {
            return at;
        } else {
            at = &row->next;
        }
    }
    return NULL;
}

static CUresult get(unsigned buffer, CUgraphicsResource *out)
{
    em_lock();
    struct row **at = find(buffer);
    if (at)
        *out = (*at)->resource;
    em_unlock();
    return at ? CUDA_SUCCESS
              : em_fail(CUDA_ERROR_INVALID_VALUE,
                        "buffer %u is not registered by cuGLRegisterBufferObject in this context",
                        buffer);
}

CUresult em_gl_old_register(unsigned buffer)
{
    em_lock();
    bool there = find(buffer) != NULL;
    em_unlock();
    if (there)
        return em_fail(CUDA_ERROR_ALREADY_MAPPED, "buffer %u is registered already",
                       buffer); // silicon's code: gl-graphics oldapi/register
    if (!buffer)
        return em_fail(CUDA_ERROR_INVALID_HANDLE, "buffer 0 is OpenGL's name for none");
    struct row *row = dm_calloc(1, sizeof *row);
    if (!row)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory to note a buffer");
    CUresult r = em_gl_register_buffer(buffer, CU_GRAPHICS_REGISTER_FLAGS_NONE, &row->resource);
    if (r) {
        dm_free(row);
        return r;
    }
    row->context = em_context_base(em_self.current)->object.handle;
    row->buffer = buffer;
    em_lock();
    row->next = rows;
    rows = row;
    em_unlock();
    return CUDA_SUCCESS;
}

CUresult em_gl_old_unregister(unsigned buffer)
{
    CUgraphicsResource resource;
    CUresult r = get(buffer, &resource);
    if (r || (r = em_graphics_unregister(resource)))
        return r;
    em_lock();
    find(buffer); // drops the row, whose resource is gone
    em_unlock();
    return CUDA_SUCCESS;
}

CUresult em_gl_old_set_flags(unsigned buffer, unsigned flags)
{
    CUgraphicsResource resource;
    CUresult r = get(buffer, &resource);
    return r ? r : em_graphics_set_flags(resource, flags);
}

CUresult em_gl_old_map(unsigned buffer, struct em_stream *stream, CUdeviceptr *address,
                       size_t *size)
{
    CUgraphicsResource resource;
    if (address)
        *address = 0;
    CUresult r = get(buffer, &resource);
    if (r || (r = em_graphics_map(1, &resource, stream)))
        return r;
    return em_graphics_pointer(resource, address, size);
}

CUresult em_gl_old_unmap(unsigned buffer, struct em_stream *stream)
{
    CUgraphicsResource resource;
    CUresult r = get(buffer, &resource);
    return r ? r : em_graphics_unmap(1, &resource, stream);
}
