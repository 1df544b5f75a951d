// SPDX-License-Identifier: MIT
// Texture references, the forerunners of texture objects: what one holds, and what can be bound to it. Fetching comes with kernels.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "object.h"

struct em_texture_reference {
    struct em_object object; // type EM_TEXTURE_REFERENCE
    // What is bound: at most one of the three.
    CUarray array;
    CUmipmappedArray mipmap;
    uint64_t address;
    bool linear; // `address` is bound, be it NULL
    CUarray_format format;
    int channels;
    CUaddress_mode address_mode[3];
    CUfilter_mode filter, mipmap_filter;
    float level_bias, level_clamp[2], border[4];
    int anisotropy;
    unsigned flags;
};

// A reference with the driver's defaults in the current context. Takes the lock.
CUresult em_texture_reference_create(CUtexref *out);
CUresult em_texture_reference_destroy(CUtexref handle);

// What the driver answers for a number that is no reference. Precondition: em_lock held.
CUresult em_reference_code(uint64_t handle);

// The reference, and em_lock held until the caller lets go of it with em_unlock(); on failure it is not held.
CUresult em_texture_reference_lock(CUtexref handle, struct em_texture_reference **out);

// Binds, and unbinds what was bound before. The size of an element is taken from the reference's format. Precondition: em_lock held.
// 1D linear memory: *offset (may be NULL) gets the bytes by which the address misses the texture alignment.
CUresult em_texture_reference_linear(struct em_texture_reference *t, uint64_t address, uint64_t size_B, size_t *offset);
// Rows of `desc` at a pitch in bytes; `strict`: the pitch must be aligned and within the device's limit.
CUresult em_texture_reference_pitched(struct em_texture_reference *t, const CUDA_ARRAY_DESCRIPTOR *desc, uint64_t address, uint64_t pitch_B,
                                      bool strict);
CUresult em_texture_reference_array(struct em_texture_reference *t, CUarray array, unsigned flags);
CUresult em_texture_reference_mipmap(struct em_texture_reference *t, CUmipmappedArray mipmap, unsigned flags);
