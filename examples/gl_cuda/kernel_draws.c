// SPDX-License-Identifier: MIT
// A kernel in PTX draws into two textures of OpenGL through surface objects, and OpenGL draws the
// textures. Every pixel is checked, and must be equal on every device.
//
//   gl_kernel_draws [picture.png]
#include <cuda.h>
#include <cudaGL.h>
#include <stdio.h>
#include <stdlib.h>

#include "julia.h"
#include "png_file.h"
#include "window.h"

#define CU(call) julia_check((call), #call, __FILE__, __LINE__)

enum { SIZE = 256, COUNT = 2 };

struct drawing {
    struct window window;
    struct painter painter;
    struct julia julia;
    CUdevice device;
    CUstream stream;
    GLuint textures[COUNT];
    CUgraphicsResource resources[COUNT];
    uint8_t *image; // COUNT squares side by side, RGBA
};

static uint8_t *allocate(size_t size_B)
{
    uint8_t *p = malloc(size_B);
    if (!p) {
        fprintf(stderr, "gl_kernel_draws: out of host memory for %zu bytes\n", size_B);
        exit(1);
    }
    return p;
}

static void drawing_open(struct drawing *d)
{
    unsigned count = 0;
    CUcontext context;
    window_open(&d->window, NULL);
    painter_open(&d->painter, SIZE);
    CU(cuInit(0));
    CU(cuGLGetDevices(&count, &d->device, 1, CU_GL_DEVICE_LIST_ALL));
    CU(cuDevicePrimaryCtxRetain(&context, d->device));
    CU(cuCtxSetCurrent(context));
    CU(cuStreamCreate(&d->stream, CU_STREAM_NON_BLOCKING));
    julia_open(&d->julia);
    for (uint32_t i = 0; i < COUNT; i++) {
        d->textures[i] = texture_create(SIZE);
        CU(cuGraphicsGLRegisterImage(&d->resources[i], d->textures[i], GL_TEXTURE_2D,
                                     CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST));
    }
    d->image = allocate(SIZE * SIZE * 4 * COUNT);
}

// Draws picture `frame` into the first texture and the next one into the second, and lets OpenGL
// draw both into the image. OpenGL sees the pictures after cuGraphicsUnmapResources.
static void draw(struct drawing *d, uint32_t frame)
{
    CU(cuGraphicsMapResources(COUNT, d->resources, d->stream));
    for (uint32_t i = 0; i < COUNT; i++) {
        CUarray array;
        CU(cuGraphicsSubResourceGetMappedArray(&array, d->resources[i], 0, 0));
        julia_draw(&d->julia, array, frame + i, d->stream);
    }
    CU(cuGraphicsUnmapResources(COUNT, d->resources, d->stream));
    painter_draw(&d->painter, d->textures[0], d->textures[1], d->image);
}

// Returns how many pixels of the image are wrong.
static uint64_t check(const struct drawing *d, uint32_t frame)
{
    uint8_t *want = allocate(SIZE * SIZE * 4);
    uint64_t wrong = 0;
    for (uint32_t square = 0; square < COUNT; square++) {
        julia_expected(want, SIZE, SIZE, frame + square);
        for (uint32_t y = 0; y < SIZE; y++)
            wrong += pixels_differ(d->image + ((size_t)y * COUNT + square) * SIZE * 4,
                                   want + (size_t)y * SIZE * 4, SIZE, 1);
    }
    free(want);
    return wrong;
}

static void drawing_close(struct drawing *d)
{
    free(d->image);
    for (uint32_t i = 0; i < COUNT; i++)
        CU(cuGraphicsUnregisterResource(d->resources[i]));
    glDeleteTextures(COUNT, d->textures);
    julia_close(&d->julia);
    CU(cuStreamDestroy(d->stream));
    CU(cuDevicePrimaryCtxRelease(d->device));
    painter_close(&d->painter);
    window_close(&d->window);
}

int main(int argc, char **argv)
{
    const char *png = argc > 1 ? argv[1] : "gl_kernel_draws.png";
    struct drawing drawing;
    uint64_t wrong = 0;
    drawing_open(&drawing);
    for (uint32_t frame = 0; frame < 4; frame += COUNT) {
        draw(&drawing, frame);
        wrong += check(&drawing, frame);
    }
    if (png_write(png, drawing.image, SIZE * COUNT, SIZE))
        wrong++;
    drawing_close(&drawing);
    printf("gl_kernel_draws: %s; picture in %s\n", wrong ? "WRONG PIXELS" : "all pixels are right",
           png);
    return wrong != 0;
}
