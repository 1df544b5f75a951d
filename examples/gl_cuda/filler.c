// SPDX-License-Identifier: MIT
// The CUDA part of the examples: copies into an array, fills of a buffer, and the expected picture.
#include "filler.h"

#include <cudaGL.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void filler_check(CUresult result, const char *what, const char *file, int line)
{
    const char *name = "?";
    if (!result)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s:%d: %s gives %s\n", file, line, what, name);
    exit(1);
}

void filler_open(struct filler *filler, unsigned texture, unsigned pixel_buffer, uint32_t size)
{
    unsigned count = 0;
    CU(cuInit(0));
    CU(cuGLGetDevices(&count, &filler->device, 1, CU_GL_DEVICE_LIST_ALL));
    CU(cuDevicePrimaryCtxRetain(&filler->context, filler->device));
    CU(cuCtxSetCurrent(filler->context));
    CU(cuStreamCreate(&filler->stream, CU_STREAM_NON_BLOCKING));
    CU(cuGraphicsGLRegisterImage(&filler->texture, texture, GL_TEXTURE_2D,
                                 CU_GRAPHICS_REGISTER_FLAGS_NONE));
    CU(cuGraphicsGLRegisterBuffer(&filler->pixels, pixel_buffer,
                                  CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD));
    filler->size = size;
}

static void gradient(uint8_t *pixels, uint32_t size, uint32_t frame, uint32_t pitch_B)
{
    for (uint32_t y = 0; y < size; y++) {
        for (uint32_t x = 0; x < size; x++) {
            uint8_t *p = pixels + (size_t)y * pitch_B + x * 4;
            p[0] = (uint8_t)(x * 255 / size);
            p[1] = (uint8_t)(y * 255 / size);
            p[2] = (uint8_t)(frame * 16);
            p[3] = 255;
        }
    }
}

static uint32_t stripe_colour(uint32_t stripe, uint32_t frame)
{
    return 0xff000000u | (stripe * 31 & 255) << 16 | (255 - stripe * 13 % 256) << 8 |
           (frame * 40 & 255);
}

// Draws a gradient, then copies its lower left quarter over the upper right one: from the array to
// itself, through device memory.
static void fill_texture(struct filler *filler, CUarray array, uint32_t frame)
{
    uint32_t size = filler->size, half = size / 2;
    uint8_t *host = malloc((size_t)size * size * 4);
    CUdeviceptr quarter;
    if (!host)
        exit(1);
    gradient(host, size, frame, size * 4);
    CU(cuMemAlloc(&quarter, (size_t)half * half * 4));
    CUDA_MEMCPY2D whole = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = host,
                           .srcPitch = (size_t)size * 4,
                           .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                           .dstArray = array,
                           .WidthInBytes = (size_t)size * 4,
                           .Height = size};
    CUDA_MEMCPY2D out = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                         .srcArray = array,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = quarter,
                         .dstPitch = (size_t)half * 4,
                         .WidthInBytes = (size_t)half * 4,
                         .Height = half};
    CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                        .srcDevice = quarter,
                        .srcPitch = (size_t)half * 4,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = array,
                        .dstXInBytes = (size_t)half * 4,
                        .dstY = half,
                        .WidthInBytes = (size_t)half * 4,
                        .Height = half};
    CU(cuMemcpy2DAsync(&whole, filler->stream));
    CU(cuMemcpy2DAsync(&out, filler->stream));
    CU(cuMemcpy2DAsync(&in, filler->stream));
    CU(cuStreamSynchronize(filler->stream));
    CU(cuMemFree(quarter));
    free(host);
}

// Draws stripes of eight rows.
static void fill_pixels(struct filler *filler, CUdeviceptr pixels, uint32_t frame)
{
    uint32_t size = filler->size;
    for (uint32_t y = 0; y < size; y += 8) {
        uint32_t rows = size - y < 8 ? size - y : 8;
        CU(cuMemsetD2D32Async(pixels + (size_t)y * size * 4, (size_t)size * 4,
                              stripe_colour(y / 8, frame), size, rows, filler->stream));
    }
}

void filler_fill(struct filler *filler, uint32_t frame)
{
    CUgraphicsResource both[] = {filler->texture, filler->pixels};
    CUarray array;
    CUdeviceptr pixels;
    size_t bytes;
    CU(cuGraphicsMapResources(2, both, filler->stream));
    CU(cuGraphicsSubResourceGetMappedArray(&array, filler->texture, 0, 0));
    CU(cuGraphicsResourceGetMappedPointer(&pixels, &bytes, filler->pixels));
    if (bytes < (size_t)filler->size * filler->size * 4) {
        fprintf(stderr, "the pixel buffer has only %zu bytes\n", bytes);
        exit(1);
    }
    fill_texture(filler, array, frame);
    fill_pixels(filler, pixels, frame);
    // The OpenGL commands that follow run after all of this, without other synchronisation.
    CU(cuGraphicsUnmapResources(2, both, filler->stream));
}

void filler_close(struct filler *filler)
{
    CU(cuGraphicsUnregisterResource(filler->texture));
    CU(cuGraphicsUnregisterResource(filler->pixels));
    CU(cuStreamDestroy(filler->stream));
    CU(cuDevicePrimaryCtxRelease(filler->device));
}

void filler_expected(uint32_t size, uint32_t frame, uint8_t *pixels)
{
    uint32_t half = size / 2, pitch_B = size * 8;
    gradient(pixels, size, frame, pitch_B);
    for (uint32_t y = 0; y < half; y++)
        memcpy(pixels + (size_t)(y + half) * pitch_B + half * 4, pixels + (size_t)y * pitch_B,
               (size_t)half * 4);
    for (uint32_t y = 0; y < size; y++) {
        uint32_t colour = stripe_colour(y / 8, frame);
        for (uint32_t x = 0; x < size; x++)
            memcpy(pixels + (size_t)y * pitch_B + (size_t)(size + x) * 4, &colour, 4);
    }
}
