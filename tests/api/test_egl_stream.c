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

static void present(struct pair *p, const CUeglFrame *f, CUresult want)
{
    EXPECT_ERROR(cuEGLStreamProducerPresentFrame(&p->producer, *f, &p->in), want);
}

// Acquires a frame, whose first byte is `want`, and shows it.
static CUgraphicsResource acquire(struct pair *p, int want, CUeglFrame *got)
{
    CUgraphicsResource r = NULL;
    MUST(cuEGLStreamConsumerAcquireFrame(&p->consumer, &r, &p->out, SOON_US));
    MUST(cuGraphicsResourceGetMappedEglFrame(got, r, 0, 0));
    EXPECT_EQ(first_byte(got, p->out), want);
    return r;
}

static void release(struct pair *p, CUgraphicsResource r)
{
    EXPECT_OK(cuEGLStreamConsumerReleaseFrame(&p->consumer, r, &p->out));
}

// The frame in `memory` comes back; NULL: none does.
static void comes_back(struct pair *p, const CUdeviceptr *memory)
{
    CUeglFrame got;
    memset(&got, 0, sizeof got);
    EXPECT_ERROR(cuEGLStreamProducerReturnFrame(&p->producer, &got, &p->in), memory ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_TIMEOUT);
    if (memory)
        EXPECT_EQ((CUdeviceptr)(uintptr_t)got.plane[0], *memory);
}

// Three frames, filled with 10, 11 and 12.
static void three(CUeglFrame f[3], CUdeviceptr memory[3])
{
    for (int i = 0; i < 3; i++) {
        f[i] = frame(&memory[i]);
        MUST(cuMemsetD8(memory[i], (unsigned char)(10 + i), FRAME_B));
    }
}

TEST(there_and_back)
{
    test_context();
    struct pair p = pair(0);
    CUdeviceptr memory[3];
    CUeglFrame f[3], got;
    three(f, memory);
    for (int i = 0; i < 6; i++) {
        CUdeviceptr now = memory[i % 2], before = memory[(i + 1) % 2];
        EXPECT_OK(cuMemsetD8Async(now, (unsigned char)(i + 1), FRAME_B, p.in));
        present(&p, &f[i % 2], CUDA_SUCCESS);
        comes_back(&p, i ? &before : NULL); // when there is a newer one
        CUgraphicsResource r = acquire(&p, i + 1, &got);
        present(&p, &f[i % 2], CUDA_ERROR_UNKNOWN); // it is in the stream
        release(&p, r);
        EXPECT_ERROR(cuEGLStreamConsumerReleaseFrame(&p.consumer, r, &p.out), CUDA_ERROR_UNKNOWN);
        comes_back(&p, NULL);
        EXPECT(acquire(&p, i + 1, &got) == r); // the last frame, again
        release(&p, r);
    }
    EXPECT_OK(cuEGLStreamProducerDisconnect(&p.producer));
    EXPECT_OK(cuEGLStreamConsumerDisconnect(&p.consumer));
    EXPECT_OK(cardlessStreamDestroy(p.stream));
}

