// SPDX-License-Identifier: MIT
// The same in two threads whose contexts share objects: one draws, the other fills the next frame
// through CUDA.
//
//   gl_two_threads [picture.png]
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "filler.h"
#include "png_file.h"
#include "window.h"

enum { SIZE = 256, FRAMES = 8, SLOTS = 2 };

// A texture and a pixel buffer. If `full` is set, the painter may draw them; otherwise the filler
// may fill them.
struct slot {
    GLuint texture, pixels;
    GLsync ready;
    int full;
};

static struct slot slots[SLOTS];
static struct window painter_window;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
// Held during OpenGL calls. A card's driver needs no such lock, but Mesa's llvmpipe (22.3) is not
// safe if two contexts of a process are used at the same time.
static pthread_mutex_t graphics = PTHREAD_MUTEX_INITIALIZER;

static void wait_until(struct slot *slot, int full)
{
    pthread_mutex_lock(&mutex);
    while (slot->full != full)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void set(struct slot *slot, int full)
{
    pthread_mutex_lock(&mutex);
    slot->full = full;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void *fill_main(void *arg)
{
    struct window *window = arg;
    struct filler fillers[SLOTS];
    eglBindAPI(EGL_OPENGL_API);
    eglMakeCurrent(window->display, EGL_NO_SURFACE, EGL_NO_SURFACE, window->context);
    for (int i = 0; i < SLOTS; i++)
        filler_open(&fillers[i], slots[i].texture, slots[i].pixels, SIZE);
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        struct slot *slot = &slots[frame % SLOTS];
        wait_until(slot, 0);
        pthread_mutex_lock(&graphics);
        filler_fill(&fillers[frame % SLOTS], frame);
        slot->ready = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        glFinish();
        pthread_mutex_unlock(&graphics);
        set(slot, 1);
    }
    wait_until(&slots[(FRAMES - 1) % SLOTS], 0);
    for (int i = 0; i < SLOTS; i++)
        filler_close(&fillers[i]);
    window_close(window);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *png = argc > 1 ? argv[1] : "gl_cuda_threads.png";
    struct window filler_window;
    struct painter painter;
    pthread_t thread;
    window_open(&painter_window, NULL);
    for (int i = 0; i < SLOTS; i++)
        slots[i] =
            (struct slot){.texture = texture_create(SIZE), .pixels = pixel_buffer_create(SIZE)};
    glFinish(); // before another context uses them
    window_open(&filler_window, &painter_window);
    eglMakeCurrent(painter_window.display, EGL_NO_SURFACE, EGL_NO_SURFACE, painter_window.context);
    painter_open(&painter, SIZE);
    GLuint right = texture_create(SIZE);
    if (pthread_create(&thread, NULL, fill_main, &filler_window))
        return 1;

    uint8_t *drawn = malloc(SIZE * SIZE * 8), *expected = malloc(SIZE * SIZE * 8);
    if (!drawn || !expected)
        return 1;
    uint64_t wrong = 0;
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        struct slot *slot = &slots[frame % SLOTS];
        wait_until(slot, 1);
        pthread_mutex_lock(&graphics);
        glWaitSync(slot->ready, 0, GL_TIMEOUT_IGNORED);
        glDeleteSync(slot->ready);
        texture_unpack(right, slot->pixels, SIZE);
        painter_draw(&painter, slot->texture, right, drawn); // waits until everything is drawn
        pthread_mutex_unlock(&graphics);
        set(slot, 0);
        filler_expected(SIZE, frame, expected);
        wrong += pixels_differ(drawn, expected, 2 * SIZE, SIZE);
    }
    pthread_join(thread, NULL);
    if (png_write(png, drawn, 2 * SIZE, SIZE))
        wrong++;

    painter_close(&painter);
    window_close(&painter_window);
    free(expected);
    free(drawn);
    printf("gl_two_threads: %s; the last of %d frames is in %s\n",
           wrong ? "WRONG PIXELS" : "all pixels are right", FRAMES, png);
    return wrong != 0;
}
