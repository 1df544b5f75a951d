// SPDX-License-Identifier: MIT
// Planes of arrays with planar video formats. Each plane is an array of a plain format over a part
// of the planar array's memory.
#include <string.h>

#include "alloc.h"
#include "array.h"
#include "call.h"
#include "lock.h"
#include "quirk.h"

// The memory of one plane. It holds a reference to the memory of the whole array.
struct plane_storage {
    struct em_storage storage;
    struct em_storage *whole;
    uint64_t offset_B;
};

static void plane_release(struct em_storage *storage)
{
    struct plane_storage *s = storage->owner;
    em_storage_unref(s->whole);
    dm_free(s);
}

bool em_array_planar(const struct em_array *a)
{
    em_assert_locked();
    const struct dm_format_info *format = em_array_format(&a->desc);
    return format && dm_format_planes(format) > 1;
}

// Computes the layouts of an array's planes, as em_array_plan did.
static int plane_layouts(const struct em_array *a, struct dm_planes *planes)
{
    bool layered = a->storage->layout.layered;
    struct dm_layout_desc d = {
        .kind = a->storage->layout.kind,
        .width_px = a->desc.Width,
        .height_px = a->desc.Height,
        .layers = layered ? a->desc.Depth : 0,
        .levels = 1,
    };
    return dm_planes_init(planes, em_array_format(&a->desc), &d, a->storage->mapped);
}

static CUDA_ARRAY3D_DESCRIPTOR plane_desc(const struct em_array *a, unsigned plane)
{
    struct dm_format_plane p = {.channels = 1};
    CUDA_ARRAY3D_DESCRIPTOR d = a->desc;
    dm_format_plane(em_array_format(&a->desc), plane, &p);
    d.Format = (CUarray_format)p.format;
    d.NumChannels = p.channels;
    d.Width >>= p.width_log2_divisor;
    d.Height >>= p.height_log2_divisor;
    return d;
}

// Precondition: em_lock held.
static CUresult plane_create(struct em_array *a, unsigned plane)
{
    em_assert_locked();
    struct dm_planes planes;
    if (plane_layouts(a, &planes))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "the planes of CUarray #%u have no layout",
                       a->object.number);
    struct plane_storage *s = dm_calloc(1, sizeof *s);
    if (!s)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while creating a plane of an array");
    s->whole = a->storage;
    s->whole->written = true; // perhaps through the plane
    s->offset_B = planes.offset_B[plane];
    s->storage = (struct em_storage){
        .references = 1,
        .layout = planes.layout[plane],
        .address = a->storage->address + s->offset_B,
        .size_B = planes.layout[plane].total_B,
        .may_fault = s->whole->may_fault,
        .mapped = s->whole->mapped,
        .poison_reason = s->whole->poison_reason,
        .owner = s,
        .release = plane_release,
    };
    // The driver maps only the first plane.
    if (plane && s->whole->mapped && em_quirk(PLANES_FAULT) && !s->storage.poison_reason)
        s->storage.poison_reason =
            "a plane after the first of an array on external memory, which the driver does not map";
    em_storage_ref(s->whole);
    CUDA_ARRAY3D_DESCRIPTOR d = plane_desc(a, plane);
    CUresult r = em_array_start(a->object.context, &d, &s->storage, 0, &a->plane[plane]);
    if (!r)
        a->plane[plane]->whole = a;
    em_storage_unref(&s->storage);
    return r;
}

CUresult em_array_plane(CUarray handle, unsigned plane, CUarray *out)
{
    struct em_array *a;
    em_lock();
    CUresult r = em_array_get(handle, &a);
    if (r)
        goto unlock;
    // "CUDA_ERROR_INVALID_VALUE: the format is not planar, or it has no such plane"
    if (!em_array_planar(a)) {
        r = em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "plane is %u, but the format of CUarray #%u (%#x) is not planar; use the array itself",
            plane, a->object.number, (unsigned)a->desc.Format);
        goto unlock;
    }
    unsigned count = dm_format_planes(em_array_format(&a->desc));
    if (plane >= count) {
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "plane is %u, but CUarray #%u of format %s has %u planes; it must be below %u",
                    plane, a->object.number, em_array_format(&a->desc)->name, count, count);
        goto unlock;
    }
    if (!a->plane[plane])
        r = plane_create(a, plane);
    if (!r)
        *out = (CUarray)(uintptr_t)a->plane[plane]->object.handle;
unlock:
    em_unlock();
    return r;
}