// The consumer has the producer's bytes at an address of its own, as far as its connection and this frame reach.
TEST(view_of_memory)
{
    enum { INSIDE_B = 768 };
    test_context();
    struct pair p = pair(0);
    CUdeviceptr memory, base;
    size_t size;
    CUeglFrame f = frame(&memory), got;
    CUgraphicsResource r, again;
    EXPECT_OK(cuMemsetD8(memory, 5, FRAME_B));
    present(&p, &f, CUDA_SUCCESS);
    r = acquire(&p, 5, &got);
    CUdeviceptr view = (CUdeviceptr)(uintptr_t)got.plane[0];
    EXPECT(view != memory);
    EXPECT_EQ(got.depth, 0);
    EXPECT_EQ(got.pitch, f.pitch);
    EXPECT_OK(cuMemGetAddressRange(&base, &size, view));
    EXPECT_EQ(base, view);
    EXPECT_EQ(size, FRAME_B);
    EXPECT_OK(cuMemsetD8(memory, 6, 1)); // both see what either writes
    EXPECT_EQ(first_byte(&got, NULL), 6);
    EXPECT_OK(cuMemsetD8(view, 7, 1));
    EXPECT_EQ(first_byte(&f, NULL), 7);
    EXPECT_ERROR(cuMemFree(view), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsMapResources(1, &r, NULL), CUDA_ERROR_UNKNOWN);
    EXPECT_ERROR(cuGraphicsResourceGetMappedPointer(&base, &size, r), CUDA_ERROR_UNKNOWN);
    CUarray a;
    EXPECT_ERROR(cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0), CUDA_ERROR_NOT_MAPPED_AS_ARRAY);
    EXPECT_OK(cuGraphicsResourceSetMapFlags(r, CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY));
    EXPECT_ERROR(cuGraphicsResourceGetMappedEglFrame(NULL, r, 0, 0), CUDA_ERROR_INVALID_VALUE);
    release(&p, r);
    EXPECT_OK(cuMemcpyDtoD(memory, view, 16)); // it stays until the consumer disconnects

    // A frame inside of its memory is as large as its rows, and must lie there.
    CUdeviceptr large;
    MUST(cuMemAlloc(&large, FRAME_B + INSIDE_B));
    f.plane[0] = (void *)(uintptr_t)(large + INSIDE_B);
    f.pitch = 0;
    EXPECT_OK(cuMemsetD8(large, 8, FRAME_B + INSIDE_B));
    present(&p, &f, CUDA_SUCCESS);
    again = acquire(&p, 8, &got);
    EXPECT(again != r);
    EXPECT_EQ(got.pitch, WIDTH * 4); // as the format has it
    EXPECT_OK(cuMemGetAddressRange(&base, &size, (CUdeviceptr)(uintptr_t)got.plane[0]));
    EXPECT_EQ(size, FRAME_B);
    release(&p, again);
    f.plane[0] = (void *)(uintptr_t)(large + INSIDE_B + 1);
    present(&p, &f, CUDA_SUCCESS);
    EXPECT_ERROR(cuEGLStreamConsumerAcquireFrame(&p.consumer, &again, &p.out, SOON_US), CUDA_ERROR_INVALID_VALUE);

    EXPECT_OK(cuMemFree(memory)); // the view keeps the bytes
    EXPECT_EQ(first_byte(&(CUeglFrame){.plane = {(void *)(uintptr_t)view}}, NULL), 7);
    EXPECT_OK(cuEGLStreamConsumerDisconnect(&p.consumer));
    EXPECT_ERROR(cuMemsetD8(view, 1, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsResourceGetMappedEglFrame(&got, r, 0, 0), CUDA_ERROR_INVALID_HANDLE);
}

static CUarray array(size_t width, size_t height, unsigned channels)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = width, .Height = height, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = channels};
    CUarray a;
    MUST(cuArray3DCreate(&a, &d));
    return a;
}

static CUeglFrame array_frame(CUarray a)
{
    CUeglFrame f = {.plane = {a}, .width = WIDTH, .height = HEIGHT, .plane_count = 1, .channels = 4};
    f.type = TYPE_ARRAY;
    f.color = COLOR_ARGB;
    f.format = CU_AD_FORMAT_UNSIGNED_INT8;
    return f;
}

