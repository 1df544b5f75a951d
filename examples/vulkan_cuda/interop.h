// SPDX-License-Identifier: MIT
// The CUDA half of the examples: maps the memory that Vulkan exported and works on it through the
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

// The first device and its primary context, made current; its UUID goes to uuid[16].
CUdevice interop_open(uint8_t *uuid);
void interop_close(CUdevice device);

// Takes over both file descriptors. The sizes are those of the Vulkan allocations; buffer_B is what
// is used of the buffer.
void interop_import(struct interop *in, int image_fd, uint64_t image_size_B, int buffer_fd,
                    uint64_t buffer_size_B, uint64_t buffer_B, uint32_t width, uint32_t height,
                    uint32_t layers, uint32_t levels);
void interop_drop(struct interop *in);

// Makes layer 1 out of layer 0 (see picture_expected) with copies between levels and layers, then
// writes layer 1 to the buffer, all levels packed.
void interop_work(struct interop *in);
