// SPDX-License-Identifier: MIT
// EGL streams between two parts of a process: connections, and the order of frames.
#include <pthread.h>
#include <stdatomic.h>

#include "egl_stream.h"

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
        comes_back(&p, i ? &before : NULL); // after a newer one has been presented
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

// The consumer's work should run after the producer's, and the producer's next work after the
// consumer's.
TEST(order)
{
    test_context();
    struct pair p = pair(0);
    CUdeviceptr memory[3];
    CUeglFrame f[3];
    CUgraphicsResource r;
    static unsigned char back[FRAME_B];
    three(f, memory);
    atomic_uint *producer = test_hold(p.in);
    EXPECT_OK(cuMemsetD8Async(memory[0], 7, FRAME_B, p.in));
    present(&p, &f[0], CUDA_SUCCESS);
    EXPECT_OK(cuEGLStreamConsumerAcquireFrame(&p.consumer, &r, &p.out,
                                              SOON_US)); // there at once, ready later
    EXPECT_ERROR(cuStreamQuery(p.out), CUDA_ERROR_NOT_READY);
    atomic_uint *consumer = test_hold(p.out);
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

// If the consumer disconnects, work that waits in its stream should keep its memory.
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
    atomic_uint *go_on = test_hold(p.out);
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
    EXPECT_ERROR(cuEGLStreamConsumerAcquireFrame(&p.consumer, &none, &p.out, SOON_US),
                 CUDA_ERROR_LAUNCH_TIMEOUT); // it holds the only one
    present(&p, &f[1], CUDA_SUCCESS);
    comes_back(&p, NULL);
    present(&p, &f[2], CUDA_SUCCESS);
    comes_back(&p, &memory[1]); // nobody has seen it
    release(&p, r);
    comes_back(&p, &memory[0]);
    release(&p, acquire(&p, 12, &got));
    comes_back(&p, NULL);
}

static atomic_bool presented;

