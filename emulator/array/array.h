// SPDX-License-Identifier: MIT
// CUDA arrays and mipmapped arrays: the rules for descriptors, and the objects.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "array_storage.h"
#include "box.h"
#include "layout.h"
#include "object.h"
#include "planes.h"

struct em_device;

// The array that a descriptor and a number of levels describe.
struct em_array_plan {
    CUDA_ARRAY3D_DESCRIPTOR desc; // as cuArray3DGetDescriptor reports it
    unsigned levels;
    struct dm_layout layout;
    uint64_t least_B; // smallest external memory to map it on: the whole layout or, as the driver
                      // checks it, the first plane
};

enum em_array_use { EM_ARRAY_CREATE, EM_MIPMAP_CREATE, EM_MIPMAP_EXTERNAL };

// Checks a descriptor by the rules of cuArray3DCreate, cuMipmappedArrayCreate or
// cuExternalMemoryGetMappedMipmappedArray on `device`, and computes the layout of `kind`. If a
// rule is broken, returns the card's code and reports a sentence. Takes no lock.
CUresult em_array_plan(const struct em_device *device, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                       unsigned levels, enum em_array_use use, enum dm_layout_kind kind,
                       struct em_array_plan *plan);

// An array of its own, or a level of a mipmapped array (`parent`), which then owns it.
struct em_array {
    struct em_object object; // type EM_ARRAY
    CUDA_ARRAY3D_DESCRIPTOR desc;
    struct em_storage *storage; // a reference
    uint32_t level;
    struct em_mipmap *parent; // NULL if this is not a level of a mipmapped array
    bool lent;                // owned by a graphics resource; cuArrayDestroy does nothing
    struct em_array *whole;   // the planar array that owns this plane; NULL if it is not a plane
    struct em_array *plane[DM_PLANES_MAX]; // created by the first cuArrayGetPlane
};

struct em_mipmap {
    struct em_object object; // type EM_MIPMAP
    CUDA_ARRAY3D_DESCRIPTOR desc;
    unsigned levels;
    struct em_storage *storage;                   // a reference
    struct em_array *level[DM_LAYOUT_LEVELS_MAX]; // created by the first call for the level
    bool lent;                                    // as in struct em_array
};

// Returns the format of a descriptor that em_array_plan accepted. The low byte of the number names
// it.
static inline const struct dm_format_info *em_array_format(const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    return dm_format_info((uint32_t)desc->Format & 0xff);
}

// Creates a mipmapped array over `storage` and takes over the caller's reference, which is dropped
// if the call fails. Precondition: em_lock held.
CUresult em_mipmap_start(struct em_context *context, const struct em_array_plan *plan,
                         struct em_storage *storage, CUmipmappedArray *out);

// Creates an array over one level of `storage` and takes a reference to the storage.
// Precondition: em_lock held.
CUresult em_array_start(struct em_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                        struct em_storage *storage, uint32_t level, struct em_array **out);
// Ends the handles of an array and its planes. Precondition: em_lock held.
void em_array_retire(struct em_array *array);
// Ends the handles of a mipmapped array and its levels. Precondition: em_lock held.
void em_mipmap_retire(struct em_mipmap *mipmap, enum em_end_reason reason);

// cuArray3DCreate, cuMipmappedArrayCreate in the current context. Take the lock.
CUresult em_array_create(const CUDA_ARRAY3D_DESCRIPTOR *desc, CUarray *out);
CUresult em_mipmap_create(const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned levels,
                          CUmipmappedArray *out);
// cuArrayDestroy, cuMipmappedArrayDestroy. Destroying a level, a plane or an array of a graphics
// resource does nothing, because its owner keeps it. Take the lock.
CUresult em_array_destroy(CUarray handle);
CUresult em_mipmap_destroy(CUmipmappedArray handle);
// cuMipmappedArrayGetLevel. Returns the same handle on every call. Takes the lock.
CUresult em_mipmap_level(CUmipmappedArray handle, unsigned level, CUarray *out);
// cuArrayGetPlane. Returns the same handle on every call; the array owns it. Takes the lock.
CUresult em_array_plane(CUarray handle, unsigned plane, CUarray *out);
// Returns true if the array has a planar video format. Precondition: em_lock held.
bool em_array_planar(const struct em_array *array);
// cuArray3DGetDescriptor. Takes the lock.
CUresult em_array_describe(CUarray handle, CUDA_ARRAY3D_DESCRIPTOR *out);
// cuArrayGetMemoryRequirements, cuMipmappedArrayGetMemoryRequirements. They fail if the array was
// created without deferred mapping. Take the lock.
CUresult em_array_requirements(CUarray handle, CUDA_ARRAY_MEMORY_REQUIREMENTS *out);
CUresult em_mipmap_requirements(CUmipmappedArray handle, CUDA_ARRAY_MEMORY_REQUIREMENTS *out);
// cuArrayGetSparseProperties, cuMipmappedArrayGetSparseProperties. Take the lock.
CUresult em_array_sparse(CUarray handle, CUDA_ARRAY_SPARSE_PROPERTIES *out);
CUresult em_mipmap_sparse(CUmipmappedArray handle, CUDA_ARRAY_SPARSE_PROPERTIES *out);

// Looks up a handle. If it is not valid, returns the card's code and reports a sentence.
// Precondition: em_lock held.
CUresult em_array_get(CUarray handle, struct em_array **out);
CUresult em_mipmap_get(CUmipmappedArray handle, struct em_mipmap **out);
// If the handle belonged to an array of a graphics resource that has been unmapped, reports the
// mistake and returns `code`. Otherwise returns CUDA_SUCCESS. Precondition: em_lock held.
CUresult em_array_was_lent(uint64_t handle, CUresult code);
// Describes the array's elements for box copies. Returns CUDA_ERROR_INVALID_VALUE if the array has
// planes, or if it is a plane that exceeds the memory of its image. The caller must hold a
// reference to the storage as long as it uses the surface. Precondition: em_lock held.
CUresult em_array_surface(const struct em_array *array, struct dm_surface *out);
