// SPDX-License-Identifier: MIT
// EGL streams for tests, created with cardless.h.
#pragma once
#include <cardless.h>

#include "../egl_functions.h"
#include "../harness.h"

enum { TYPE_ARRAY, TYPE_PITCH, COLOR_ARGB = 6 };
enum { WIDTH = 64, HEIGHT = 32, FRAME_B = WIDTH * HEIGHT * 4, SOON_US = 1000 };

// A stream with both ends connected.
struct pair {
    void *stream;
    CUeglStreamConnection consumer, producer;
    CUstream in, out;
};

static inline struct pair pair(unsigned fifo)
{
    struct pair p;
    MUST(cardlessStreamCreate(&p.stream, fifo));
    MUST(cuEGLStreamConsumerConnect(&p.consumer, p.stream));
    MUST(cuEGLStreamProducerConnect(&p.producer, p.stream, WIDTH, HEIGHT));
    MUST(cuStreamCreate(&p.in, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&p.out, CU_STREAM_NON_BLOCKING));
    return p;
}

static inline CUeglFrame frame(CUdeviceptr *memory)
{
    CUeglFrame f;
    memset(&f, 0, sizeof f);
    MUST(cuMemAlloc(memory, FRAME_B));
    f.plane[0] = (void *)(uintptr_t)*memory;
    f.width = WIDTH;
    f.height = HEIGHT;
    f.depth = 1;
    f.pitch = WIDTH * 4;
    f.plane_count = 1;
    f.channels = 4;
    f.type = TYPE_PITCH;
    f.color = COLOR_ARGB;
    f.format = CU_AD_FORMAT_UNSIGNED_INT8;
    return f;
}

static inline unsigned char first_byte(const CUeglFrame *f, CUstream s)
{
    unsigned char byte = 0;
    MUST(cuMemcpyDtoHAsync(&byte, (CUdeviceptr)(uintptr_t)f->plane[0], 1, s));
    MUST(cuStreamSynchronize(s));
    return byte;
}

static inline void present(struct pair *p, const CUeglFrame *f, CUresult want)
{
    EXPECT_ERROR(cuEGLStreamProducerPresentFrame(&p->producer, *f, &p->in), want);
}

// Acquires a frame, returns it in `got`, and expects its first byte to be `want`.
static inline CUgraphicsResource acquire(struct pair *p, int want, CUeglFrame *got)
{
    CUgraphicsResource r = NULL;
    MUST(cuEGLStreamConsumerAcquireFrame(&p->consumer, &r, &p->out, SOON_US));
    MUST(cuGraphicsResourceGetMappedEglFrame(got, r, 0, 0));
    EXPECT_EQ(first_byte(got, p->out), want);
    return r;
}

static inline void release(struct pair *p, CUgraphicsResource r)
{
    EXPECT_OK(cuEGLStreamConsumerReleaseFrame(&p->consumer, r, &p->out));
}

// Expects that the frame in `memory` is returned to the producer, or no frame if it is NULL.
static inline void comes_back(struct pair *p, const CUdeviceptr *memory)
{
    CUeglFrame got;
    memset(&got, 0, sizeof got);
    EXPECT_ERROR(cuEGLStreamProducerReturnFrame(&p->producer, &got, &p->in),
                 memory ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_TIMEOUT);
    if (memory)
        EXPECT_EQ((CUdeviceptr)(uintptr_t)got.plane[0], *memory);
}

// Creates three frames, filled with 10, 11 and 12.
static inline void three(CUeglFrame f[3], CUdeviceptr memory[3])
{
    for (int i = 0; i < 3; i++) {
        f[i] = frame(&memory[i]);
        MUST(cuMemsetD8(memory[i], (unsigned char)(10 + i), FRAME_B));
    }
}

static inline CUarray array(size_t width, size_t height, unsigned channels)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = width,
                                 .Height = height,
                                 .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                 .NumChannels = channels};
    CUarray a;
    MUST(cuArray3DCreate(&a, &d));
    return a;
}

static inline CUeglFrame array_frame(CUarray a)
{
    CUeglFrame f = {
        .plane = {a}, .width = WIDTH, .height = HEIGHT, .plane_count = 1, .channels = 4};
    f.type = TYPE_ARRAY;
    f.color = COLOR_ARGB;
    f.format = CU_AD_FORMAT_UNSIGNED_INT8;
    return f;
}
