// SPDX-License-Identifier: MIT
// CUDA fills a texture and a pixel buffer of OpenGL, and OpenGL draws them, frame by frame. Every
// pixel is checked.
//
//   gl_one_thread [picture.png]
#include <stdio.h>
#include <stdlib.h>

#include "filler.h"
#include "png_file.h"
#include "window.h"

enum { SIZE = 256, FRAMES = 8 };

int main(int argc, char **argv)
{
    const char *png = argc > 1 ? argv[1] : "gl_cuda.png";
    struct window window;
    struct painter painter;
    struct filler filler;
    window_open(&window, NULL);
    painter_open(&painter, SIZE);
    GLuint left = texture_create(SIZE), right = texture_create(SIZE),
           pixels = pixel_buffer_create(SIZE);
    filler_open(&filler, left, pixels, SIZE);

    uint8_t *drawn = malloc(SIZE * SIZE * 8), *expected = malloc(SIZE * SIZE * 8);
    if (!drawn || !expected)
        return 1;
    uint64_t wrong = 0;
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        filler_fill(&filler, frame);
        texture_unpack(right, pixels, SIZE);
        painter_draw(&painter, left, right, drawn);
        filler_expected(SIZE, frame, expected);
        wrong += pixels_differ(drawn, expected, 2 * SIZE, SIZE);
    }
    if (png_write(png, drawn, 2 * SIZE, SIZE))
        wrong++;

    filler_close(&filler);
    painter_close(&painter);
    window_close(&window);
    free(expected);
    free(drawn);
    printf("gl_one_thread: %s; the last of %d frames is in %s\n",
           wrong ? "WRONG PIXELS" : "all pixels are right", FRAMES, png);
    return wrong != 0;
}
