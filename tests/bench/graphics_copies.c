// SPDX-License-Identifier: MIT
// Copies between OpenGL and the program's memory: by CUDA, and by OpenGL itself in the program's
// own context, in turns.
#include "../gl/context.h"
#undef MUST
#include "calls.h"
#include "graphics_copies.h"

enum { WIDTH = 1920, HEIGHT = 1080, ROW_B = WIDTH * 4, MOST_B = 8 << 20 };

static uint8_t host[MOST_B];
static GLuint texture, buffer;
static CUgraphicsResource resource;
static CUstream stream;
static size_t size_B; // of the buffer

static void texture_to_host(void)
{
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, host);
}

static void texture_from_host(void)
{
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, host);
    glFinish();
}

static void buffer_to_host(void)
{
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)size_B, host);
}

static void buffer_from_host(void)
{
    glBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)size_B, host);
    glFinish();
}

static CUarray map_array(void)
{
    CUarray a;
    MUST(cuGraphicsMapResources(1, &resource, stream));
    MUST(cuGraphicsSubResourceGetMappedArray(&a, resource, 0, 0));
    return a;
}

static CUdeviceptr map_pointer(void)
{
    CUdeviceptr p;
    size_t size;
    MUST(cuGraphicsMapResources(1, &resource, stream));
    MUST(cuGraphicsResourceGetMappedPointer(&p, &size, resource));
    return p;
}

static void unmap(void)
{
    MUST(cuGraphicsUnmapResources(1, &resource, stream));
}

static void cuda_texture_to_host(void)
{
    cu_read_array(map_array(), ROW_B, HEIGHT, host);
    unmap();
}

static void cuda_texture_from_host(void)
{
    cu_write_array(map_array(), 0, 0, ROW_B, HEIGHT, host);
    unmap();
}

static void cuda_buffer_to_host(void)
{
    MUST(cuMemcpyDtoH(host, map_pointer(), size_B));
    unmap();
}

static void cuda_buffer_from_host(void)
{
    MUST(cuMemcpyHtoD(map_pointer(), host, size_B));
    unmap();
}

// The time that a copy takes, and the processor time of all threads of the process.
struct times {
    double wall, processor;
};

static double processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static struct times times_of(void (*act)(void))
{
    enum { TIMES = 4 };
    const double start = now_ns(), processor = processor_ns();
    for (int i = 0; i < TIMES; i++)
        act();
    return (struct times){(now_ns() - start) / TIMES, (processor_ns() - processor) / TIMES};
}

// On a busy machine the processor time is the better measure, because CUDA's copies are made by
// another thread, which others may keep from its core.
static void compare(const char *name, void (*by_hand)(void), void (*by_cuda)(void))
{
    double hand[RUNS], cuda[RUNS], ratio[RUNS], processor_ratio[RUNS];
    by_hand(); // the first call of each makes pages
    by_cuda();
    for (int i = 0; i < RUNS; i++) {
        const struct times h = times_of(by_hand), c = times_of(by_cuda);
        hand[i] = h.wall;
        cuda[i] = c.wall;
        ratio[i] = c.wall / h.wall;
        processor_ratio[i] = c.processor / h.processor;
    }
    printf("%-48s %12.0f %14.0f %10.2f %18.2f\n", name, median(cuda), median(hand), median(ratio),
           median(processor_ratio));
    fflush(stdout);
}

static void textures(void)
{
    texture = gl_texture_2d(GL_RGBA8, 1, WIDTH, HEIGHT);
    MUST(cuGraphicsGLRegisterImage(&resource, texture, GL_TEXTURE_2D, 0));
    compare("texture 1920x1080 RGBA8 -> host", texture_to_host, cuda_texture_to_host);
    compare("texture 1920x1080 RGBA8 <- host", texture_from_host, cuda_texture_from_host);
    MUST(cuGraphicsUnregisterResource(resource));
}

static void buffers(size_t size, const char *to, const char *from)
{
    size_B = size;
    buffer = gl_buffer(size, host);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    MUST(cuGraphicsGLRegisterBuffer(&resource, buffer, 0));
    compare(to, buffer_to_host, cuda_buffer_to_host);
    compare(from, buffer_from_host, cuda_buffer_from_host);
    MUST(cuGraphicsUnregisterResource(resource));
    glDeleteBuffers(1, &buffer);
}

void graphics_copies(CUstream s)
{
    stream = s;
    printf("%-48s %12s %14s %10s %18s\n", "map, copy, unmap", "ours (ns)", "by hand (ns)", "ratio",
           "of processor time");
    textures();
    buffers(1 << 20, "buffer of 1 MiB -> host", "buffer of 1 MiB <- host");
    buffers(MOST_B, "buffer of 8 MiB -> host", "buffer of 8 MiB <- host");
}
