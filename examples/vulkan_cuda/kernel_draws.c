// SPDX-License-Identifier: MIT
// A kernel in PTX draws into a Vulkan image, another one makes the smaller levels of the image, and
// Vulkan samples all of them. Every texel is checked.
//
//   kernel_draws [picture.png]
//
// On every device level 0 is equal to the picture computed on the CPU, a texel of the smaller
// levels differs from it by at most 1, and Vulkan's samples by at most FILTER_MOST.
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "floor.h"
#include "gpu.h"
#include "interop.h"
#include "julia.h"
#include "picture.h"

enum { WIDTH = 512, HEIGHT = 256, LEVELS = 10, SHOWN = 512, FRAME = 1, FILTER_MOST = 6 };

// Maps the image's levels and draws into them.
static void draw(const struct interop *in)
{
    CUstream stream;
    CUarray levels[LEVELS];
    struct julia julia;
    julia_open(&julia);
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (uint32_t i = 0; i < LEVELS; i++)
        CU(cuMipmappedArrayGetLevel(&levels[i], in->image, i));
    julia_draw(&julia, levels[0], FRAME, stream);
    for (uint32_t i = 1; i < LEVELS; i++)
        julia_halve(&julia, levels[i - 1], levels[i], stream);
    CU(cuStreamDestroy(stream));
    julia_close(&julia);
}

// Returns the number of channels that differ by more than `most`, and prints the first of them.
static uint64_t differs(const char *what, const uint8_t *got, const uint8_t *want, uint64_t bytes,
                        int most)
{
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < bytes; i++)
        if (abs(got[i] - want[i]) > most && !wrong++)
            fprintf(stderr, "%s: texel %u, channel %u is %d, expected %d\n", what,
                    (unsigned)(i / 4), (unsigned)(i % 4), got[i], want[i]);
    return wrong;
}

// Compares each level with the one above it as the kernel has made it.
static uint64_t check_chain(const uint8_t *chain, uint8_t *want)
{
    julia_expected(want, WIDTH, HEIGHT, FRAME);
    uint64_t wrong = differs("level 0", chain, want, WIDTH * HEIGHT * 4, 0);
    for (uint32_t level = 1; level < LEVELS; level++) {
        uint32_t w = level_size(WIDTH, level), h = level_size(HEIGHT, level);
        const uint8_t *above = chain + picture_level_offset_B(WIDTH, HEIGHT, level - 1);
        char what[32];
        snprintf(what, sizeof what, "level %u", level);
        julia_expected_half(want, above, level_size(WIDTH, level - 1),
                            level_size(HEIGHT, level - 1));
        wrong += differs(what, chain + picture_level_offset_B(WIDTH, HEIGHT, level), want,
                         (uint64_t)w * h * 4, 1);
    }
    return wrong;
}

static int write_png(const char *path, const uint8_t *picture)
{
    png_image png = {
        .version = PNG_IMAGE_VERSION, .width = SHOWN, .height = SHOWN, .format = PNG_FORMAT_RGBA};
    if (png_image_write_to_file(&png, path, 0, picture, 0, NULL))
        return 0;
    fprintf(stderr, "%s: %s\n", path, png.message);
    return 1;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "kernel_draws.png";
    const uint64_t chain_B = picture_chain_B(WIDTH, HEIGHT, LEVELS), shown_B = SHOWN * SHOWN * 4;
    uint8_t uuid[16];
    CUdevice device = interop_open(uuid);
    struct gpu gpu;
    struct gpu_image image;
    struct gpu_buffer host, shown;
    gpu_open(&gpu, uuid);
    gpu_image_create(&gpu, &image, VK_FORMAT_R8G8B8A8_UNORM, WIDTH, HEIGHT, 1, LEVELS);
    gpu_buffer_create(&gpu, &host, chain_B, 0);
    gpu_buffer_create(&gpu, &shown, shown_B, 0);
    uint8_t *want = malloc(shown_B);
    if (!want)
        return 1;

    struct interop in = {.width = WIDTH, .height = HEIGHT, .levels = LEVELS};
    gpu_give(&gpu, &image);
    interop_import_image(&in, gpu_memory_fd(&gpu, &image.memory), image.memory.size_B);
    draw(&in);

    uint64_t wrong = 0;
    gpu_read_layer(&gpu, &image, 0, &host);
    wrong += check_chain(host.mapped, want);
    floor_show(&gpu, &image, &shown, SHOWN, SHOWN);
    floor_expected(want, SHOWN, SHOWN, host.mapped, &image);
    wrong += differs("sampled by Vulkan", shown.mapped, want, shown_B, FILTER_MOST);
    wrong += (uint64_t)write_png(path, shown.mapped);

    interop_drop_image(&in);
    gpu_buffer_destroy(&gpu, &shown);
    gpu_buffer_destroy(&gpu, &host);
    gpu_image_destroy(&gpu, &image);
    gpu_close(&gpu);
    interop_close(device);
    free(want);
    printf("kernel_draws: %s; picture in %s\n", wrong ? "WRONG PIXELS" : "all pixels are right",
           path);
    return wrong != 0;
}
