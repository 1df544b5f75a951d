// SPDX-License-Identifier: MIT
// Vulkan draws into an exportable mip-mapped image, CUDA maps it, changes it and an exported
// buffer, and Vulkan reads both back.
//
//   one_process [picture.png]
#include <stdio.h>
#include <stdlib.h>

#include "gpu.h"
#include "interop.h"
#include "picture.h"

enum { WIDTH = 512, HEIGHT = 256, LAYERS = 2, LEVELS = 10 };

int main(int argc, char **argv)
{
    const char *png = argc > 1 ? argv[1] : "vulkan_cuda.png";
    uint8_t uuid[16];
    CUdevice device = interop_open(uuid);
    struct gpu gpu;
    gpu_open(&gpu, uuid);

    uint64_t chain_B = picture_chain_B(WIDTH, HEIGHT, LEVELS);
    struct gpu_image image;
    struct gpu_buffer shared, host;
    gpu_image_create(&gpu, &image, VK_FORMAT_R8G8B8A8_UINT, WIDTH, HEIGHT, LAYERS, LEVELS);
    gpu_buffer_create(&gpu, &shared, chain_B, 1);
    gpu_buffer_create(&gpu, &host, chain_B, 0);
    uint8_t *drawn = malloc(chain_B), *expected = malloc(chain_B);
    if (!drawn || !expected)
        return 1;
    picture_drawn(drawn, WIDTH, HEIGHT, LEVELS);
    picture_expected(expected, drawn, WIDTH, HEIGHT, LEVELS);

    gpu_draw(&gpu, &image);
    struct interop in;
    struct interop_offer offer = {.image_size_B = image.memory.size_B,
                                  .buffer_size_B = shared.memory.size_B,
                                  .buffer_B = chain_B,
                                  .width = WIDTH,
                                  .height = HEIGHT,
                                  .layers = LAYERS,
                                  .levels = LEVELS};
    interop_import(&in, &offer, gpu_memory_fd(&gpu, &image.memory),
                   gpu_memory_fd(&gpu, &shared.memory));
    interop_work(&in);

    uint64_t wrong = 0;
    gpu_read_layer(&gpu, &image, 0, &host);
    wrong += picture_compare("layer 0, drawn by Vulkan", host.mapped, drawn, WIDTH, HEIGHT, LEVELS);
    gpu_read_layer(&gpu, &image, 1, &host);
    wrong += picture_compare("layer 1, made by CUDA", host.mapped, expected, WIDTH, HEIGHT, LEVELS);
    gpu_read_buffer(&gpu, &shared, &host);
    wrong +=
        picture_compare("buffer, filled by CUDA", host.mapped, expected, WIDTH, HEIGHT, LEVELS);
    if (picture_write_png(png, drawn, host.mapped, WIDTH, HEIGHT, LEVELS))
        wrong++;

    interop_drop(&in);
    gpu_buffer_destroy(&gpu, &host);
    gpu_buffer_destroy(&gpu, &shared);
    gpu_image_destroy(&gpu, &image);
    gpu_close(&gpu);
    interop_close(device);
    free(expected);
    free(drawn);
    printf("one_process: %s; picture in %s\n", wrong ? "WRONG PIXELS" : "all pixels are right",
           png);
    return wrong != 0;
}