static void *present_last(void *arg)
{
    struct pair *p = arg;
    CUdeviceptr memory;
    test_context();
    CUeglFrame f = frame(&memory);
    present(p, &f, CUDA_SUCCESS);
    presented = true;
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
    EXPECT_EQ(pthread_create(&t, NULL, present_last, &p), 0); // blocks until the queue has space
    usleep(20000);
    EXPECT(!presented);
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

struct inside {
    struct pair *pair;
    CUeglFrame frame;
    CUresult present, acquire;
};

static void wait_inside(void *arg)
{
    struct inside *i = arg;
    CUgraphicsResource r;
    i->present = cuEGLStreamProducerPresentFrame(&i->pair->producer, i->frame, &i->pair->in);
    i->acquire = cuEGLStreamConsumerAcquireFrame(&i->pair->consumer, &r, &i->pair->out, UINT32_MAX);
}

// A host function must not make calls. This one would wait for the other side, which would wait for
// it.
// Two threads present the same frame while the queue is full. Only one of them can succeed.
struct presentation {
    struct pair *pair;
    const CUeglFrame *frame;
    CUresult result;
};

static void *present_it(void *argument)
{
    struct presentation *p = argument;
    test_context();
    p->result = cuEGLStreamProducerPresentFrame(&p->pair->producer, *p->frame, &p->pair->in);
    return NULL;
}

TEST(one_frame_from_two_threads)
{
    test_context();
    CUeglFrame f[3], got;
    CUdeviceptr memory[3];
    pthread_t t[2];
    struct pair p = pair(1);
    three(f, memory);
    present(&p, &f[0], CUDA_SUCCESS);
    struct presentation twice[2] = {{&p, &f[1], CUDA_ERROR_ASSERT}, {&p, &f[1], CUDA_ERROR_ASSERT}};
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(pthread_create(&t[i], NULL, present_it, &twice[i]), 0); // both wait
    usleep(20000);
    CUgraphicsResource first = acquire(&p, 10, &got);
    CUgraphicsResource second = NULL; // there is space again for the other thread
    MUST(cuEGLStreamConsumerAcquireFrame(&p.consumer, &second, &p.out, 10 * 1000 * SOON_US));
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    EXPECT_EQ(twice[0].result + twice[1].result, CUDA_ERROR_UNKNOWN);
    EXPECT(twice[0].result == CUDA_SUCCESS || twice[1].result == CUDA_SUCCESS);
    release(&p, first);
    release(&p, second);
}

TEST(waiting_in_a_host_function)
{
    test_context();
    struct pair full = pair(1), empty = pair(1);
    CUeglFrame f[3];
    CUdeviceptr memory[3];
    three(f, memory);
    present(&full, &f[0], CUDA_SUCCESS);
    struct pair mixed = {
        .producer = full.producer, .consumer = empty.consumer, .in = full.in, .out = empty.out};
    struct inside i = {.pair = &mixed, .frame = f[1]};
    CUstream s;
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    EXPECT_OK(cuLaunchHostFunc(s, wait_inside, &i));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_ERROR(i.present, CUDA_ERROR_NOT_PERMITTED);
    EXPECT_ERROR(i.acquire, CUDA_ERROR_NOT_PERMITTED);
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
    EXPECT(cuEGLStreamConsumerAcquireFrame(&consumer, &r, &none, 0xffffffff) !=
           CUDA_SUCCESS); // and the call does not wait forever
    EXPECT_OK(cuEGLStreamConsumerDisconnect(&consumer));
}

// The opposite case: a consumer whose context ends while it holds a frame.
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

// If either side disconnects, the frames in the stream are lost.
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
    EXPECT_ERROR(cuEGLStreamConsumerAcquireFrame(&p.consumer, &r, &p.out, SOON_US),
                 CUDA_ERROR_UNKNOWN);
    EXPECT_ERROR(cuEGLStreamProducerConnect(&p.producer, p.stream, WIDTH, HEIGHT),
                 CUDA_ERROR_UNKNOWN);
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
    EXPECT_ERROR(cuEGLStreamProducerConnect(&c, stream, WIDTH, HEIGHT),
                 CUDA_ERROR_UNKNOWN); // no consumer yet
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
    EXPECT_ERROR(cuEGLStreamConsumerReleaseFrame(&p.producer, r, &s), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_ERROR(cuEGLStreamProducerPresentFrame(&p.consumer, f, &s), CUDA_ERROR_UNKNOWN);
    EXPECT_ERROR(cuEGLStreamProducerReturnFrame(&p.consumer, &got, &s), CUDA_ERROR_UNKNOWN);
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
    EXPECT_ERROR(cuEGLStreamProducerConnect(&late, stream, WIDTH, HEIGHT),
                 CUDA_ERROR_UNKNOWN); // recorded
    EXPECT_OK(cuEGLStreamProducerDisconnect(&early));
    EXPECT_OK(cuEGLStreamConsumerDisconnect(&c));
    struct pair p = pair(0);
    EXPECT_ERROR(cuEGLStreamProducerDisconnect(&p.consumer),
                 CUDA_ERROR_INVALID_VALUE); // the connection of the wrong side still ends
    EXPECT_ERROR(cuEGLStreamConsumerDisconnect(&p.consumer), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuEGLStreamConsumerDisconnect(&p.producer), CUDA_ERROR_UNKNOWN);
    EXPECT_ERROR(cuEGLStreamProducerDisconnect(&p.producer), CUDA_ERROR_INVALID_HANDLE);
}

TESTS(CASE(there_and_back), CASE(order), CASE(disconnected_while_it_waits), CASE(mailbox),
      CASE(queue), CASE(one_frame_from_two_threads), CASE(waiting_in_a_host_function),
      CASE(two_contexts), CASE(context_of_the_consumer), CASE(waits_for_another_thread),
      CASE(disconnected), CASE(refused), CASE(refused_as_on_the_card))
