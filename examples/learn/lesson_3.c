// SPDX-License-Identifier: MIT
// docs/learn, lesson 3: an image with mip levels and layers in imported memory.
//
//   lesson_3 [wrong]     wrong: asks for one level more than the image has
#include "learn.h"

enum { SIZE = 2 << 20, SIDE = 64, LAYERS = 2, LEVELS = 4 };

// [map]
static CUmipmappedArray map_image(CUexternalMemory memory)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC image = {0};
    CUmipmappedArray mipmap;
    image.arrayDesc.Width = SIDE;
    image.arrayDesc.Height = SIDE;
    image.arrayDesc.Depth = LAYERS;
    image.arrayDesc.Flags = CUDA_ARRAY3D_LAYERED; // else Depth counts slices of a 3D image
    image.arrayDesc.Format = CU_AD_FORMAT_UNSIGNED_INT8;
    image.arrayDesc.NumChannels = 4;
    image.numLevels = LEVELS;
    CU(cuExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &image));
    return mipmap;
}
// [end]

// [fill]
// Writes a value to all texels of a level, in both layers.
static void fill_level(CUmipmappedArray mipmap, unsigned level, unsigned char value)
{
    static unsigned char texels[SIDE * SIDE * LAYERS * 4];
    const unsigned side = SIDE >> level;
    CUDA_MEMCPY3D copy = {0};
    memset(texels, value, sizeof texels);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = texels;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    CU(cuMipmappedArrayGetLevel(&copy.dstArray, mipmap, level));
    copy.WidthInBytes = side * 4;
    copy.Height = side;
    copy.Depth = LAYERS;
    CU(cuMemcpy3D(&copy));
}
// [end]

int main(int argc, char **argv)
{
    static unsigned char bytes[SIZE];
    learn_start();
    CUexternalMemory memory = learn_import(learn_export(SIZE), SIZE);
    CUmipmappedArray mipmap = map_image(memory);
    CUdeviceptr whole = learn_map(memory, 0, SIZE); // the same bytes, without an image

    // [look]
    for (unsigned level = 0; level < LEVELS; level++)
        fill_level(mipmap, level, (unsigned char)(level + 1));
    CU(cuCtxSynchronize());
    CU(cuMemcpyDtoH(bytes, whole, SIZE));
    for (size_t i = 0; i < SIZE; i++)
        if (bytes[i] && (!i || bytes[i] != bytes[i - 1]))
            printf("level %d begins at byte %zu\n", bytes[i] - 1, i);
    // [end]

    // [wrong]
    if (learn_wrong(argc, argv)) {
        CUarray level;
        if (cuMipmappedArrayGetLevel(&level, mipmap, LEVELS))
            printf("there is no level %d\n", LEVELS);
    }
    // [end]
    CU(cuMemFree(whole));
    CU(cuMipmappedArrayDestroy(mipmap));
    CU(cuDestroyExternalMemory(memory));
    return 0;
}
