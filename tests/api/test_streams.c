// SPDX-License-Identifier: MIT
// Streams, events and host functions through the exported driver API. Rules are tested in pairs:
// calls that work, and calls that are refused.
#include <pthread.h>

#include "../harness.h"

TEST(create)
{
    test_context();
    CUstream s = (CUstream)0x5a;
    unsigned flags;
    int priority;
    EXPECT_ERROR(cuStreamCreate(&s, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT(s == (CUstream)0x5a);
    EXPECT_ERROR(cuStreamCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, -100));
    EXPECT_OK(cuStreamGetFlags(s, &flags));
    EXPECT_EQ(flags, CU_STREAM_NON_BLOCKING);
    EXPECT_OK(cuStreamGetPriority(s, &priority));
    EXPECT_EQ(priority, -5);
    EXPECT_OK(cuStreamDestroy(s));
    EXPECT_ERROR(cuStreamDestroy(s), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuStreamQuery(s), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuStreamQuery((CUstream)3), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuStreamDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuStreamDestroy(CU_STREAM_PER_THREAD), CUDA_ERROR_INVALID_HANDLE);
}

TEST(attributes)
{
    test_context();
    CUstream s;
    CUstreamAttrValue v;
    EXPECT_OK(cuStreamCreate(&s, 0));
    EXPECT_OK(cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
    EXPECT_EQ(v.syncPolicy, CU_SYNC_POLICY_AUTO);
    memset(&v, 0, sizeof v);
    EXPECT_ERROR(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v),
                 CUDA_ERROR_INVALID_VALUE);
    v.syncPolicy = CU_SYNC_POLICY_YIELD;
    EXPECT_OK(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
    EXPECT_ERROR(cuStreamGetAttribute(s, (CUstreamAttrID)99, &v), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_PRIORITY, NULL),
                 CUDA_ERROR_INVALID_VALUE);
    memset(&v, 0, sizeof v);
    v.accessPolicyWindow.hitRatio = 1.5f;
    EXPECT_ERROR(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &v),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuStreamDestroy(s));
}

TEST(events)
{
    test_context();
    CUevent e, f;
    float ms = -7;
    EXPECT_ERROR(cuEventCreate(&e, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuEventCreate(&e, 8), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuEventCreate(&e, 0));
    EXPECT_OK(cuEventCreate(&f, CU_EVENT_DISABLE_TIMING));
    EXPECT_OK(cuEventQuery(e)); // never recorded
    EXPECT_ERROR(cuEventElapsedTime(&ms, e, e), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuEventRecord(e, NULL));
    EXPECT_OK(cuEventRecord(f, CU_STREAM_PER_THREAD));
    EXPECT_ERROR(cuEventElapsedTime(&ms, e, f), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuEventElapsedTime(&ms, e, e));
    EXPECT(ms == 0);
    EXPECT_ERROR(cuEventRecordWithFlags(e, NULL, 1), CUDA_ERROR_ILLEGAL_STATE);
    EXPECT_ERROR(cuEventRecordWithFlags(e, NULL, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamWaitEvent(NULL, e, 1), CUDA_ERROR_ILLEGAL_STATE);
    EXPECT_ERROR(cuStreamWaitEvent(NULL, NULL, 9), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamWaitEvent(NULL, NULL, 0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuStreamWaitEvent(NULL, e, 0));
    EXPECT_OK(cuEventDestroy(e));
    EXPECT_ERROR(cuEventRecord(e, NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuEventDestroy(f));
}

// A host function that waits for the test holds up the commands after it.
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static CUresult inside[3];
static CUevent pending;
static void CUDA_CB hold(void *data)
{
    (void)data;
    int count;
    inside[0] = cuDeviceGetCount(&count);
    inside[1] = cuStreamSynchronize(NULL);
    inside[2] = cuEventQuery(pending);
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
}

TEST(held_stream)
{
    test_context();
    CUstream s, n;
    CUevent wall;
    EXPECT_OK(cuStreamCreate(&s, 0));
    EXPECT_OK(cuStreamCreate(&n, CU_STREAM_NON_BLOCKING));
    EXPECT_OK(cuEventCreate(&pending, 0));
    EXPECT_OK(cuEventCreate(&wall, 0));
    EXPECT_OK(cuEventRecord(wall, s));
    pthread_mutex_lock(&held);
    EXPECT_ERROR(cuLaunchHostFunc(s, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuLaunchHostFunc(s, hold, NULL));
    EXPECT_OK(cuEventRecord(pending, s));
    EXPECT_ERROR(cuEventQuery(pending), CUDA_ERROR_NOT_READY);
    float ms;
    EXPECT_ERROR(cuEventElapsedTime(&ms, wall, pending), CUDA_ERROR_NOT_READY);
    EXPECT_ERROR(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    EXPECT_OK(cuStreamQuery(n));
    EXPECT_OK(cuStreamWaitEvent(n, pending, 0));
    EXPECT_ERROR(cuStreamQuery(n), CUDA_ERROR_NOT_READY);
    EXPECT_OK(cuEventRecord(pending, CU_STREAM_PER_THREAD)); // the last record counts for queries …
    EXPECT_OK(cuEventQuery(pending));
    EXPECT_ERROR(cuStreamQuery(n),
                 CUDA_ERROR_NOT_READY); // … and the first one for those who wait for it
    pthread_mutex_unlock(&held);
    EXPECT_OK(cuStreamSynchronize(n));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(inside[0], CUDA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(inside[1], CUDA_ERROR_NOT_PERMITTED);
    EXPECT_OK(cuEventDestroy(pending));
    EXPECT_OK(cuEventDestroy(wall));
    EXPECT_OK(cuStreamDestroy(s));
    EXPECT_OK(cuStreamDestroy(n));
}

// The other process. It was forked before this one called cuInit, because the driver does not work
// in a child that is forked later.
static void record_in_other_process(int in)
{
    CUipcEventHandle h;
    CUevent e;
    if (read(in, &h, sizeof h) != sizeof h)
        exit(2);
    test_context();
    EXPECT_OK(cuIpcOpenEventHandle(&e, h));
    EXPECT_OK(cuEventSynchronize(e));
    EXPECT_OK(cuStreamWaitEvent(NULL, e, 0));
    EXPECT_OK(cuEventRecord(e, NULL));
    EXPECT_ERROR(cuIpcGetEventHandle(&h, e), CUDA_ERROR_INVALID_HANDLE);
    memset(&h, 0x5a, sizeof h);
    EXPECT_ERROR(cuIpcOpenEventHandle(&e, h), CUDA_ERROR_MAP_FAILED);
}

TEST(event_of_two_processes)
{
    int ends[2], status = -1;
    EXPECT_EQ(pipe(ends), 0);
    pid_t child = fork();
    if (!child) {
        close(ends[1]); // so that its read ends if the first process fails
        record_in_other_process(ends[0]);
        exit(test_failures > 0);
    }
    CUevent e, f;
    CUipcEventHandle h;
    test_context();
    EXPECT_OK(cuEventCreate(&f, CU_EVENT_DISABLE_TIMING));
    EXPECT_ERROR(cuIpcGetEventHandle(&h, f), CUDA_ERROR_INVALID_HANDLE);
    MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
    MUST(cuIpcGetEventHandle(&h, e));
    EXPECT_ERROR(cuIpcOpenEventHandle(&f, h), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(write(ends[1], &h, sizeof h), sizeof h);
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_OK(cuEventQuery(e));
}

TESTS(CASE(create), CASE(attributes), CASE(events), CASE(held_stream), CASE(event_of_two_processes))
