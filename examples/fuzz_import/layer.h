// SPDX-License-Identifier: MIT
// The import layer of an application that shows what a renderer in another process draws with
// Vulkan. The renderer exports one allocation, and sends messages that say which buffers and images
// are in it. The layer checks each message and maps the memory that it names.
//
// A message: the number of 64 KiB pages of the allocation (16 bits), then commands of ten bytes
// each: slot (8 bits), command (8 bits), first page, pages, layers, blocks of rows in a layer (16
// bits each). All numbers are little-endian.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LAYER_SLOTS = 4,
    LAYER_PAGE_B = 64 << 10,
    LAYER_WIDTH = 256,      // texels of every image, RGBA8
    LAYER_BLOCK_ROWS = 128, // rows in the unit in which the height of images is counted
    LAYER_ROWS_MOST = 16384,
    LAYER_LAYERS_MOST = 2048,
};

enum layer_command {
    LAYER_BUFFER,  // map pages as a buffer
    LAYER_IMAGE,   // map pages as a layered image
    LAYER_RELEASE, // unmap
    LAYER_CLEAR,   // write zeros to the first bytes
    LAYER_COMMANDS
};

struct layer_slot {
    CUdeviceptr buffer;     // or 0
    CUmipmappedArray image; // or NULL
    uint64_t size_B;
};

struct layer {
    CUexternalMemory memory; // or NULL
    uint64_t allocation_B;   // VkMemoryAllocateInfo::allocationSize, from the renderer's start
    struct layer_slot slots[LAYER_SLOTS];
};

// Opens a message's allocation and carries out its commands. Takes ownership of `fd`. Returns false
// if the message is not valid, or if CUDA fails; then the layer is closed.
bool layer_receive(struct layer *layer, int fd, uint64_t allocation_B, const uint8_t *message,
                   size_t size);
// Unmaps everything. May be called again.
void layer_close(struct layer *layer);
