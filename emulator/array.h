// SPDX-License-Identifier: MIT
// CUDA arrays and mipmapped arrays: what a descriptor means, and the memory behind it.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "layout.h"
#include "object.h"

// The bytes behind a mipmapped array, its levels and their planes; each of them holds a reference.
struct em_storage {
    unsigned references;
    struct dm_layout layout;
    uint64_t address; // device address of the layout's byte 0; 0 while nothing is mapped (deferred mapping, sparse)
    uint64_t size_B;  // bytes that belong to it from there on
    void *owner;      // what `release` needs
    void (*release)(struct em_storage *); // gives the bytes back and frees the struct; precondition: em_lock held
};

// What a descriptor and a number of levels come to.
struct em_array_plan {
    CUDA_ARRAY3D_DESCRIPTOR desc; // as cuArray3DGetDescriptor reports it
    unsigned levels;
    struct dm_layout layout;
};

enum em_array_use { EM_ARRAY_CREATE, EM_MIPMAP_CREATE, EM_MIPMAP_EXTERNAL };

// Checks a descriptor by the rules of cuArray3DCreate, cuMipmappedArrayCreate or cuExternalMemoryGetMappedMipmappedArray, and lays it out as `kind`
// says. Fails with the card's code and a sentence. Takes no lock.
CUresult em_array_plan(const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned levels, enum em_array_use use, enum dm_layout_kind kind,
                       struct em_array_plan *plan);

// Makes the object over `storage`, whose one reference goes to it also on failure (then it is released). Precondition: em_lock held.
CUresult em_mipmap_start(struct em_context *context, const struct em_array_plan *plan, struct em_storage *storage, CUmipmappedArray *out);
