// SPDX-License-Identifier: MIT
// The CUDA part of the examples: maps the memory that Vulkan exported, and changes it through the
// driver API.
#pragma once
#include <cuda.h>
#include <stdint.h>

#define CU(call) interop_check((call), #call, __FILE__, __LINE__)
void interop_check(CUresult result, const char *what, const char *file, int line);

struct interop {
    CUexternalMemory image_memory, buffer_memory;
    CUmipmappedArray image;
    CUdeviceptr buffer;
    uint32_t width, height, layers, levels;
};

// Makes the primary context of the first device current, and writes the device's UUID to uuid[16].
CUdevice interop_open(uint8_t *uuid);
void interop_close(CUdevice device);

// Vulkan's description of its exports. Sizes are those of the Vulkan allocations; buffer_B is the
// part of the buffer that is used.
struct interop_offer {
    uint64_t image_size_B, buffer_size_B, buffer_B;
    uint32_t width, height, layers, levels;
};

// Imports the image and the buffer, and takes over both file descriptors.
void interop_import(struct interop *in, const struct interop_offer *offer, int image_fd,
                    int buffer_fd);
void interop_drop(struct interop *in);

// The same for an image without a buffer: imports the image whose size is in *in (layers: 0, or the
// number of layers), and takes over the file descriptor.
void interop_import_image(struct interop *in, int fd, uint64_t size_B);
void interop_drop_image(struct interop *in);

// Makes layer 1 from layer 0 (see picture_expected) with copies between levels and layers, then
// writes layer 1 to the buffer with all levels packed.
void interop_work(struct interop *in);
