// SPDX-License-Identifier: MIT
// Frames of an EGL stream for scaling.c. Each frame has passed the consumer and waits until the
// producer takes it back.
#include <cardless.h>
#include <string.h>
#include <sys/mman.h>

#include "../api/egl_stream.h"
#undef MUST
#include "calls.h"
#include "scaling.h"

enum { PLANE_B = 64, MOST = SCALING_MOST + SCALING_BATCH };

static CUeglStreamConnection consumer, producer;
static CUstream stream;
static CUeglFrame any_frame;
static void *returned[MOST]; // planes of the frames that can be presented, the last one first
static int returned_count;

static void frame_start(int count)
{
    void *egl_stream;
    size_t size_B = (size_t)MOST * PLANE_B;
    char *planes = mmap(NULL, size_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (planes == MAP_FAILED)
        must(CUDA_ERROR_OUT_OF_MEMORY, "mmap");
    MUST(cuMemHostRegister(planes, size_B, 0));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cardlessStreamCreate(&egl_stream, 0));
    MUST(cuEGLStreamConsumerConnect(&consumer, egl_stream));
    MUST(cuEGLStreamProducerConnect(&producer, egl_stream, 4, 4));
    any_frame = (CUeglFrame){.width = 4,
                             .height = 4,
                             .depth = 1,
                             .pitch = 16,
                             .plane_count = 1,
                             .channels = 4,
                             .type = TYPE_PITCH,
                             .color = COLOR_ARGB,
                             .format = CU_AD_FORMAT_UNSIGNED_INT8};
    for (int i = 0; i < MOST; i++)
        returned[i] = planes + (size_t)i * PLANE_B;
    returned_count = MOST;
    (void)count;
}

static CUresult frame_create(int i)
{
    CUgraphicsResource resource;
    CUeglFrame f = any_frame;
    f.plane[0] = returned[--returned_count];
    scaling_handle[i] = (uintptr_t)f.plane[0];
    CUresult r = cuEGLStreamProducerPresentFrame(&producer, f, &stream);
    if (!r)
        r = cuEGLStreamConsumerAcquireFrame(&consumer, &resource, &stream, SOON_US);
    return r ? r : cuEGLStreamConsumerReleaseFrame(&consumer, resource, &stream);
}

// The driver must find out that the frame is in the stream already.
static CUresult frame_present_again(int i)
{
    CUeglFrame f = any_frame;
    f.plane[0] = (void *)(uintptr_t)scaling_handle[i];
    CUresult r = cuEGLStreamProducerPresentFrame(&producer, f, &stream);
    return r == CUDA_ERROR_UNKNOWN ? CUDA_SUCCESS : CUDA_ERROR_ASSERT;
}

// Takes the oldest frame back, whatever the index.
static CUresult frame_destroy(int i)
{
    CUeglFrame f;
    CUresult r = cuEGLStreamProducerReturnFrame(&producer, &f, &stream);
    (void)i;
    if (!r)
        returned[returned_count++] = f.plane[0];
    return r;
}

const struct scaling_kind scaling_egl[] = {
    {"EGL frame (use: present it again)", frame_start, frame_create, frame_present_again, NULL,
     frame_destroy, 1},
    {0},
};
