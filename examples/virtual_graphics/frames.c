// SPDX-License-Identifier: MIT
// The life of a graphics resource, frame by frame, without a graphics API: a "renderer" draws into
// a texture, CUDA changes it, and the renderer shows it.
//
//   frames            without mistakes
//   frames MISTAKE    with a common mistake: keep-array, draw-mapped, forget-unmap or resize
//
// The renderer is the virtual graphics API of cardless.h. A real driver does not have it; the
// program then says so and ends.
#include <cardless.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 64, HEIGHT = 48, FRAMES = 3 };

static void check(CUresult r, const char *what)
{
    const char *name = "an unknown error";
    if (!r)
        return;
    cuGetErrorName(r, &name);
    fprintf(stderr, "%s: %s\n", what, name);
    exit(1);
}
#define CHECK(call) check((call), #call)

// CUDA's part of a frame: a bright bar, further to the right in each frame.
static void draw_bar(CUarray picture, int frame, CUstream stream)
{
    static unsigned char bar[8 * HEIGHT * 4];
    CUDA_MEMCPY2D c;
    memset(bar, 255, sizeof bar);
    memset(&c, 0, sizeof c);
    c.srcMemoryType = CU_MEMORYTYPE_HOST;
    c.srcHost = bar;
    c.srcPitch = 8 * 4;
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    c.dstArray = picture;
    c.dstXInBytes = (size_t)(8 + 16 * frame) * 4;
    c.WidthInBytes = 8 * 4;
    c.Height = HEIGHT;
    CHECK(cuMemcpy2DAsync(&c, stream));
}

// The renderer's part at the end of a frame: shows one row of the picture as letters.
static void show(cardlessTexture picture, int frame)
{
    static unsigned char texels[WIDTH * 4];
    cardlessBox row = {0, HEIGHT / 2, 0, WIDTH, 1, 1};
    CHECK(cardlessReadTexture(picture, 0, &row, texels));
    printf("frame %d: ", frame);
    for (int x = 0; x < WIDTH; x += 2)
        putchar(texels[4 * x] == 255 ? '#' : texels[4 * x] ? '-' : '.');
    putchar('\n');
}

int main(int argc, char **argv)
{
    const char *mistake = argc > 1 ? argv[1] : "";
    const unsigned char grey[] = {90, 90, 90, 255};
    cardlessTextureDesc desc = {CARDLESS_TEXTURE_2D,        WIDTH, HEIGHT, 0, 0, 1,
                                CU_AD_FORMAT_UNSIGNED_INT8, 4};
    CUcontext context;
    CUstream stream;
    cardlessTexture picture;
    CUgraphicsResource resource;
    CUarray array = NULL;
    if (!CARDLESS_LOOKUP(cardlessTextureCreate)) {
        printf("this libcuda has no virtual graphics API\n");
        return 77;
    }
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));

    // Once: create the picture and register it.
    CHECK(cardlessTextureCreate(&picture, &desc));
    CHECK(cardlessRegisterTexture(&resource, picture, CU_GRAPHICS_REGISTER_FLAGS_NONE));

    for (int frame = 0; frame < FRAMES; frame++) {
        // The renderer begins: its command waits in a list, and runs before CUDA gets the picture.
        CHECK(cardlessFillTexture(picture, 0, NULL, grey));

        // Map, get the array, use it in the same stream, unmap.
        if (frame == 0 || strcmp(mistake, "forget-unmap"))
            CHECK(cuGraphicsMapResources(1, &resource, stream));
        else
            fprintf(stderr, "(the resource is still mapped)\n");
        // If the resource is mapped again, it may get another array.
        if (frame == 0 || strcmp(mistake, "keep-array"))
            CHECK(cuGraphicsSubResourceGetMappedArray(&array, resource, 0, 0));
        draw_bar(array, frame, stream);
        if (!strcmp(mistake, "draw-mapped"))
            CHECK(cardlessFillTexture(picture, 0, NULL, grey));
        if (strcmp(mistake, "forget-unmap"))
            CHECK(cuGraphicsUnmapResources(1, &resource, stream));

        // The renderer continues: its read waits for CUDA's stream, without a cuStreamSynchronize.
        show(picture, frame);
        if (!strcmp(mistake, "resize"))
            CHECK(cardlessTextureResize(picture, &desc));
    }

    // At the end, in this order.
    CHECK(cuGraphicsUnregisterResource(resource));
    CHECK(cardlessTextureDestroy(picture));
    return 0;
}
