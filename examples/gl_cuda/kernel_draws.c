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

// Draws picture `frame` into each texture. OpenGL sees it when this returns.
static void draw(const struct julia *julia, CUgraphicsResource *resources, uint32_t frame,
                 CUstream stream)
{
    CU(cuGraphicsMapResources(COUNT, resources, stream));
    for (uint32_t i = 0; i < COUNT; i++) {
        CUarray array;
        CU(cuGraphicsSubResourceGetMappedArray(&array, resources[i], 0, 0));
        julia_draw(julia, array, frame + i, stream);
    }
    CU(cuGraphicsUnmapResources(COUNT, resources, stream));
}

// Compares a square of an image of COUNT squares side by side.
static uint64_t square_differs(const uint8_t *image, uint32_t square, uint32_t frame)
{
    uint8_t *want = malloc(SIZE * SIZE * 4);
    uint64_t wrong = 0;
    if (!want)
        return 1;
    julia_expected(want, SIZE, SIZE, frame);
    for (uint32_t y = 0; y < SIZE; y++)
        wrong += pixels_differ(image + ((size_t)y * COUNT + square) * SIZE * 4,
                               want + (size_t)y * SIZE * 4, SIZE, 1);
    free(want);
    return wrong;
}

int main(int argc, char **argv)
{
    const char *png = argc > 1 ? argv[1] : "gl_kernel_draws.png";
    struct window window;
    struct painter painter;
    window_open(&window, NULL);
    painter_open(&painter, SIZE);

    unsigned count = 0;
    CUdevice device;
    CUcontext context;
    CUstream stream;
    CU(cuInit(0));
    CU(cuGLGetDevices(&count, &device, 1, CU_GL_DEVICE_LIST_ALL));
    CU(cuDevicePrimaryCtxRetain(&context, device));
    CU(cuCtxSetCurrent(context));
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    struct julia julia;
    julia_open(&julia);

    GLuint textures[COUNT];
    CUgraphicsResource resources[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        textures[i] = texture_create(SIZE);
        CU(cuGraphicsGLRegisterImage(&resources[i], textures[i], GL_TEXTURE_2D,
                                     CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST));
    }
    uint8_t *image = malloc(SIZE * SIZE * 4 * COUNT);
    if (!image)
        return 1;
    uint64_t wrong = 0;
    for (uint32_t frame = 0; frame < 4; frame += COUNT) {
        draw(&julia, resources, frame, stream);
        painter_draw(&painter, textures[0], textures[1], image);
        for (uint32_t i = 0; i < COUNT; i++)
            wrong += square_differs(image, i, frame + i);
    }
    if (png_write(png, image, SIZE * COUNT, SIZE))
        wrong++;

    for (uint32_t i = 0; i < COUNT; i++)
        CU(cuGraphicsUnregisterResource(resources[i]));
    julia_close(&julia);
    CU(cuStreamDestroy(stream));
    CU(cuDevicePrimaryCtxRelease(device));
    painter_close(&painter);
    window_close(&window);
    free(image);
    printf("gl_kernel_draws: %s; picture in %s\n", wrong ? "WRONG PIXELS" : "all pixels are right",
           png);
    return wrong != 0;
}
