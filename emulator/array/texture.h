// SPDX-License-Identifier: MIT
// Texture and surface objects: they are checked, can be read back, and kernels use them
// (kernel_object.h).
#pragma once
#include <cuda.h>
#include <stdbool.h>

// cuTexObjectCreate in the current context; `view` may be NULL. Takes the lock.
CUresult em_texture_create(const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *texture,
                           const CUDA_RESOURCE_VIEW_DESC *view, CUtexObject *out);
CUresult em_texture_destroy(CUtexObject handle);
// Return the descriptors that the object was created with. Members that the driver does not store
// (border colour, reserved) are not written to *out. Take the lock.
CUresult em_texture_resource(CUtexObject handle, CUDA_RESOURCE_DESC *out);
CUresult em_texture_texture(CUtexObject handle, CUDA_TEXTURE_DESC *out);
CUresult em_texture_view(CUtexObject handle, CUDA_RESOURCE_VIEW_DESC *out);

CUresult em_surface_create(const CUDA_RESOURCE_DESC *resource, CUsurfObject *out);
CUresult em_surface_destroy(CUsurfObject handle);
CUresult em_surface_resource(CUsurfObject handle, CUDA_RESOURCE_DESC *out);
