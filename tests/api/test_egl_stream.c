// SPDX-License-Identifier: MIT
// EGL streams from one part of a process to another, through streams that cardless.h makes. The EGL half of cuda's headers is not needed: the
// functions are declared here.
#include <cardless.h>
#include <pthread.h>

#include "../harness.h"

typedef struct CUeglStreamConnection_st *CUeglStreamConnection;
typedef struct {
    void *plane[3];
    unsigned width, height, depth, pitch, plane_count, channels, type, color, format;
} CUeglFrame;
enum { TYPE_ARRAY, TYPE_PITCH, COLOR_ARGB = 6 };
CUresult cuEGLStreamConsumerConnect(CUeglStreamConnection *, void *);
CUresult cuEGLStreamConsumerConnectWithFlags(CUeglStreamConnection *, void *, unsigned);
CUresult cuEGLStreamConsumerDisconnect(CUeglStreamConnection *);
CUresult cuEGLStreamConsumerAcquireFrame(CUeglStreamConnection *, CUgraphicsResource *, CUstream *, unsigned);
CUresult cuEGLStreamConsumerReleaseFrame(CUeglStreamConnection *, CUgraphicsResource, CUstream *);
CUresult cuEGLStreamProducerConnect(CUeglStreamConnection *, void *, int, int);
CUresult cuEGLStreamProducerDisconnect(CUeglStreamConnection *);
CUresult cuEGLStreamProducerPresentFrame(CUeglStreamConnection *, CUeglFrame, CUstream *);
CUresult cuEGLStreamProducerReturnFrame(CUeglStreamConnection *, CUeglFrame *, CUstream *);
CUresult cuGraphicsResourceGetMappedEglFrame(CUeglFrame *, CUgraphicsResource, unsigned, unsigned);

enum { WIDTH = 64, HEIGHT = 32, FRAME_B = WIDTH * HEIGHT * 4, SOON_US = 1000 };

// A stream with both ends connected.
struct pair {
    void *stream;
    CUeglStreamConnection consumer, producer;
    CUstream in, out;
};

static struct pair pair(unsigned fifo)
{
    struct pair p;
    MUST(cardlessStreamCreate(&p.stream, fifo));
    MUST(cuEGLStreamConsumerConnect(&p.consumer, p.stream));
    MUST(cuEGLStreamProducerConnect(&p.producer, p.stream, WIDTH, HEIGHT));
    MUST(cuStreamCreate(&p.in, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&p.out, CU_STREAM_NON_BLOCKING));
    return p;
}

static CUeglFrame frame(CUdeviceptr *memory)
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

static unsigned char first_byte(const CUeglFrame *f, CUstream s)
{
    unsigned char byte = 0;
    MUST(cuMemcpyDtoHAsync(&byte, (CUdeviceptr)(uintptr_t)f->plane[0], 1, s));
    MUST(cuStreamSynchronize(s));
    return byte;
}

TEST(there_and_back)
{
    test_context();
    struct pair p = pair(0);
    CUdeviceptr memory;
    CUeglFrame f = frame(&memory), got;
    CUgraphicsResource r;
    for (int i = 0; i < 5; i++) {
        EXPECT_OK(cuMemsetD8Async(memory, (unsigned char)(i + 1), FRAME_B, p.in));
        EXPECT_OK(cuEGLStreamProducerPresentFrame(&p.producer, f, &p.in));
        EXPECT_OK(cuEGLStreamConsumerAcquireFrame(&p.consumer, &r, &p.out, SOON_US));
        EXPECT_OK(cuGraphicsResourceGetMappedEglFrame(&got, r, 0, 0));
        EXPECT(!memcmp(&got, &f, sizeof f));
        EXPECT_EQ(first_byte(&got, p.out), i + 1);
        EXPECT_ERROR(cuEGLStreamProducerReturnFrame(&p.producer, &got, &p.in), CUDA_ERROR_LAUNCH_TIMEOUT);
        EXPECT_OK(cuEGLStreamConsumerReleaseFrame(&p.consumer, r, &p.out));
        EXPECT_ERROR(cuEGLStreamConsumerReleaseFrame(&p.consumer, r, &p.out), CUDA_ERROR_INVALID_HANDLE);
        memset(&got, 0, sizeof got);
        EXPECT_OK(cuEGLStreamProducerReturnFrame(&p.producer, &got, &p.in));
        EXPECT(got.plane[0] == f.plane[0]);
    }
    EXPECT_ERROR(cuEGLStreamConsumerAcquireFrame(&p.consumer, &r, &p.out, SOON_US), CUDA_ERROR_LAUNCH_TIMEOUT);
    EXPECT_OK(cuEGLStreamProducerDisconnect(&p.producer));
    EXPECT_OK(cuEGLStreamConsumerDisconnect(&p.consumer));
    EXPECT_OK(cardlessStreamDestroy(p.stream));
}