TEST(view_of_arrays)
{
    test_context();
    struct pair p = pair(0);
    CUarray a = array(WIDTH, HEIGHT, 4), view;
    CUeglFrame f = array_frame(a), got;
    CUgraphicsResource r, again;
    CUDA_ARRAY3D_DESCRIPTOR d;
    unsigned char bytes[WIDTH * 4], back[WIDTH * 4];
    CUdeviceptr pointer;
    size_t size;
    present(&p, &f, CUDA_SUCCESS);
    MUST(cuEGLStreamConsumerAcquireFrame(&p.consumer, &r, &p.out, SOON_US));
    EXPECT_OK(cuGraphicsResourceGetMappedEglFrame(&got, r, 0, 0));
    EXPECT_EQ(got.pitch, WIDTH * 4);
    view = got.plane[0];
    EXPECT(view != a);
    EXPECT_OK(cuArray3DGetDescriptor(&d, view));
    EXPECT_EQ(d.Width, WIDTH);
    EXPECT_EQ(d.NumChannels, 4);
    memset(bytes, 44, sizeof bytes);
    EXPECT_OK(cuMemcpyHtoA(a, 0, bytes, sizeof bytes));
    EXPECT_OK(cuMemcpyAtoH(back, view, 0, sizeof back));
    EXPECT_EQ(back[sizeof back - 1], 44);
    EXPECT_OK(cuArrayDestroy(view)); // it is the stream's
    EXPECT_OK(cuMemcpyAtoH(back, view, 0, sizeof back));
    EXPECT_ERROR(cuGraphicsSubResourceGetMappedArray(&view, r, 0, 0), CUDA_ERROR_UNKNOWN);
    EXPECT_ERROR(cuGraphicsResourceGetMappedPointer(&pointer, &size, r), CUDA_ERROR_NOT_MAPPED_AS_POINTER);
    release(&p, r);
    MUST(cuEGLStreamConsumerAcquireFrame(&p.consumer, &again, &p.out, SOON_US));
    EXPECT(again == r);
    EXPECT_OK(cuGraphicsResourceGetMappedEglFrame(&got, r, 0, 0));
    EXPECT(got.plane[0] == view);
    f = array_frame(array(WIDTH, HEIGHT / 2, 4)); // not as large as it says
    present(&p, &f, CUDA_ERROR_INVALID_VALUE);
    f = array_frame(array(WIDTH, HEIGHT, 1));
    present(&p, &f, CUDA_SUCCESS);
    EXPECT_OK(cuEGLStreamConsumerDisconnect(&p.consumer));
    EXPECT_ERROR(cuArray3DGetDescriptor(&d, view), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuMemcpyAtoH(back, a, 0, sizeof back));
}

// The consumer's work comes after the producer's, and what the producer does next comes after the consumer's.
TEST(order)
{
    test_context();
    struct pair p = pair(0);
    CUdeviceptr memory[3];
    CUeglFrame f[3];
    CUgraphicsResource r;
    static unsigned char back[FRAME_B];
    three(f, memory);
    volatile unsigned *producer = test_hold(p.in);
    EXPECT_OK(cuMemsetD8Async(memory[0], 7, FRAME_B, p.in));
    present(&p, &f[0], CUDA_SUCCESS);
    EXPECT_OK(cuEGLStreamConsumerAcquireFrame(&p.consumer, &r, &p.out, SOON_US)); // there at once, ready later
    EXPECT_ERROR(cuStreamQuery(p.out), CUDA_ERROR_NOT_READY);
    volatile unsigned *consumer = test_hold(p.out);
    CUdeviceptr copy;
    EXPECT_OK(cuMemAlloc(&copy, FRAME_B));
    EXPECT_OK(cuMemcpyDtoDAsync(copy, memory[0], FRAME_B, p.out));
    release(&p, r);
    present(&p, &f[1], CUDA_SUCCESS);
    comes_back(&p, &memory[0]);
    EXPECT_OK(cuMemsetD8Async(memory[0], 8, FRAME_B, p.in));
    *producer = 1;
    EXPECT_ERROR(cuStreamQuery(p.in), CUDA_ERROR_NOT_READY); // the consumer still has it
    *consumer = 1;
    EXPECT_OK(cuStreamSynchronize(p.in));
    EXPECT_OK(cuMemcpyDtoH(back, copy, FRAME_B));
    EXPECT_EQ(back[FRAME_B - 1], 7);
    EXPECT_EQ(first_byte(&f[0], p.in), 8);
}

// What waits in the consumer's stream when it disconnects keeps what it works on.
TEST(disconnected_while_it_waits)
{
    test_context();
    struct pair p = pair(0);
    CUdeviceptr memory, copy;
    CUeglFrame f = frame(&memory), got;
    unsigned char byte;
    EXPECT_OK(cuMemAlloc(&copy, FRAME_B));
    EXPECT_OK(cuMemsetD8(memory, 7, FRAME_B));
    present(&p, &f, CUDA_SUCCESS);
    CUgraphicsResource r = acquire(&p, 7, &got);
    volatile unsigned *go_on = test_hold(p.out);
    EXPECT_OK(cuMemcpyDtoDAsync(copy, (CUdeviceptr)(uintptr_t)got.plane[0], FRAME_B, p.out));
    release(&p, r);
    EXPECT_OK(cuEGLStreamConsumerDisconnect(&p.consumer));
    *go_on = 1;
    EXPECT_OK(cuStreamSynchronize(p.out));
    EXPECT_OK(cuMemcpyDtoH(&byte, copy, 1));
    EXPECT_EQ(byte, 7);
}

