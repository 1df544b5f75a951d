// SPDX-License-Identifier: MIT
// docs/learn, lesson 9: a kernel writes into a Vulkan image, and Vulkan reads it.
//
//   lesson_9 [wrong]     wrong: maps the image without CUDA_ARRAY3D_SURFACE_LDST
#include "gpu.h"
#include "learn.h"

enum { SIDE = 64 };

// [kernel]
// surf2Dwrite(make_uchar4(x, y, 0, 255), image, 4 * x, y) in PTX: each block is a row.
static const char kernel_text[] = ".version 7.8\n"
                                  ".target sm_90\n"
                                  ".address_size 64\n"
                                  ".visible .entry draw(.param .u64 image)\n"
                                  "{\n"
                                  "    .reg .b32 %x, %y, %at;\n"
                                  "    .reg .b16 %c<4>;\n"
                                  "    .reg .b64 %image;\n"
                                  "    ld.param.u64 %image, [image];\n"
                                  "    mov.u32 %x, %tid.x;\n"
                                  "    mov.u32 %y, %ctaid.x;\n"
                                  "    cvt.u16.u32 %c0, %x;\n"
                                  "    cvt.u16.u32 %c1, %y;\n"
                                  "    mov.u16 %c2, 0;\n"
                                  "    mov.u16 %c3, 255;\n"
                                  "    shl.b32 %at, %x, 2;\n"
                                  "    sust.b.2d.v4.b8.trap [%image, {%at, %y}],\n"
                                  "        {%c0, %c1, %c2, %c3};\n"
                                  "    ret;\n"
                                  "}\n";
// [end]

// [map]
static CUmipmappedArray map_image(CUexternalMemory memory, unsigned flags)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC image = {0};
    CUmipmappedArray mipmap;
    image.arrayDesc.Width = SIDE;
    image.arrayDesc.Height = SIDE;
    image.arrayDesc.Format = CU_AD_FORMAT_UNSIGNED_INT8;
    image.arrayDesc.NumChannels = 4;
    image.arrayDesc.Flags = flags;
    image.numLevels = 1;
    CU(cuExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &image));
    return mipmap;
}
// [end]

// [draw]
static void draw(CUmipmappedArray mipmap)
{
    CUDA_RESOURCE_DESC resource = {0};
    CUsurfObject surface;
    CUmodule module;
    CUfunction kernel;
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    CU(cuMipmappedArrayGetLevel(&resource.res.array.hArray, mipmap, 0));
    CU(cuSurfObjectCreate(&surface, &resource));
    CU(cuModuleLoadData(&module, kernel_text));
    CU(cuModuleGetFunction(&kernel, module, "draw"));
    CU(cuLaunchKernel(kernel, SIDE, 1, 1, SIDE, 1, 1, 0, NULL, (void *[]){&surface}, NULL));
    CU(cuCtxSynchronize()); // a semaphore would let Vulkan wait instead of the host
    CU(cuModuleUnload(module));
    CU(cuSurfObjectDestroy(surface));
}
// [end]

int main(int argc, char **argv)
{
    CUuuid uuid;
    struct gpu gpu;
    struct gpu_image image;
    struct gpu_buffer host;
    learn_start();
    CU(cuDeviceGetUuid(&uuid, 0));
    gpu_open(&gpu, (const uint8_t *)uuid.bytes); // the Vulkan device with the same UUID

    // [share]
    gpu_image_create(&gpu, &image, VK_FORMAT_R8G8B8A8_UINT, SIDE, SIDE, 1, 1);
    gpu_give(&gpu, &image); // to the external queue family
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC import = {0};
    CUexternalMemory memory;
    import.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    import.handle.fd = gpu_memory_fd(&gpu, &image.memory); // vkGetMemoryFdKHR
    import.size = image.memory.size_B;
    import.flags = CUDA_EXTERNAL_MEMORY_DEDICATED; // the memory is for this image alone
    CU(cuImportExternalMemory(&memory, &import));
    // [end]
    CUmipmappedArray mipmap =
        map_image(memory, learn_wrong(argc, argv) ? 0 : CUDA_ARRAY3D_SURFACE_LDST);
    draw(mipmap);

    // [read]
    gpu_buffer_create(&gpu, &host, SIDE * SIDE * 4, 0);
    gpu_read_layer(&gpu, &image, 0, &host); // vkCmdCopyImageToBuffer
    const uint8_t *texels = host.mapped, *texel = texels + (SIDE * 20 + 10) * 4;
    unsigned wrong = 0;
    for (unsigned i = 0; i < SIDE * SIDE; i++)
        wrong += texels[4 * i] != i % SIDE || texels[4 * i + 1] != i / SIDE;
    printf("texel (10,20) is %d %d %d %d\n", texel[0], texel[1], texel[2], texel[3]);
    printf("%u texels are wrong\n", wrong);
    // [end]

    CU(cuMipmappedArrayDestroy(mipmap));
    CU(cuDestroyExternalMemory(memory));
    gpu_buffer_destroy(&gpu, &host);
    gpu_image_destroy(&gpu, &image);
    gpu_close(&gpu);
    return wrong != 0;
}
