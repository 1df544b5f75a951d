// SPDX-License-Identifier: MIT
// Surface references.
#include "surface_reference.h"

#include "alloc.h"
#include "array.h"
#include "call.h"
#include "lock.h"
#include "texture_reference.h"

static void finish(struct em_object *object)
{
    dm_free(object);
}

CUresult em_surface_reference_new(struct em_context *context, struct em_object **out)
{
    em_assert_locked();
    struct em_surface_reference *s = dm_calloc(1, sizeof *s);
    if (!s)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while creating a surface reference");
    CUresult r = em_object_start(&s->object, EM_SURFACE_REFERENCE, context, finish);
    if (r)
        dm_free(s);
    else
        *out = &s->object;
    return r;
}

// Precondition: em_lock held.
static CUresult get(CUsurfref handle, struct em_surface_reference **out)
{
    em_assert_locked();
    return em_object_get(EM_SURFACE_REFERENCE, handle,
                         em_reference_code((uint64_t)(uintptr_t)handle), out);
}

CUresult em_surface_reference_set(CUsurfref handle, CUarray array, unsigned flags)
{
    struct em_surface_reference *s;
    struct em_array *a;
    em_lock();
    CUresult r = get(handle, &s);
    if (!r)
        r = em_array_get(array, &a);
    if (r)
        goto unlock;
    // "Flags must be set to 0"
    if (flags)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "Flags are %#x; they must be 0", flags);
    // "The CUDA array must have been created with the CUDA_ARRAY3D_SURFACE_LDST flag"
    else if (!(a->desc.Flags & CUDA_ARRAY3D_SURFACE_LDST))
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "the flags of the array are %#x; create it with CUDA_ARRAY3D_SURFACE_LDST",
                    a->desc.Flags);
    else
        s->array = array;
unlock:
    em_unlock();
    return r;
}

CUresult em_surface_reference_get(CUsurfref handle, CUarray *out)
{
    struct em_surface_reference *s;
    em_lock();
    CUresult r = get(handle, &s);
    // "CUDA_ERROR_INVALID_VALUE if the surface reference is not bound to any array"
    if (!r && !s->array)
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "the surface reference is not bound to an array; call cuSurfRefSetArray first");
    if (!r)
        *out = s->array;
    em_unlock();
    return r;
}