TEST(mailbox)
{
    test_context();
    CUeglFrame f[3], got;
    CUdeviceptr memory[3];
    struct pair p = pair(0);
    three(f, memory);
    present(&p, &f[0], CUDA_SUCCESS);
    CUgraphicsResource r = acquire(&p, 10, &got), none;
    EXPECT_ERROR(cuEGLStreamConsumerAcquireFrame(&p.consumer, &none, &p.out, SOON_US), CUDA_ERROR_LAUNCH_TIMEOUT); // it holds the only one
    present(&p, &f[1], CUDA_SUCCESS);
    comes_back(&p, NULL);
    present(&p, &f[2], CUDA_SUCCESS);
    comes_back(&p, &memory[1]); // nobody has seen it
    release(&p, r);
    comes_back(&p, &memory[0]);
    release(&p, acquire(&p, 12, &got));
    comes_back(&p, NULL);
}

static void *present_last(void *arg)
{
    struct pair *p = arg;
    CUdeviceptr memory;
    test_context();
    CUeglFrame f = frame(&memory);
    present(p, &f, CUDA_SUCCESS);
    return NULL;
}

TEST(queue)
{
    test_context();
    CUeglFrame f[3], got;
    CUdeviceptr memory[3];
    struct pair p = pair(2);
    pthread_t t;
    three(f, memory);
    present(&p, &f[0], CUDA_SUCCESS);
    present(&p, &f[1], CUDA_SUCCESS);
    EXPECT_EQ(pthread_create(&t, NULL, present_last, &p), 0); // waits until there is room
    usleep(2000);
    comes_back(&p, NULL);
    CUgraphicsResource r = acquire(&p, 10, &got), second;
    pthread_join(t, NULL);
    second = acquire(&p, 11, &got); // holds both
    EXPECT(second != r);
    release(&p, r);
    comes_back(&p, &memory[0]);
    release(&p, second); // there is a newer one
    comes_back(&p, &memory[1]);
    comes_back(&p, NULL);
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
    EXPECT_EQ(first_byte(&got, NULL), 33);
    EXPECT_OK(cuEGLStreamConsumerReleaseFrame(&consumer, r, &none));
    EXPECT(cuEGLStreamConsumerAcquireFrame(&consumer, &r, &none, 0xffffffff) != CUDA_SUCCESS); // and nobody waits for ever
    EXPECT_OK(cuEGLStreamConsumerDisconnect(&consumer));
}

