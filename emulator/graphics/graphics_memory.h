// SPDX-License-Identifier: MIT
// The bytes of a graphics resource, and the addresses at which CUDA sees them. Precondition of
// everything here: em_lock held.
#pragma once
#include <cuda.h>
#include <stdint.h>

#include "graphics.h"

struct em_device;

// The bytes: a shadow buffer, or the graphics object's own. Kept by the resource, by its windows,
// and by arrays and textures that were made on it.
struct em_graphics_memory {
    uint32_t references;
    struct dm_heap *heap;   // of a shadow buffer
    struct dm_block *block; // the shadow buffer, or NULL
    struct dm_physical *physical;
    uint64_t physical_offset;
    uint64_t size_B;
    uint64_t address;  // constant as long as the bytes live
    bool mapped;       // `address` was mapped for these bytes, and is unmapped with them
    const void *shown; // the resource whose pointer is `address`; other resources of the same bytes
                       // have other pointers
};

// The addresses of one mapping of a resource, or of all.
struct em_graphics_window {
    uint32_t references;
    struct em_graphics_memory *memory;
    uint64_t address;  // of byte 0
    uint64_t reserved; // addresses of this window alone; 0: it uses the memory's own address
    uint64_t reserved_B;
};

// Returns shape->memory with a reference, or maps the bytes of shape->physical, or allocates
// `size_B` bytes. CUDA_ERROR_OUT_OF_MEMORY if that fails.
CUresult em_graphics_memory_new(const struct em_device *on, const struct em_graphics_shape *shape,
                                uint64_t size_B, struct em_graphics_memory **out);
void em_graphics_memory_unref(struct em_graphics_memory *memory);

// If `elsewhere` is set, the window gets addresses that no window of this memory has had. If all
// addresses have been used, it gets the memory's own address.
CUresult em_graphics_window_open(struct em_graphics_memory *memory, bool elsewhere,
                                 struct em_graphics_window **out);
void em_graphics_window_unref(struct em_graphics_window *window);

// The bytes that a mapped buffer occupies. The driver rounds up to whole pages, so a copy may go
// past the buffer's end up to the next page boundary. CUDA_ERROR_OUT_OF_MEMORY if rounding up
// overflows. em_lock need not be held.
CUresult em_graphics_capacity(const struct em_graphics_shape *shape, uint64_t *capacity_B);
