// SPDX-License-Identifier: MIT
// Memory requirements and sparse properties of arrays and mipmapped arrays.
#include <string.h>

#include "array.h"
#include "call.h"
#include "lock.h"
#include "sparse.h"

static CUresult array_requirements(const struct em_storage *storage, unsigned flags, bool level,
                                   CUDA_ARRAY_MEMORY_REQUIREMENTS *out)
{
    // "must have been allocated with the flag CUDA_ARRAY3D_DEFERRED_MAPPING otherwise
    // CUDA_ERROR_INVALID_VALUE will be returned"
    if (level)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "the array is a level and shares the memory of its mipmapped array; pass the "
            "mipmapped array");
    if (!(flags & CUDA_ARRAY3D_DEFERRED_MAPPING))
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "the flags of the array are %#x; create it with CUDA_ARRAY3D_DEFERRED_MAPPING", flags);
    uint64_t size_B, alignment_B;
    dm_layout_memory_requirements(&storage->layout, &size_B, &alignment_B);
    memset(out, 0, sizeof *out);
    out->size = size_B;
    out->alignment = alignment_B;
    return CUDA_SUCCESS;
}

CUresult em_array_requirements(CUarray handle, CUDA_ARRAY_MEMORY_REQUIREMENTS *out)
{
    struct em_array *a;
    em_lock();
    CUresult r = em_array_get(handle, &a);
    if (!r)
        r = array_requirements(a->storage, a->desc.Flags, a->parent != NULL, out);
    em_unlock();
    return r;
}

CUresult em_mipmap_requirements(CUmipmappedArray handle, CUDA_ARRAY_MEMORY_REQUIREMENTS *out)
{
    struct em_mipmap *m;
    em_lock();
    CUresult r = em_mipmap_get(handle, &m);
    if (!r)
        r = array_requirements(m->storage, m->desc.Flags, false, out);
    em_unlock();
    return r;
}

static CUresult array_sparse_properties(const struct em_storage *storage, unsigned flags,
                                        bool level, bool mipmapped,
                                        CUDA_ARRAY_SPARSE_PROPERTIES *out)
{
    struct dm_sparse s;
    // "If the CUDA array was not allocated with CUDA_ARRAY3D_SPARSE, CUDA_ERROR_INVALID_VALUE will
    // be returned."
    if (level)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "the array is a level and shares the tiles of its mipmapped array; pass the "
                       "mipmapped array");
    if (!(flags & CUDA_ARRAY3D_SPARSE) || dm_sparse_init(&s, &storage->layout))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "the flags of the array are %#x; create it with CUDA_ARRAY3D_SPARSE", flags);
    out->tileExtent.width = s.tile_width_px;
    out->tileExtent.height = s.tile_height_px;
    out->tileExtent.depth = s.tile_depth;
    out->miptailFirstLevel = !mipmapped && !s.miptail_B ? 0 : s.miptail_first_level;
    out->miptailSize = s.miptail_B;
    out->flags = s.single_miptail ? CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL : 0;
    return CUDA_SUCCESS;
}

CUresult em_array_sparse(CUarray handle, CUDA_ARRAY_SPARSE_PROPERTIES *out)
{
    struct em_array *a;
    em_lock();
    CUresult r = em_array_get(handle, &a);
    if (!r)
        r = array_sparse_properties(a->storage, a->desc.Flags, a->parent != NULL, false, out);
    em_unlock();
    return r;
}

CUresult em_mipmap_sparse(CUmipmappedArray handle, CUDA_ARRAY_SPARSE_PROPERTIES *out)
{
    struct em_mipmap *m;
    em_lock();
    CUresult r = em_mipmap_get(handle, &m);
    if (!r)
        r = array_sparse_properties(m->storage, m->desc.Flags, false, true, out);
    em_unlock();
    return r;
}
