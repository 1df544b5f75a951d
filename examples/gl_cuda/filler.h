// SPDX-License-Identifier: MIT
// The CUDA part: fills a texture and a pixel buffer through the driver API.
#pragma once
#include <cuda.h>
#include <stdint.h>

#define CU(call) filler_check((call), #call, __FILE__, __LINE__)
void filler_check(CUresult result, const char *what, const char *file, int line);

struct filler {
    CUdevice device;
    CUcontext context;
    CUstream stream;
    CUgraphicsResource texture, pixels;
    uint32_t size;
};

// Registers both with the current OpenGL context: a texture of size x size RGBA8, and a pixel
// buffer with the same number of bytes.
void filler_open(struct filler *filler, unsigned texture, unsigned pixel_buffer, uint32_t size);
// Puts picture number `frame` into both. OpenGL sees it when this returns.
void filler_fill(struct filler *filler, uint32_t frame);
void filler_close(struct filler *filler);

// Computes the same picture on the CPU: 2 size x size RGBA, with the texture on the left.
void filler_expected(uint32_t size, uint32_t frame, uint8_t *pixels);
