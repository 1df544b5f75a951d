// SPDX-License-Identifier: MIT
// Texture references, the predecessors of texture objects: their settings and bindings. Kernels of
// PTX texts fetch from them (kernel_object.h); functions of the host cannot.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

struct em_context;
struct em_object;

// How a kernel reads through a reference.
struct em_texture_sampling {
    CUarray_format format;
    int channels;
    CUaddress_mode address_mode[3];
    CUfilter_mode filter, mipmap_filter;
    float level_bias, level_clamp[2], border[4];
    int anisotropy;
    unsigned flags;
};

// The members of em_texture_sampling that one call sets.
enum em_texture_member {
    EM_TEXTURE_FORMAT, // and the number of channels
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

// The binding: at most one of an array, a mipmapped array and linear memory.
struct em_texture_binding {
    CUarray array;
    CUmipmappedArray mipmap;
    uint64_t address;
    bool linear; // `address` is bound, even if it is 0
    // Of linear memory: its bytes, or rows of texels.
    uint64_t size_B;
    uint64_t width, height, pitch_B; // 0: no rows
};

// All calls here take the lock.

// A reference with the driver's defaults. Precondition of this one: em_lock held.
CUresult em_texture_reference_new(struct em_context *context, struct em_object **out);
// The same in the current context.
CUresult em_texture_reference_create(CUtexref *out);
CUresult em_texture_reference_destroy(CUtexref handle);

// These four replace the previous binding. Linear memory has elements of the reference's format; if
// `offset` is not NULL, *offset gets the distance of the address from the aligned address below it.
CUresult em_texture_reference_linear(CUtexref handle, uint64_t address, uint64_t size_B,
                                     size_t *offset);
// Binds rows as in `desc`, pitch_B bytes apart. If `strict` is set, the pitch must be aligned and
// within the device's limit.
CUresult em_texture_reference_pitched(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR *desc,
                                      uint64_t address, uint64_t pitch_B, bool strict);
CUresult em_texture_reference_array(CUtexref handle, CUarray array, unsigned flags);
CUresult em_texture_reference_mipmap(CUtexref handle, CUmipmappedArray mipmap, unsigned flags);
// Returns the binding. If the array has been destroyed, the binding is empty.
CUresult em_texture_reference_bound(CUtexref handle, struct em_texture_binding *out);

// Copies one member from `from`.
CUresult em_texture_reference_set(CUtexref handle, enum em_texture_member member,
                                  const struct em_texture_sampling *from);
CUresult em_texture_reference_sampling(CUtexref handle, struct em_texture_sampling *out);

// Returns the driver's error code for a handle that is not a reference of the expected type.
// Precondition: em_lock held.
CUresult em_reference_code(uint64_t handle);

// Describes what a reference is bound to as for a texture object. Returns false if the handle is no
// reference, or if it is bound to nothing. Precondition: em_lock held.
bool em_texture_reference_describe(uint64_t handle, CUDA_RESOURCE_DESC *resource,
                                   CUDA_TEXTURE_DESC *texture);