// The other way: a consumer whose context ends while it holds a frame.
TEST(context_of_the_consumer)
{
    CUcontext there, here = test_context();
    struct pair p;
    CUdeviceptr memory;
    CUeglFrame got;
    EXPECT_OK(cuCtxCreate(&there, NULL, 0, 0));
    p = pair(0);
    EXPECT_OK(cuCtxSetCurrent(here));
    CUeglFrame f = frame(&memory), g = array_frame(array(WIDTH, HEIGHT, 4));
    EXPECT_OK(cuCtxSetCurrent(there));
    present(&p, &f, CUDA_SUCCESS);
    acquire(&p, 0, &got);
    present(&p, &g, CUDA_SUCCESS);
    CUgraphicsResource r;
    EXPECT_OK(cuEGLStreamConsumerAcquireFrame(&p.consumer, &r, &p.out, SOON_US));
    EXPECT_OK(cuCtxDestroy(there));
    EXPECT_OK(cuCtxSetCurrent(here));
    EXPECT_ERROR(cuEGLStreamConsumerDisconnect(&p.consumer), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(first_byte(&f, NULL), 0);
}

static void *present_later(void *arg)
{
    struct pair *p = arg;
    usleep(20000);
    return present_last(p);
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

// Either side's going loses what is in the stream.
TEST(disconnected)
{
    test_context();
    CUeglFrame f[3], got;
    CUdeviceptr memory[3];
    CUgraphicsResource r;
    three(f, memory);
    struct pair p = pair(2);
    present(&p, &f[0], CUDA_SUCCESS);
    present(&p, &f[1], CUDA_SUCCESS);
    r = acquire(&p, 10, &got);
    EXPECT_OK(cuEGLStreamProducerDisconnect(&p.producer));
    EXPECT_ERROR(cuEGLStreamProducerDisconnect(&p.producer), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(first_byte(&got, p.out), 10);
    release(&p, r);
    EXPECT_ERROR(cuEGLStreamConsumerAcquireFrame(&p.consumer, &r, &p.out, SOON_US), CUDA_ERROR_UNKNOWN);
    EXPECT_ERROR(cuEGLStreamProducerConnect(&p.producer, p.stream, WIDTH, HEIGHT), CUDA_ERROR_UNKNOWN);
    EXPECT_OK(cuEGLStreamConsumerDisconnect(&p.consumer));
    p = pair(0);
    present(&p, &f[0], CUDA_SUCCESS);
    EXPECT_OK(cuEGLStreamConsumerDisconnect(&p.consumer));
    present(&p, &f[1], CUDA_ERROR_UNKNOWN);
    EXPECT_ERROR(cuEGLStreamProducerReturnFrame(&p.producer, &got, &p.in), CUDA_ERROR_UNKNOWN);
    EXPECT_OK(cuEGLStreamProducerDisconnect(&p.producer));
}

TEST(refused)
{
    test_context();
    CUeglStreamConnection c = NULL, bogus = (CUeglStreamConnection)(uintptr_t)0x12340;
    CUgraphicsResource r = NULL;
    CUstream s = NULL;
    void *stream;
    EXPECT_ERROR(cuEGLStreamConsumerConnect(&c, NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuEGLStreamConsumerConnect(NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuEGLStreamConsumerConnect(&c, (void *)0x12340), CUDA_ERROR_UNKNOWN);
    EXPECT_OK(cardlessStreamCreate(&stream, 0));
    EXPECT_ERROR(cuEGLStreamConsumerConnect(NULL, stream), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuEGLStreamProducerConnect(&c, stream, WIDTH, HEIGHT), CUDA_ERROR_UNKNOWN); // no consumer yet
    EXPECT(c == NULL);
    EXPECT_ERROR(cuEGLStreamConsumerConnectWithFlags(&c, stream, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuEGLStreamConsumerDisconnect(&c), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuEGLStreamConsumerConnect(&c, stream));
    EXPECT_OK(cuEGLStreamProducerConnect(&bogus, stream, -1, 0)); // the extents do not matter
    EXPECT_OK(cardlessStreamDestroy(stream));
    EXPECT_ERROR(cardlessStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuEGLStreamProducerDisconnect(&bogus));
    EXPECT_OK(cuEGLStreamConsumerDisconnect(&c));
    bogus = (CUeglStreamConnection)(uintptr_t)0x12340;
    EXPECT_ERROR(cuEGLStreamConsumerAcquireFrame(&bogus, &r, &s, 0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuEGLStreamConsumerDisconnect(&bogus), CUDA_ERROR_INVALID_HANDLE);
    struct pair p = pair(0), other = pair(0);
    EXPECT_ERROR(cuEGLStreamConsumerConnect(&c, p.stream), CUDA_ERROR_UNKNOWN); // it has one
    EXPECT_ERROR(cuEGLStreamConsumerAcquireFrame(&p.producer, &r, &s, 0), CUDA_ERROR_UNKNOWN);
    EXPECT_ERROR(cuEGLStreamConsumerDisconnect(&p.producer), CUDA_ERROR_UNKNOWN);
    EXPECT_ERROR(cuEGLStreamProducerDisconnect(&p.consumer), CUDA_ERROR_INVALID_VALUE);
    CUdeviceptr memory;
    CUeglFrame f = frame(&memory), got;
    present(&p, &f, CUDA_SUCCESS);
    r = acquire(&p, 0, &got);
    EXPECT_ERROR(cuEGLStreamConsumerReleaseFrame(&other.consumer, r, &s), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuEGLStreamConsumerReleaseFrame(&p.consumer, NULL, &s), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuGraphicsUnregisterResource(r)); // ends with the connection
    release(&p, r);
}

TEST(refused_as_on_the_card)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    test_context();
    CUeglStreamConnection c = NULL, early = NULL, late = NULL;
    void *stream;
    MUST(cardlessStreamCreate(&stream, 0));
    EXPECT_ERROR(cuEGLStreamProducerConnect(&early, stream, WIDTH, HEIGHT), CUDA_ERROR_UNKNOWN);
    EXPECT(early != NULL);
    EXPECT_OK(cuEGLStreamConsumerConnect(&c, stream));
    EXPECT_ERROR(cuEGLStreamProducerConnect(&late, stream, WIDTH, HEIGHT), CUDA_ERROR_UNKNOWN); // recorded
    EXPECT_OK(cuEGLStreamProducerDisconnect(&early));
    EXPECT_OK(cuEGLStreamConsumerDisconnect(&c));
}

TEST(frames_refused)
{
    test_context();
    struct pair p = pair(0);
    CUdeviceptr memory, pooled;
    CUeglFrame f = frame(&memory), bad;
    MUST(cuMemAllocAsync(&pooled, FRAME_B, NULL));
#define REFUSED(code, ...) bad = f, __VA_ARGS__, present(&p, &bad, code)
    REFUSED(CUDA_ERROR_INVALID_HANDLE, bad.plane[0] = NULL);
    REFUSED(CUDA_ERROR_INVALID_HANDLE, bad.plane[0] = (void *)0x1230000);
    REFUSED(CUDA_ERROR_INVALID_HANDLE, bad.plane[0] = (void *)(uintptr_t)pooled);
    REFUSED(CUDA_ERROR_INVALID_VALUE, bad.plane_count = 0);
    REFUSED(CUDA_ERROR_INVALID_VALUE, bad.plane_count = 3);
    REFUSED(CUDA_ERROR_INVALID_VALUE, bad.plane_count = ~0u);
    REFUSED(CUDA_ERROR_INVALID_VALUE, bad.channels = 3);
    REFUSED(CUDA_ERROR_INVALID_VALUE, bad.type = 9);
    REFUSED(CUDA_ERROR_INVALID_VALUE, bad.type = TYPE_ARRAY);
    REFUSED(CUDA_ERROR_INVALID_VALUE, bad.color = 0x75);
    REFUSED(CUDA_ERROR_INVALID_VALUE, bad.color = 0); // YUV420, three planes
    REFUSED(CUDA_ERROR_UNKNOWN, bad.format = CU_AD_FORMAT_FLOAT);
    REFUSED(CUDA_ERROR_UNKNOWN, bad.format = 99);
    REFUSED(CUDA_ERROR_INVALID_HANDLE, bad.color = 0, bad.plane_count = 3, bad.channels = 1);
#undef REFUSED
    // Extents, pitch and depth may be any.
    static const unsigned shapes[][4] = {{0, 0, 1, 0}, {16, HEIGHT, 2, 256}, {WIDTH, ~0u, 0, ~0u}, {1u << 30, 1u << 30, 1, 16}};
    for (unsigned i = 0; i < 4; i++) {
        f = frame(&memory);
        f.width = shapes[i][0], f.height = shapes[i][1], f.depth = shapes[i][2], f.pitch = shapes[i][3];
        present(&p, &f, CUDA_SUCCESS);
        CUgraphicsResource r;
        EXPECT_OK(cuEGLStreamConsumerAcquireFrame(&p.consumer, &r, &p.out, SOON_US));
        release(&p, r);
    }
    f = frame(&memory), f.color = 0, f.plane_count = 3, f.channels = 1;
    f.plane[1] = f.plane[2] = (void *)(uintptr_t)(memory + FRAME_B / 2);
    present(&p, &f, CUDA_SUCCESS);
    acquire(&p, 0, &bad);
    EXPECT(bad.plane[1] != f.plane[1] && bad.plane[2] != NULL);
}

TESTS(CASE(there_and_back), CASE(view_of_memory), CASE(view_of_arrays), CASE(order), CASE(disconnected_while_it_waits), CASE(mailbox), CASE(queue),
      CASE(two_contexts), CASE(context_of_the_consumer), CASE(waits_for_another_thread), CASE(disconnected), CASE(refused),
      CASE(refused_as_on_the_card), CASE(frames_refused))
