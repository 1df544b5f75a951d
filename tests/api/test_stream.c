// SPDX-License-Identifier: MIT
// Streams, events and host functions through the exported driver API. Rules are tested in pairs:
// calls that work, and calls that are refused.
#include <cuda.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPECT(call, want)                                                                         \
    do {                                                                                           \
        int got_ = (int)(call), want_ = (int)(want);                                               \
        if (got_ != want_) {                                                                       \
            fprintf(stderr, "%s:%d: %s is %d, not %d\n", __FILE__, __LINE__, #call, got_, want_);  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static CUcontext context;

static void test_create(void)
{
    CUstream s = (CUstream)0x5a;
    unsigned flags;
    int priority;
    EXPECT(cuStreamCreate(&s, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT(s == (CUstream)0x5a, 1);
    EXPECT(cuStreamCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, -100), CUDA_SUCCESS);
    EXPECT(cuStreamGetFlags(s, &flags), CUDA_SUCCESS);
    EXPECT(flags, CU_STREAM_NON_BLOCKING);
    EXPECT(cuStreamGetPriority(s, &priority), CUDA_SUCCESS);
    EXPECT(priority, -5);
    EXPECT(cuStreamDestroy(s), CUDA_SUCCESS);
    EXPECT(cuStreamDestroy(s), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuStreamQuery(s), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuStreamQuery((CUstream)3), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuStreamDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuStreamDestroy(CU_STREAM_PER_THREAD), CUDA_ERROR_INVALID_HANDLE);
}

static void test_attributes(void)
{
    CUstream s;
    CUstreamAttrValue v;
    EXPECT(cuStreamCreate(&s, 0), CUDA_SUCCESS);
    EXPECT(cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v), CUDA_SUCCESS);
    EXPECT(v.syncPolicy, CU_SYNC_POLICY_AUTO);
    memset(&v, 0, sizeof v);
    EXPECT(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v),
           CUDA_ERROR_INVALID_VALUE);
    v.syncPolicy = CU_SYNC_POLICY_YIELD;
    EXPECT(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v), CUDA_SUCCESS);
    EXPECT(cuStreamGetAttribute(s, (CUstreamAttrID)99, &v), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_PRIORITY, NULL), CUDA_ERROR_INVALID_VALUE);
    memset(&v, 0, sizeof v);
    v.accessPolicyWindow.hitRatio = 1.5f;
    EXPECT(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &v),
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuStreamDestroy(s), CUDA_SUCCESS);
}

