// SPDX-License-Identifier: MIT
// The bytes that CUDA sees of a graphics resource, and the addresses at which it sees them.
// Everything here: precondition: em_lock held.
#pragma once
#include <cuda.h>
#include <stdint.h>

#include "graphics.h"

struct em_device;

// The bytes: a mirror of their own, or the graphics object's. Kept by the resource, by its windows,
// and by arrays and textures made on it.
struct em_graphics_memory {
    uint32_t references;
    struct dm_heap *heap;   // of a mirror
    struct dm_block *block; // the mirror, or NULL
    struct dm_physical *physical;
    uint64_t physical_offset;
    uint64_t size_B;
    uint64_t address;  // where they are as long as they live
    bool mapped;       // `address` was made for them, and ends with them
    const void *shown; // the resource whose pointer is `address` now; others of the same bytes have
                       // pointers elsewhere
};

// Addresses of one or of all mappings of a resource.
struct em_graphics_window {
    uint32_t references;
    struct em_graphics_memory *memory;
    uint64_t address;  // of byte 0
    uint64_t reserved; // the addresses that belong to this window alone, or 0: it shows the memory
                       // where it always is
    uint64_t reserved_B;
};

// Memory for `size_B` bytes, or that which shape->memory or shape->physical say.
// CUDA_ERROR_OUT_OF_MEMORY.
CUresult em_graphics_memory_new(const struct em_device *on, const struct em_graphics_shape *shape,
                                uint64_t size_B, struct em_graphics_memory **out);
void em_graphics_memory_unref(struct em_graphics_memory *memory);

// `elsewhere`: at addresses that no window of it had before, where that can be had.
CUresult em_graphics_window_open(struct em_graphics_memory *memory, bool elsewhere,
                                 struct em_graphics_window **out);
void em_graphics_window_unref(struct em_graphics_window *window);

// The bytes that a mapped buffer occupies. The driver rounds up to whole pages, so a copy may go
// past the buffer's end up to the next page boundary. CUDA_ERROR_OUT_OF_MEMORY if rounding up
// overflows.
CUresult em_graphics_capacity(const struct em_graphics_shape *shape, uint64_t *capacity_B);