// The consumer's work comes after the producer's, and what the producer does next comes after the consumer's.
TEST(order)
{
    test_context();
    struct pair p = pair(0);
    CUdeviceptr memory;
    CUeglFrame f = frame(&memory), got;
    CUgraphicsResource r;
    static unsigned char back[FRAME_B];
    volatile unsigned *producer = test_hold(p.in);
    EXPECT_OK(cuMemsetD8Async(memory, 7, FRAME_B, p.in));
    EXPECT_OK(cuEGLStreamProducerPresentFrame(&p.producer, f, &p.in));
    EXPECT_OK(cuEGLStreamConsumerAcquireFrame(&p.consumer, &r, &p.out, SOON_US)); // there at once, ready later
    EXPECT_ERROR(cuStreamQuery(p.out), CUDA_ERROR_NOT_READY);
    volatile unsigned *consumer = test_hold(p.out);
    CUdeviceptr copy;
    EXPECT_OK(cuMemAlloc(&copy, FRAME_B));
    EXPECT_OK(cuMemcpyDtoDAsync(copy, memory, FRAME_B, p.out));
    EXPECT_OK(cuEGLStreamConsumerReleaseFrame(&p.consumer, r, &p.out));
    EXPECT_OK(cuEGLStreamProducerReturnFrame(&p.producer, &got, &p.in));
    EXPECT_OK(cuMemsetD8Async(memory, 8, FRAME_B, p.in));
    *producer = 1;
    EXPECT_ERROR(cuStreamQuery(p.in), CUDA_ERROR_NOT_READY); // the consumer still has it
    *consumer = 1;
    EXPECT_OK(cuStreamSynchronize(p.in));
    EXPECT_OK(cuMemcpyDtoH(back, copy, FRAME_B));
    EXPECT_EQ(back[FRAME_B - 1], 7);
    EXPECT_EQ(first_byte(&f, p.in), 8);
}

TEST(mailbox_and_queue)
{
    test_context();
    CUeglFrame got, f[3];
    CUdeviceptr memory[3];
    CUgraphicsResource r;
    for (unsigned fifo = 0; fifo < 3; fifo += 2) {
        struct pair p = pair(fifo);
        for (unsigned i = 0; i < 3; i++) {
            f[i] = frame(&memory[i]);
            EXPECT_OK(cuMemsetD8(memory[i], (unsigned char)(10 + i), FRAME_B));
            EXPECT_ERROR(cuEGLStreamProducerPresentFrame(&p.producer, f[i], &p.in), fifo && i == 2 ? CUDA_ERROR_LAUNCH_TIMEOUT : CUDA_SUCCESS);
        }
        EXPECT_OK(cuEGLStreamConsumerAcquireFrame(&p.consumer, &r, &p.out, SOON_US));
        EXPECT_OK(cuGraphicsResourceGetMappedEglFrame(&got, r, 0, 0));
        EXPECT_EQ(first_byte(&got, p.out), fifo ? 10 : 12); // a mailbox keeps the last one
        if (!fifo) {
            EXPECT_OK(cuEGLStreamProducerReturnFrame(&p.producer, &got, &p.in)); // the others came back unseen
            EXPECT(got.plane[0] == f[0].plane[0]);
        }
    }
}

