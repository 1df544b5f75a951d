// SPDX-License-Identifier: MIT
// Inside the room: texture and surface objects.
#pragma once
#include <cuda.h>
#include <stdbool.h>

#include "kn_surface.h"
#include "object.h"

struct em_storage;

struct em_texture {
    struct em_object object; // type EM_TEXTURE or EM_SURFACE
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUDA_RESOURCE_VIEW_DESC view;
    bool has_view;
    struct em_storage *storage; // a reference if the resource is an array
    // How kernels access it. Does not change after the object was created.
    bool usable;
    struct kn_image image; // of a surface
};
