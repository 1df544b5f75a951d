// SPDX-License-Identifier: MIT
// Inside the room: texture and surface objects.
#pragma once
#include <cuda.h>
#include <stdbool.h>

#include "kn_sample.h"
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
    // How kernels access it, and the part of an array that they see. Does not change after the
    // object was created.
    bool usable;
    uint32_t first_level, levels, first_layer, layers;
    union {
        struct kn_image image;     // of a surface
        struct kn_texture sampled; // of a texture
    };
};

// A texture or surface without a handle and a context, and with one reference, for what a module's
// reference is bound to. The caller describes it. Precondition: em_lock held.
CUresult em_texture_new(enum em_type type, const CUDA_RESOURCE_DESC *resource,
                        struct em_texture **out);

// Describes a texture or a surface for kernels: fills in the last members. They stay unusable if
// kernels cannot access the resource. Precondition: em_lock held.
void em_texture_prepare(struct em_texture *t);
void em_surface_prepare(struct em_texture *t);
