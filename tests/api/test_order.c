// SPDX-License-Identifier: MIT
// The ordering checker: each kind of order between two accesses, with a program that has it and
// one that lacks it.
#include <pthread.h>
#include <semaphore.h>

#include "../order.h"

// ---- streams and events ----

TEST(one_stream)
{
    order_begin();
    order_write(order_a);
    order_read(order_a);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(two_streams)
{
    order_begin();
    unsigned older = order_write(order_a), newer = order_read(order_b);
    EXPECT_UNORDERED(O01, older, newer);
}

TEST(write_after_read)
{
    order_begin();
    unsigned older = order_read(order_a), newer = order_write(order_b);
    EXPECT_UNORDERED(O01, older, newer);
}

TEST(two_reads)
{
    order_begin();
    EXPECT_OK(cuMemcpyDtoDAsync(order_q, order_p, 32, order_a));
    EXPECT_OK(cuMemcpyDtoDAsync(order_q + 32, order_p, 32, order_b));
    EXPECT_NO_DIAGNOSTIC();
}

TEST(event)
{
    order_begin();
    CUevent e = order_event();
    order_write(order_a);
    EXPECT_OK(cuEventRecord(e, order_a));
    EXPECT_OK(cuStreamWaitEvent(order_b, e, 0));
    order_read(order_b);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(event_before_the_work)
{
    order_begin();
    CUevent e = order_event();
    EXPECT_OK(cuEventRecord(e, order_a));
    unsigned older = order_write(order_a);
    EXPECT_OK(cuStreamWaitEvent(order_b, e, 0));
    unsigned newer = order_read(order_b);
    EXPECT_UNORDERED(O01, older, newer);
    EXPECT(strstr(order_line("O01"), "was recorded before it, by cuEventRecord"));
}

TEST(wait_in_another_stream)
{
    order_begin();
    CUevent e = order_event();
    unsigned older = order_write(order_a);
    EXPECT_OK(cuEventRecord(e, order_a));
    EXPECT_OK(cuStreamWaitEvent(order_stream(CU_STREAM_NON_BLOCKING), e, 0));
    unsigned newer = order_read(order_b);
    EXPECT_UNORDERED(O01, older, newer);
    EXPECT(strstr(order_line("O01"), "was recorded after it, by cuEventRecord"));
}

TEST(through_a_third_stream)
{
    order_begin();
    CUevent e = order_event(), f = order_event();
    CUstream c = order_stream(CU_STREAM_NON_BLOCKING);
    order_write(order_a);
    EXPECT_OK(cuEventRecord(e, order_a));
    EXPECT_OK(cuStreamWaitEvent(c, e, 0));
    EXPECT_OK(cuEventRecord(f, c));
    EXPECT_OK(cuStreamWaitEvent(order_b, f, 0));
    order_read(order_b);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(context_events)
{
    CUcontext c = order_begin();
    CUevent e = order_event();
    order_write(order_a);
    EXPECT_OK(cuCtxRecordEvent(c, e));
    EXPECT_OK(cuStreamWaitEvent(order_b, e, 0));
    order_read(order_b);
    EXPECT_OK(cuEventRecord(e, order_b));
    EXPECT_OK(cuCtxWaitEvent(c, e));
    order_write(order_stream(CU_STREAM_NON_BLOCKING));
    EXPECT_NO_DIAGNOSTIC();
    order_write(order_b);
    EXPECT_DIAGNOSTIC(O01);
}

// ---- the default stream ----

TEST(legacy_stream)
{
    order_begin();
    CUstream blocking = order_stream(CU_STREAM_DEFAULT), other = order_stream(CU_STREAM_DEFAULT);
    order_write(blocking);
    order_read(CU_STREAM_LEGACY);
    order_write(other);
    order_read(CU_STREAM_LEGACY);
    order_write(CU_STREAM_PER_THREAD);
    order_read(CU_STREAM_LEGACY);
    EXPECT_NO_DIAGNOSTIC();
    unsigned older = order_write(other), newer = order_read(blocking);
    EXPECT_UNORDERED(O01, older, newer);
}

TEST(legacy_stream_and_non_blocking)
{
    order_begin();
    unsigned older = order_write(CU_STREAM_LEGACY), newer = order_read(order_a);
    EXPECT_UNORDERED(O01, older, newer);
}

// ---- the host ----

TEST(synchronous_calls)
{
    static char host[ORDER_B];
    CUcontext c = order_begin();
    CUevent e = order_event();
    order_write(order_a);
    EXPECT_OK(cuStreamSynchronize(order_a));
    order_read(order_b);
    EXPECT_OK(cuCtxSynchronize());
    order_write(order_a);
    EXPECT_OK(cuEventRecord(e, order_a));
    EXPECT_OK(cuEventSynchronize(e));
    order_read(order_b);
    EXPECT_OK(cuStreamQuery(order_b));
    order_write(order_a);
    EXPECT_OK(cuEventRecord(e, order_a));
    EXPECT_OK(cuEventQuery(e));
    order_read(order_b);
    EXPECT_OK(cuStreamSynchronize(order_b));
    EXPECT_OK(cuMemcpyHtoD(order_p, host, ORDER_B));
    order_read(order_b);
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_NO_DIAGNOSTIC();
    EXPECT(c != NULL);
}

TEST(synchronised_with_another_stream)
{
    order_begin();
    unsigned older = order_write(order_a);
    EXPECT_OK(cuStreamSynchronize(order_b));
    unsigned newer = order_read(order_b);
    EXPECT_UNORDERED(O01, older, newer);
}

// The legacy stream of a synchronous copy does not wait for a non-blocking stream.
TEST(synchronous_copy_too_early)
{
    static char host[ORDER_B];
    order_begin();
    unsigned older = order_write(order_a), newer = order_next();
    EXPECT_OK(cuMemcpyDtoH(host, order_p, ORDER_B));
    EXPECT_UNORDERED(O01, older, newer);
}

static void post(void *semaphore)
{
    sem_post(semaphore);
}

TEST(host_function)
{
    sem_t called;
    order_begin();
    sem_init(&called, 0, 0);
    order_write(order_a);
    EXPECT_OK(cuLaunchHostFunc(order_a, post, &called));
    sem_wait(&called);
    order_read(order_b);
    EXPECT_NO_DIAGNOSTIC();
}

static void posted(CUstream s, CUresult result, void *semaphore)
{
    (void)s;
    EXPECT_OK(result);
    sem_post(semaphore);
}

TEST(callback)
{
    sem_t called;
    order_begin();
    sem_init(&called, 0, 0);
    order_write(order_a);
    EXPECT_OK(cuStreamAddCallback(order_a, posted, &called, 0));
    sem_wait(&called);
    order_read(order_b);
    EXPECT_NO_DIAGNOSTIC();
}

// The program does not wait for the function, which comes after the write that is held back.
TEST(host_function_too_late)
{
    sem_t called;
    order_begin();
    sem_init(&called, 0, 0);
    atomic_uint *word = test_hold(order_a);
    unsigned newer = order_write(order_a); // it runs last
    EXPECT_OK(cuLaunchHostFunc(order_a, post, &called));
    unsigned older = order_read(order_b);
    *word = 1;
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_UNORDERED(O01, older, newer);
}

static void *synchronise(void *stream)
{
    MUST(cuStreamSynchronize(stream));
    return NULL;
}

// Threads of the program count as ordered as they call.
TEST(synchronised_by_another_thread)
{
    pthread_t thread;
    order_begin();
    order_write(order_a);
    EXPECT_EQ(pthread_create(&thread, NULL, synchronise, order_a), 0);
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    order_read(order_b);
    EXPECT_NO_DIAGNOSTIC();
}

// ---- values in memory ----

static CUdeviceptr order_word(void)
{
    CUdeviceptr word = order_memory(4);
    MUST(cuMemsetD32(word, 0, 1));
    MUST(cuCtxSynchronize());
    return word;
}

TEST(values)
{
    order_begin();
    CUdeviceptr word = order_word();
    order_write(order_a);
    EXPECT_OK(cuStreamWriteValue32(order_a, word, 1, 0));
    EXPECT_OK(cuStreamWaitValue32(order_b, word, 1, CU_STREAM_WAIT_VALUE_GEQ));
    order_read(order_b);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(value_awaited_before_it_is_written)
{
    order_begin();
    CUdeviceptr word = order_word();
    EXPECT_OK(cuStreamWaitValue32(order_b, word, 1, CU_STREAM_WAIT_VALUE_EQ));
    order_read(order_b);
    order_write(order_a);
    EXPECT_OK(cuStreamWriteValue32(order_a, word, 1, 0));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_NO_DIAGNOSTIC();
}

// The bytes come between the two values, and the wait is for the first one.
TEST(value_too_low)
{
    order_begin();
    CUdeviceptr word = order_word();
    EXPECT_OK(cuStreamWriteValue32(order_a, word, 1, 0));
    unsigned older = order_write(order_a);
    EXPECT_OK(cuStreamWriteValue32(order_a, word, 2, 0));
    EXPECT_OK(cuStreamWaitValue32(order_b, word, 1, CU_STREAM_WAIT_VALUE_GEQ));
    unsigned newer = order_read(order_b);
    EXPECT_UNORDERED(O01, older, newer);
}

// A flag that a fill resets has the same value in each round.
TEST(value_that_is_reset)
{
    order_begin();
    CUdeviceptr word = order_word();
    for (int round = 0; round < 3; round++) {
        order_write(order_a);
        EXPECT_OK(cuStreamWriteValue32(order_a, word, 1, 0));
        EXPECT_OK(cuStreamWaitValue32(order_b, word, 1, CU_STREAM_WAIT_VALUE_EQ));
        order_read(order_b);
        EXPECT_OK(cuMemsetD32Async(word, 0, 1, order_b));
        EXPECT_OK(cuStreamSynchronize(order_b));
    }
    EXPECT_NO_DIAGNOSTIC();
}

TEST(elapsed_time)
{
    float ms;
    order_begin();
    CUevent start, end;
    EXPECT_OK(cuEventCreate(&start, 0));
    EXPECT_OK(cuEventCreate(&end, 0));
    EXPECT_OK(cuEventRecord(start, order_a));
    order_write(order_a);
    EXPECT_OK(cuEventRecord(end, order_a));
    while (cuEventElapsedTime(&ms, start, end))
        continue;
    order_read(order_b);
    EXPECT_NO_DIAGNOSTIC();
}

// ---- bytes ----

TEST(halves)
{
    order_begin();
    EXPECT_OK(cuMemsetD8Async(order_p, 1, 32, order_a));
    EXPECT_OK(cuMemsetD8Async(order_p + 32, 1, 32, order_b));
    EXPECT_NO_DIAGNOSTIC();
    EXPECT_OK(cuMemsetD8Async(order_p + 31, 1, 1, order_b));
    EXPECT_DIAGNOSTIC(O01);
    EXPECT(strstr(order_line("O01"), "writes 1 byte from"));
}

TEST(columns)
{
    order_begin();
    CUdeviceptr p = order_memory(64 * 8);
    EXPECT_OK(cuMemsetD2D8Async(p, 64, 1, 32, 8, order_a));
    EXPECT_OK(cuMemsetD2D8Async(p + 32, 64, 1, 32, 8, order_b));
    EXPECT_NO_DIAGNOSTIC();
    unsigned newer = order_next();
    EXPECT_OK(cuMemsetD2D8Async(p + 64 + 31, 64, 1, 2, 4, order_b));
    EXPECT_UNORDERED(O01, newer - 3, newer);
}

TEST(rows_of_other_pitches)
{
    order_begin();
    CUdeviceptr p = order_memory(64 * 8);
    EXPECT_OK(cuMemsetD2D8Async(p, 64, 1, 16, 8, order_a));
    EXPECT_OK(cuMemsetD2D8Async(p + 16, 128, 1, 48, 4, order_b));
    EXPECT_OK(cuMemsetD8Async(p + 64 + 16, 1, 48, order_b));
    EXPECT_NO_DIAGNOSTIC();
    EXPECT_OK(cuMemsetD2D8Async(p + 16, 32, 1, 8, 4, order_stream(CU_STREAM_NON_BLOCKING)));
    EXPECT_STR(test_reported(), "O01 O01"); // both accesses of order_b
}

// A stream that repeats an access, after others have accessed a part of its bytes.
TEST(repeated_write)
{
    order_begin();
    CUdeviceptr p = order_memory(64 * 8);
    CUevent e = order_event();
    for (int i = 0; i < 3; i++) {
        EXPECT_OK(cuMemsetD8Async(p, 1, 64 * 8, order_a));
        EXPECT_OK(cuEventRecord(e, order_a));
        EXPECT_OK(cuStreamWaitEvent(order_b, e, 0));
        EXPECT_OK(i % 2 ? cuMemcpyDtoDAsync(order_q, p + 8, 4, order_b)
                        : cuMemsetD2D8Async(p, 64, 2, 8, 8, order_b));
        EXPECT_OK(cuEventRecord(e, order_b));
        EXPECT_OK(cuStreamWaitEvent(order_a, e, 0));
    }
    EXPECT_NO_DIAGNOSTIC();
}

TEST(repeated_write_too_early)
{
    order_begin();
    CUdeviceptr p = order_memory(64 * 8);
    CUevent e = order_event();
    for (int i = 0; i < 3; i++) { // b writes rows, and then reads bytes
        EXPECT_OK(cuMemsetD8Async(p, 1, 64 * 8, order_a));
        EXPECT_STR(test_reported(), i == 0 ? "" : i == 1 ? "O01" : "O01 O01");
        EXPECT_OK(cuEventRecord(e, order_a));
        EXPECT_OK(cuStreamWaitEvent(order_b, e, 0));
        EXPECT_OK(i ? cuMemcpyDtoDAsync(order_q, p + 8, 4, order_b)
                    : cuMemsetD2D8Async(p, 64, 2, 8, 8, order_b));
    }
}

static CUarray order_array(void)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 64, .Height = 64, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    CUarray a;
    MUST(cuArray3DCreate(&a, &d));
    return a;
}

static CUresult copy_to_box(CUarray a, size_t x, size_t y, CUstream s)
{
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = order_p,
                       .srcPitch = 8,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = a,
                       .dstXInBytes = x,
                       .dstY = y,
                       .WidthInBytes = 8,
                       .Height = 8};
    return cuMemcpy2DAsync(&c, s);
}

TEST(boxes_of_an_array)
{
    order_begin();
    CUarray a = order_array();
    EXPECT_OK(copy_to_box(a, 0, 0, order_a));
    EXPECT_OK(copy_to_box(a, 8, 0, order_b));
    EXPECT_OK(copy_to_box(a, 0, 8, order_b));
    EXPECT_OK(copy_to_box(order_array(), 0, 0, order_b));
    EXPECT_NO_DIAGNOSTIC();
    EXPECT_OK(copy_to_box(a, 7, 7, order_b));
    EXPECT_DIAGNOSTIC(O01);
}

TEST(levels_of_a_mipmap)
{
    order_begin();
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 64, .Height = 64, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    CUmipmappedArray m;
    CUarray level[2];
    MUST(cuMipmappedArrayCreate(&m, &d, 2));
    MUST(cuMipmappedArrayGetLevel(&level[0], m, 0));
    MUST(cuMipmappedArrayGetLevel(&level[1], m, 1));
    EXPECT_OK(copy_to_box(level[0], 0, 0, order_a));
    EXPECT_OK(copy_to_box(level[1], 0, 0, order_b));
    EXPECT_NO_DIAGNOSTIC();
    EXPECT_OK(copy_to_box(level[1], 0, 0, order_a));
    EXPECT_DIAGNOSTIC(O01);
}

TEST(host_memory)
{
    void *host;
    order_begin();
    MUST(cuMemHostAlloc(&host, ORDER_B, 0));
    unsigned older = order_next();
    EXPECT_OK(cuMemcpyDtoHAsync(host, order_p, ORDER_B, order_a));
    EXPECT_NO_DIAGNOSTIC();
    unsigned newer = order_next();
    EXPECT_OK(cuMemcpyHtoDAsync(order_q, host, ORDER_B, order_b));
    EXPECT_UNORDERED(O01, older, newer);
}

// ---- reports ----

TEST(one_report_for_a_loop)
{
    order_begin();
    unsigned older = order_write(order_a), newer = order_read(order_b);
    for (int i = 0; i < 100; i++) {
        order_write(order_a);
        order_read(order_b);
    }
    EXPECT_STR(test_reported(), "O01 O01"); // the write of the next round is not ordered either
    EXPECT(older < newer);
}

TESTS(CASE(one_stream), CASE(two_streams), CASE(write_after_read), CASE(two_reads), CASE(event),
      CASE(event_before_the_work), CASE(wait_in_another_stream), CASE(through_a_third_stream),
      CASE(context_events), CASE(legacy_stream), CASE(legacy_stream_and_non_blocking),
      CASE(synchronous_calls), CASE(synchronised_with_another_stream),
      CASE(synchronous_copy_too_early), CASE(host_function), CASE(callback),
      CASE(host_function_too_late), CASE(synchronised_by_another_thread), CASE(values),
      CASE(value_awaited_before_it_is_written), CASE(value_too_low), CASE(value_that_is_reset),
      CASE(elapsed_time), CASE(halves), CASE(columns), CASE(rows_of_other_pitches),
      CASE(repeated_write), CASE(repeated_write_too_early), CASE(boxes_of_an_array),
      CASE(levels_of_a_mipmap), CASE(host_memory), CASE(one_report_for_a_loop))
