// SPDX-License-Identifier: MIT
// docs/learn, lesson 4: computes the place of a texel in a block-linear image, and compares it with
// the bytes.
//
//   lesson_4 [wrong]     wrong: puts an image at the end of the memory as if it were linear
#include "learn.h"

enum { SIZE = 2 << 20, WIDTH = 64, HEIGHT = 40, TEXEL_B = 4, GOB_B = 512, BLOCK_GOBS = 4 };

// [gob]
// The place of a byte in its GOB of 64 bytes by 8 rows, in pieces of 16 bytes of a row.
static unsigned in_gob(unsigned x_B, unsigned y)
{
    return x_B % 16 + y % 2 * 16 + y / 2 % 2 * 32 + x_B / 16 % 2 * 64 + y / 4 * 128 +
           x_B / 32 * 256;
}
// [end]

// [place]
// GOBs are stacked into blocks, here of 1 x 4, and blocks follow each other from left to right.
static unsigned place(unsigned x, unsigned y)
{
    const unsigned x_B = x * TEXEL_B, across = WIDTH * TEXEL_B / 64;
    const unsigned gob_x = x_B / 64, gob_y = y / 8;
    const unsigned block = gob_y / BLOCK_GOBS * across + gob_x;
    return (block * BLOCK_GOBS + gob_y % BLOCK_GOBS) * GOB_B + in_gob(x_B % 64, y % 8);
}
// [end]

static CUresult map_image(CUmipmappedArray *mipmap, CUexternalMemory memory, size_t offset)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC image = {0};
    image.offset = offset;
    image.arrayDesc.Width = WIDTH;
    image.arrayDesc.Height = HEIGHT;
    image.arrayDesc.Format = CU_AD_FORMAT_UNSIGNED_INT32;
    image.arrayDesc.NumChannels = 1;
    image.numLevels = 1;
    return cuExternalMemoryGetMappedMipmappedArray(mipmap, memory, &image);
}

int main(int argc, char **argv)
{
    static unsigned texels[HEIGHT][WIDTH], words[SIZE / TEXEL_B];
    CUmipmappedArray mipmap;
    learn_start();
    CUexternalMemory memory = learn_import(learn_export(SIZE), SIZE);

    // [wrong]
    if (learn_wrong(argc, argv)) {
        const size_t linear = WIDTH * HEIGHT * TEXEL_B; // 10240, but the GOBs need more
        if (map_image(&mipmap, memory, SIZE - linear))
            printf("an image of %zu bytes does not fit\n", linear);
        CU(cuDestroyExternalMemory(memory));
        return 0;
    }
    // [end]
    CU(map_image(&mipmap, memory, 0));

    // [fill]
    CUDA_MEMCPY2D copy = {0};
    for (unsigned y = 0; y < HEIGHT; y++)
        for (unsigned x = 0; x < WIDTH; x++)
            texels[y][x] = 1000 * y + x;
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = texels;
    copy.srcPitch = sizeof texels[0];
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    CU(cuMipmappedArrayGetLevel(&copy.dstArray, mipmap, 0));
    copy.WidthInBytes = sizeof texels[0];
    copy.Height = HEIGHT;
    CU(cuMemcpy2D(&copy));
    // [end]

    // [compare]
    CUdeviceptr whole = learn_map(memory, 0, SIZE);
    unsigned wrong = 0;
    CU(cuCtxSynchronize());
    CU(cuMemcpyDtoH(words, whole, SIZE));
    for (unsigned y = 0; y < HEIGHT; y++)
        for (unsigned x = 0; x < WIDTH; x++)
            wrong += words[place(x, y) / TEXEL_B] != texels[y][x];
    printf("texel (0,1) is at byte %u, (16,0) at %u, (0,8) at %u\n", place(0, 1), place(16, 0),
           place(0, 8));
    printf("%u of %d texels are elsewhere\n", wrong, WIDTH * HEIGHT);
    // [end]
    CU(cuMemFree(whole));
    CU(cuMipmappedArrayDestroy(mipmap));
    CU(cuDestroyExternalMemory(memory));
    return wrong != 0;
}
