// SPDX-License-Identifier: MIT
// The heaps of a context on its device. Linear memory and arrays never share a chunk of 2 MiB, nor
// do arrays whose texels (of blocks: blocks) have different sizes, nor two contexts (recorded:
// array_heap). So a fresh chunk, which is zero, stays zero between the texels of its arrays until
// an array of such texels was there.
//
// A heap outlives its context while commands still use a block of it. Empty heaps of contexts that
// ended are used by the next ones.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "heap.h"

struct em_context;
struct em_device_memory;

enum em_heap_use {
    EM_HEAP_LINEAR,
    EM_HEAP_TEXELS, // of 1 byte; the next four of 2, 4, 8 and 16
    EM_HEAP_USES = EM_HEAP_TEXELS + 5
};

struct em_heap {
    struct dm_heap heap;
    struct em_heap *next; // of the idle ones of a device
    int device;
    bool ended; // its context has ended
};

// The heap of arrays whose texels or blocks have this many bytes.
enum em_heap_use em_heap_of_texels(uint32_t element_B);

// Returns a heap of a context, and makes it at the first call. Fails with
// CUDA_ERROR_OUT_OF_MEMORY if the process is out of addresses or memory, and with
// CUDA_ERROR_CONTEXT_IS_DESTROYED if the context has ended. Precondition: em_lock held.
CUresult em_context_heap(struct em_context *context, enum em_heap_use use, struct em_heap **out);
// Makes the heap that nearly every program uses, as far as possible, when a context begins.
// Precondition: em_lock held.
void em_context_heaps_prepare(struct em_context *context, struct em_device_memory *memory);
// Frees a block. If its context has ended, the heap may end too. Precondition: em_lock held.
void em_heap_free(struct em_heap *heap, struct dm_block *block);
// The context ends, and its memory and arrays have ended. Precondition: em_lock held.
void em_context_heaps_end(struct em_context *context);
// Ends the heaps that no context uses. Precondition: em_lock held.
void em_heaps_drop_idle(struct em_device_memory *memory);
