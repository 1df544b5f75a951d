// SPDX-License-Identifier: MIT
// The rules for the descriptors of texture and surface objects.
#pragma once
#include <cuda.h>
#include <stdbool.h>

struct dm_format_info;
struct em_device;
struct em_storage;

// The resource that a texture descriptor and a view are checked against.
struct em_texture_subject {
    const CUDA_ARRAY3D_DESCRIPTOR *desc; // of the array or mipmapped array; NULL for linear memory
    const struct dm_format_info *format; // NULL for linear memory
    bool has_levels;                     // a mipmapped array, or a level of one
    bool nv12_plane;
    struct em_storage *storage; // NULL for linear memory
};

// Checks a resource and describes it in *out. If a rule is broken, returns CUDA_ERROR_INVALID_VALUE
// and reports a sentence, as the other functions here do. Precondition: em_lock held.
CUresult em_texture_check_resource(const struct em_device *device, const CUDA_RESOURCE_DESC *r,
                                   struct em_texture_subject *out);
// Checks a texture descriptor for a resource that passed em_texture_check_resource.
CUresult em_texture_check(const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *t,
                          const struct em_texture_subject *s);
// Checks a view of an array or mipmapped array. It accepts CU_RES_VIEW_FORMAT_NONE, because the
// driver rejects that last.
CUresult em_texture_check_view(const CUDA_RESOURCE_VIEW_DESC *v,
                               const struct em_texture_subject *s);
// Returns how many coordinates have an address mode. A layer index has no address mode.
unsigned em_texture_coordinates(const CUDA_RESOURCE_DESC *r, const struct em_texture_subject *s);
// Whether the address modes and the filter mode of such a resource have no effect, so that any are
// accepted.
bool em_texture_ignores_modes(const CUDA_RESOURCE_DESC *r);