static void test_events(void)
{
    CUevent e, f;
    float ms = -7;
    EXPECT(cuEventCreate(&e, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuEventCreate(&e, 8), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuEventCreate(&e, 0), CUDA_SUCCESS);
    EXPECT(cuEventCreate(&f, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    EXPECT(cuEventQuery(e), CUDA_SUCCESS); // never recorded
    EXPECT(cuEventElapsedTime(&ms, e, e), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuEventRecord(e, NULL), CUDA_SUCCESS);
    EXPECT(cuEventRecord(f, CU_STREAM_PER_THREAD), CUDA_SUCCESS);
    EXPECT(cuEventElapsedTime(&ms, e, f), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuEventElapsedTime(&ms, e, e), CUDA_SUCCESS);
    EXPECT(ms == 0, 1);
    EXPECT(cuEventRecordWithFlags(e, NULL, 1), CUDA_ERROR_ILLEGAL_STATE);
    EXPECT(cuEventRecordWithFlags(e, NULL, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuStreamWaitEvent(NULL, e, 1), CUDA_ERROR_ILLEGAL_STATE);
    EXPECT(cuStreamWaitEvent(NULL, NULL, 9), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuStreamWaitEvent(NULL, NULL, 0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuStreamWaitEvent(NULL, e, 0), CUDA_SUCCESS);
    EXPECT(cuEventDestroy(e), CUDA_SUCCESS);
    EXPECT(cuEventRecord(e, NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuEventDestroy(f), CUDA_SUCCESS);
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

static void test_held(void)
{
    CUstream s, n;
    CUevent wall;
    EXPECT(cuStreamCreate(&s, 0), CUDA_SUCCESS);
    EXPECT(cuStreamCreate(&n, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    EXPECT(cuEventCreate(&pending, 0), CUDA_SUCCESS);
    EXPECT(cuEventCreate(&wall, 0), CUDA_SUCCESS);
    EXPECT(cuEventRecord(wall, s), CUDA_SUCCESS);
    pthread_mutex_lock(&held);
    EXPECT(cuLaunchHostFunc(s, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuLaunchHostFunc(s, hold, NULL), CUDA_SUCCESS);
    EXPECT(cuEventRecord(pending, s), CUDA_SUCCESS);
    EXPECT(cuEventQuery(pending), CUDA_ERROR_NOT_READY);
    float ms;
    EXPECT(cuEventElapsedTime(&ms, wall, pending), CUDA_ERROR_NOT_READY);
    EXPECT(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    EXPECT(cuStreamQuery(n), CUDA_SUCCESS);
    EXPECT(cuStreamWaitEvent(n, pending, 0), CUDA_SUCCESS);
    EXPECT(cuStreamQuery(n), CUDA_ERROR_NOT_READY);
    EXPECT(cuEventRecord(pending, CU_STREAM_PER_THREAD),
           CUDA_SUCCESS); // the last record counts for queries …
    EXPECT(cuEventQuery(pending), CUDA_SUCCESS);
    EXPECT(cuStreamQuery(n), CUDA_ERROR_NOT_READY); // … and the first one for those who wait for it
    pthread_mutex_unlock(&held);
    EXPECT(cuStreamSynchronize(n), CUDA_SUCCESS);
    EXPECT(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT(inside[0], CUDA_ERROR_NOT_PERMITTED);
    EXPECT(inside[1], CUDA_ERROR_NOT_PERMITTED);
    EXPECT(cuEventDestroy(pending), CUDA_SUCCESS);
    EXPECT(cuEventDestroy(wall), CUDA_SUCCESS);
    EXPECT(cuStreamDestroy(s), CUDA_SUCCESS);
    EXPECT(cuStreamDestroy(n), CUDA_SUCCESS);
}

static void start(void)
{
    CUdevice device;
    EXPECT(cuInit(0), CUDA_SUCCESS);
    EXPECT(cuDeviceGet(&device, 0), CUDA_SUCCESS);
    EXPECT(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    EXPECT(cuCtxSetCurrent(context), CUDA_SUCCESS);
}

// The other process. It was forked before this one called cuInit, because the driver does not work
// in a child that is forked later.
static int other_process(int in)
{
    CUipcEventHandle h;
    CUevent e;
    if (read(in, &h, sizeof h) != sizeof h)
        return 1;
    start();
    EXPECT(cuIpcOpenEventHandle(&e, h), CUDA_SUCCESS);
    EXPECT(cuEventSynchronize(e), CUDA_SUCCESS);
    EXPECT(cuStreamWaitEvent(NULL, e, 0), CUDA_SUCCESS);
    EXPECT(cuEventRecord(e, NULL), CUDA_SUCCESS);
    EXPECT(cuIpcGetEventHandle(&h, e), CUDA_ERROR_INVALID_HANDLE);
    memset(&h, 0x5a, sizeof h);
    EXPECT(cuIpcOpenEventHandle(&e, h), CUDA_ERROR_MAP_FAILED);
    return 0;
}

int main(void)
{
    int ends[2], status;
    alarm(60);
    EXPECT(pipe(ends), 0);
    pid_t child = fork();
    if (!child) {
        close(ends[1]); // so that its read ends if the first process fails
        _exit(other_process(ends[0]));
    }
    start();
    test_create();
    test_attributes();
    test_events();
    test_held();

    CUevent e, f;
    CUipcEventHandle h;
    EXPECT(cuEventCreate(&f, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    EXPECT(cuIpcGetEventHandle(&h, f), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS), CUDA_SUCCESS);
    EXPECT(cuIpcGetEventHandle(&h, e), CUDA_SUCCESS);
    EXPECT(cuIpcOpenEventHandle(&f, h), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(write(ends[1], &h, sizeof h), sizeof h);
    waitpid(child, &status, 0);
    EXPECT(status, 0);
    EXPECT(cuEventQuery(e), CUDA_SUCCESS);
    printf("ok\n");
    return 0;
}
