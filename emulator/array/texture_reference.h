// SPDX-License-Identifier: MIT
// Texture references, the forerunners of texture objects: what one holds, and what can be bound to
// it. Fetching comes with kernels.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

// How a reference is read.
struct em_texture_sampling {
    CUarray_format format;
    int channels;
    CUaddress_mode address_mode[3];
    CUfilter_mode filter, mipmap_filter;
    float level_bias, level_clamp[2], border[4];
    int anisotropy;
    unsigned flags;
};

// The parts of it that are set each by a call of its own.
enum em_texture_member {
    EM_TEXTURE_FORMAT, // and channels
    EM_TEXTURE_ADDRESS_MODE_0,
    EM_TEXTURE_ADDRESS_MODE_1,
    EM_TEXTURE_ADDRESS_MODE_2,
    EM_TEXTURE_FILTER,
    EM_TEXTURE_MIPMAP_FILTER,
    EM_TEXTURE_LEVEL_BIAS,
    EM_TEXTURE_LEVEL_CLAMP,
    EM_TEXTURE_BORDER,
    EM_TEXTURE_ANISOTROPY,
    EM_TEXTURE_FLAGS,
};

// What is bound: at most one of the three.
struct em_texture_binding {
    CUarray array;
    CUmipmappedArray mipmap;
    uint64_t address;
    bool linear; // `address` is bound, be it NULL
};

// All calls here take the lock.

// A reference with the driver's defaults in the current context.
CUresult em_texture_reference_create(CUtexref *out);
CUresult em_texture_reference_destroy(CUtexref handle);

// Binds, and unbinds what was bound before. The size of an element is taken from the reference's
// format. 1D linear memory: *offset (may be NULL) gets the bytes by which the address misses the
// texture alignment.
CUresult em_texture_reference_linear(CUtexref handle, uint64_t address, uint64_t size_B,
                                     size_t *offset);
// Rows of `desc` at a pitch in bytes; `strict`: the pitch must be aligned and within the device's
// limit.
CUresult em_texture_reference_pitched(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR *desc,
                                      uint64_t address, uint64_t pitch_B, bool strict);
CUresult em_texture_reference_array(CUtexref handle, CUarray array, unsigned flags);
CUresult em_texture_reference_mipmap(CUtexref handle, CUmipmappedArray mipmap, unsigned flags);
// What is bound; an array that is gone is not bound any more.
CUresult em_texture_reference_bound(CUtexref handle, struct em_texture_binding *out);

// Takes one member over from `from`.
CUresult em_texture_reference_set(CUtexref handle, enum em_texture_member member,
                                  const struct em_texture_sampling *from);
CUresult em_texture_reference_sampling(CUtexref handle, struct em_texture_sampling *out);

// What the driver answers for a number that is no reference of the kind that was asked for.
// Precondition: em_lock held.
CUresult em_reference_code(uint64_t handle);
