// SPDX-License-Identifier: MIT
// CUDA arrays and mipmapped arrays: what a descriptor means, and the memory behind it.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "access.h"
#include "box.h"
#include "layout.h"
#include "object.h"
#include "planes.h"

struct em_device;

// The bytes behind a mipmapped array, its levels and their planes; each of them holds a reference.
struct em_storage {
    unsigned references;
    struct dm_layout layout;
    uint64_t address; // device address of the layout's byte 0
    uint64_t size_B;  // bytes that belong to it from there on
    bool may_fault;   // a file of someone else, who may truncate it, or nothing at all: a copy may
                      // fault
    bool mapped;      // on external memory
    const char *unusable; // why using it ends the context, as on the card; NULL: it does not
    void *owner;          // what `release` needs
    void (*release)(struct em_storage
                        *); // gives the bytes back and frees the struct; precondition: em_lock held
    // Called by a command that is about to read from it; NULL: nothing to do. Precondition: em_lock
    // NOT held.
    void (*before_read)(struct em_storage *);
    const struct em_watch_ops *watch; // of commands that access it; NULL: nobody watches
};

// What a descriptor and a number of levels come to.
struct em_array_plan {
    CUDA_ARRAY3D_DESCRIPTOR desc; // as cuArray3DGetDescriptor reports it
    unsigned levels;
    struct dm_layout layout;
    uint64_t least_B; // what mapped external memory must have: all of it, or, as the driver looks
                      // at it, the first plane
};

enum em_array_use { EM_ARRAY_CREATE, EM_MIPMAP_CREATE, EM_MIPMAP_EXTERNAL };

// Checks a descriptor by the rules of cuArray3DCreate, cuMipmappedArrayCreate or
// cuExternalMemoryGetMappedMipmappedArray on that device, and lays it out as `kind` says. Fails
// with the card's code and a sentence. Takes no lock.
CUresult em_array_plan(const struct em_device *device, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                       unsigned levels, enum em_array_use use, enum dm_layout_kind kind,
                       struct em_array_plan *plan);

// An array of its own, or a level of a mipmapped array (then borrowed from it: `parent`).
struct em_array {
    struct em_object object; // type EM_ARRAY
    CUDA_ARRAY3D_DESCRIPTOR desc;
    struct em_storage *storage; // a reference
    uint32_t level;
    struct em_mipmap *parent; // NULL: an array of its own
    bool lent;                // belongs to a graphics resource: cuArrayDestroy leaves it alone
    struct em_array *whole;   // a plane: the array that it is a plane of, which owns it
    struct em_array *plane[DM_PLANES_MAX]; // made when first asked for
};

struct em_mipmap {
    struct em_object object; // type EM_MIPMAP
    CUDA_ARRAY3D_DESCRIPTOR desc;
    unsigned levels;
    struct em_storage *storage;                   // a reference
    struct em_array *level[DM_LAYOUT_LEVELS_MAX]; // made when first asked for
    bool lent;                                    // as that of an array
};

// The format of a descriptor that em_array_plan let pass. The low byte of the number names it.
static inline const struct dm_format_info *em_array_format(const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    return dm_format_info((uint32_t)desc->Format & 0xff);
}

// Makes the object over `storage`, whose one reference goes to it also on failure (then it is
// released). Precondition: em_lock held.
CUresult em_mipmap_start(struct em_context *context, const struct em_array_plan *plan,
                         struct em_storage *storage, CUmipmappedArray *out);

// The same of one level of it, as an array of its own; a reference to `storage` is taken.
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
// cuArrayDestroy; of a level it does nothing, since the mipmapped array owns it. Take the lock.
CUresult em_array_destroy(CUarray handle);
CUresult em_mipmap_destroy(CUmipmappedArray handle);
// cuMipmappedArrayGetLevel: the same handle each time. Takes the lock.
CUresult em_mipmap_level(CUmipmappedArray handle, unsigned level, CUarray *out);
// cuArrayGetPlane: the same handle each time, borrowed from the array. Takes the lock.
CUresult em_array_plane(CUarray handle, unsigned plane, CUarray *out);
// Whether the array is of a planar video format. Precondition: em_lock held.
bool em_array_planar(const struct em_array *array);
// cuArray3DGetDescriptor. Takes the lock.
CUresult em_array_describe(CUarray handle, CUDA_ARRAY3D_DESCRIPTOR *out);
// cuArrayGetMemoryRequirements, cuMipmappedArrayGetMemoryRequirements: of deferred arrays. Take the
// lock.
CUresult em_array_requirements(CUarray handle, CUDA_ARRAY_MEMORY_REQUIREMENTS *out);
CUresult em_mipmap_requirements(CUmipmappedArray handle, CUDA_ARRAY_MEMORY_REQUIREMENTS *out);
// cuArrayGetSparseProperties, cuMipmappedArrayGetSparseProperties. Take the lock.
CUresult em_array_sparse(CUarray handle, CUDA_ARRAY_SPARSE_PROPERTIES *out);
CUresult em_mipmap_sparse(CUmipmappedArray handle, CUDA_ARRAY_SPARSE_PROPERTIES *out);

// The object of a handle, or the card's code and a sentence. Precondition: em_lock held.
CUresult em_array_get(CUarray handle, struct em_array **out);
CUresult em_mipmap_get(CUmipmappedArray handle, struct em_mipmap **out);
// Where this was an array that a graphics resource lent until it was unmapped: `code`, and the
// mistake. Else CUDA_SUCCESS. Precondition: em_lock held.
CUresult em_array_was_lent(uint64_t handle, CUresult code);
// The place of an array's elements, for box copies. CUDA_ERROR_INVALID_VALUE while no memory is
// mapped behind it (deferred, sparse). Precondition: em_lock held; while the surface is used a
// reference to the storage is.
CUresult em_array_surface(const struct em_array *array, struct dm_surface *out);
// Makes `access` one of a box of a level. It takes a reference to the storage. To the watchers of a
// storage access->owner is that storage. Precondition: em_lock held.
void em_storage_access(struct em_access *access, struct em_storage *storage, uint32_t level,
                       const struct dm_position *at, const struct dm_box_extent *extent,
                       enum em_access_mode mode);
void em_storage_ref(struct em_storage *storage);
// Precondition: em_lock held.
void em_storage_unref(struct em_storage *storage);