TEST(two_contexts)
{
    CUcontext there, here = test_context();
    CUeglStreamConnection consumer, producer;
    CUdeviceptr memory;
    CUeglFrame got;
    CUgraphicsResource r;
    CUstream none = NULL;
    void *stream;
    EXPECT_OK(cardlessStreamCreate(&stream, 0));
    EXPECT_OK(cuEGLStreamConsumerConnect(&consumer, stream));
    EXPECT_OK(cuCtxCreate(&there, NULL, 0, 0));
    EXPECT_OK(cuEGLStreamProducerConnect(&producer, stream, WIDTH, HEIGHT));
    CUeglFrame f = frame(&memory);
    EXPECT_OK(cuMemsetD8(memory, 33, FRAME_B));
    EXPECT_OK(cuEGLStreamProducerPresentFrame(&producer, f, &none));
    EXPECT_OK(cuCtxSetCurrent(here));
    EXPECT_OK(cuEGLStreamConsumerAcquireFrame(&consumer, &r, &none, SOON_US));
    EXPECT_OK(cuGraphicsResourceGetMappedEglFrame(&got, r, 0, 0));
    EXPECT_EQ(first_byte(&got, NULL), 33);
    EXPECT_OK(cuCtxDestroy(there)); // the producer's connection ends with it
    EXPECT_OK(cuEGLStreamConsumerReleaseFrame(&consumer, r, &none));
    EXPECT(cuEGLStreamConsumerAcquireFrame(&consumer, &r, &none, 0xffffffff) != CUDA_SUCCESS); // and nobody waits for ever
    EXPECT_OK(cuEGLStreamConsumerDisconnect(&consumer));
}

static void *present_later(void *arg)
{
    struct pair *p = arg;
    CUdeviceptr memory;
    test_context();
    CUeglFrame f = frame(&memory);
    usleep(20000);
    EXPECT_OK(cuEGLStreamProducerPresentFrame(&p->producer, f, &p->in));
    return NULL;
}

TEST(waits_for_another_thread)
{
    test_context();
    struct pair p = pair(0);
    CUgraphicsResource r;
    pthread_t t;
    EXPECT_EQ(pthread_create(&t, NULL, present_later, &p), 0);
    EXPECT_OK(cuEGLStreamConsumerAcquireFrame(&p.consumer, &r, &p.out, 0xffffffff));
    pthread_join(t, NULL);
}

TEST(refused)
{
    test_context();
    CUeglStreamConnection c = NULL, bogus = (CUeglStreamConnection)(uintptr_t)0x12340;
    CUgraphicsResource r = NULL;
    CUstream s = NULL;
    void *stream;
    EXPECT_ERROR(cuEGLStreamConsumerConnect(&c, NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuEGLStreamConsumerConnect(&c, (void *)0x12340), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cardlessStreamCreate(&stream, 0));
    EXPECT(cuEGLStreamProducerConnect(&c, stream, WIDTH, HEIGHT) != CUDA_SUCCESS); // no consumer yet
    EXPECT(cuEGLStreamConsumerConnectWithFlags(&c, stream, 2) != CUDA_SUCCESS);
    EXPECT_ERROR(cuEGLStreamConsumerAcquireFrame(&bogus, &r, &s, 0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuEGLStreamConsumerDisconnect(&bogus), CUDA_ERROR_INVALID_HANDLE);
    struct pair p = pair(0);
    EXPECT(cuEGLStreamConsumerConnect(&c, p.stream) != CUDA_SUCCESS); // it has one
    EXPECT_ERROR(cuEGLStreamConsumerAcquireFrame(&p.producer, &r, &s, 0), CUDA_ERROR_INVALID_HANDLE);
    CUdeviceptr memory;
    CUeglFrame f = frame(&memory), bad;
    bad = f, bad.plane[0] = NULL;
    EXPECT(cuEGLStreamProducerPresentFrame(&p.producer, bad, &s) != CUDA_SUCCESS);
    bad = f, bad.plane_count = 4;
    EXPECT(cuEGLStreamProducerPresentFrame(&p.producer, bad, &s) != CUDA_SUCCESS);
    bad = f, bad.height = ~0u;
    EXPECT(cuEGLStreamProducerPresentFrame(&p.producer, bad, &s) != CUDA_SUCCESS);
    bad = f, bad.type = TYPE_ARRAY;
    EXPECT(cuEGLStreamProducerPresentFrame(&p.producer, bad, &s) != CUDA_SUCCESS);
    EXPECT_OK(cuEGLStreamProducerPresentFrame(&p.producer, f, &s));
    EXPECT_OK(cuEGLStreamConsumerDisconnect(&p.consumer));
    EXPECT_OK(cuEGLStreamProducerReturnFrame(&p.producer, &bad, &s)); // it comes back
    EXPECT(cuEGLStreamProducerPresentFrame(&p.producer, f, &s) != CUDA_SUCCESS);
    EXPECT_OK(cardlessStreamDestroy(p.stream));
    EXPECT_ERROR(cardlessStreamDestroy(p.stream), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuEGLStreamProducerDisconnect(&p.producer));
}

TESTS(CASE(there_and_back), CASE(order), CASE(mailbox_and_queue), CASE(two_contexts), CASE(waits_for_another_thread), CASE(refused))
