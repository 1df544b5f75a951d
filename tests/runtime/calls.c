// SPDX-License-Identifier: MIT
// The calls of the runtime around the driver's: the lazy primary context, the last error, devices,
// streams per thread, and the names in messages. The recordings (tests/silicon) have the codes.
#include "../harness.h"
#include <pthread.h>

#include "rt_exports.h"

// The runtime uses the driver's numbers.
#define RT_OK(call) EXPECT_OK((CUresult)(call))
#define RT_ERROR(call, code) EXPECT_ERROR((CUresult)(call), (CUresult)(code))

static CUcontext current(void)
{
    CUcontext context = NULL;
    EXPECT_OK(cuCtxGetCurrent(&context));
    return context;
}

// Also tests that the driver has not complained about a missing context.
static void expect_silence(void)
{
    char code[64];
    EXPECT_EQ(test_said(code), 0);
}

TEST(lazy_context)
{
    int count = 0, version = 0;
    cudaStream_t stream;
    RT_OK(cudaGetDeviceCount(&count));
    RT_OK(cudaRuntimeGetVersion(&version));
    EXPECT_EQ(version, 13000);
    EXPECT(count > 0 && !current());
    RT_OK(cudaStreamCreate(&stream));
    EXPECT(current());
    RT_OK(cudaStreamDestroy(stream));
    expect_silence();
}

TEST(reset_and_revival)
{
    cudaEvent_t event;
    unsigned flags;
    int active;
    RT_OK(cudaEventCreate(&event));
    RT_OK(cudaDeviceReset());
    EXPECT_OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT(!active);
    RT_OK(cudaEventCreate(&event));
    RT_OK(cudaEventRecord(event, NULL));
    RT_OK(cudaEventSynchronize(event));
    EXPECT_OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT(active);
    expect_silence();
}

TEST(own_context)
{
    CUcontext own;
    cudaStream_t stream;
    unsigned flags;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&own, NULL, 0, 0));
    RT_OK(cudaStreamCreate(&stream));
    EXPECT(current() == own);
    RT_ERROR(cudaSetDeviceFlags(cudaDeviceScheduleYield), cudaErrorIncompatibleDriverContext);
    RT_OK(cudaDeviceReset());
    EXPECT(current() == own);
    RT_OK(cudaStreamQuery(stream));
    RT_OK(cudaSetDevice(0));
    EXPECT(current() != own);
    RT_OK(cudaSetDeviceFlags(cudaDeviceScheduleYield));
    RT_OK(cudaGetDeviceFlags(&flags));
    EXPECT_EQ(flags, cudaDeviceScheduleYield | cudaDeviceMapHost);
}

static void *other_thread(void *stream)
{
    RT_OK(cudaPeekAtLastError());
    EXPECT(!current());
    RT_ERROR(cudaStreamCreateWithFlags(NULL, 0), cudaErrorInvalidValue);
    EXPECT(current());
    RT_OK(cudaStreamQuery(stream));
    RT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
    RT_OK(cudaGetLastError());
    return NULL;
}

TEST(last_error)
{
    cudaStream_t stream;
    cudaEvent_t event;
    pthread_t thread;
    RT_OK(cudaStreamCreate(&stream));
    RT_OK(cudaEventCreate(&event));
    RT_ERROR(cudaSetDevice(-1), cudaErrorInvalidDevice);
    EXPECT(!pthread_create(&thread, NULL, other_thread, stream));
    EXPECT(!pthread_join(thread, NULL));
    RT_OK(cudaStreamSynchronize(stream));
    RT_ERROR(cudaPeekAtLastError(), cudaErrorInvalidDevice);
    RT_ERROR(cudaGetLastError(), cudaErrorInvalidDevice);
    RT_OK(cudaGetLastError());
    // That work is not complete is an answer, not an error.
    atomic_uint *word = test_hold(stream);
    RT_ERROR(cudaStreamQuery(stream), cudaErrorNotReady);
    RT_OK(cudaPeekAtLastError());
    *word = 1;
    RT_OK(cudaStreamSynchronize(stream));
}

TEST(twins)
{
    unsigned long long legacy, per_thread, own;
    RT_OK(cudaStreamGetId(NULL, &legacy));
    RT_OK(cudaStreamGetId_ptsz(NULL, &per_thread));
    RT_OK(cudaStreamGetId(cudaStreamPerThread, &own));
    EXPECT(legacy != per_thread && per_thread == own);
    RT_OK(cudaStreamGetId_ptsz(cudaStreamLegacy, &own));
    EXPECT_EQ(own, legacy);
    void *plain = NULL, *twin = NULL;
    RT_OK(cudaGetDriverEntryPoint("cuStreamQuery", &plain, cudaEnableDefault, NULL));
    RT_OK(cudaGetDriverEntryPoint_ptsz("cuStreamQuery", &twin, cudaEnableDefault, NULL));
    EXPECT(plain && twin && plain != twin);
}

TEST(messages_name_the_call)
{
    cudaStream_t stream = NULL;
    CUdeviceptr pointer;
    EXPECT_MESSAGE((CUresult)cudaStreamCreateWithFlags(&stream, 77), CUDA_ERROR_INVALID_VALUE,
                   "cudaStreamCreateWithFlags");
    RT_OK(cudaStreamCreate(&stream));
    RT_OK(cudaStreamDestroy(stream));
    // The history of the handle names the runtime's call, too.
    EXPECT_MESSAGE((CUresult)cudaStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE,
                   "cudaStreamDestroy destroyed");
    // The program's own calls of the driver keep their names.
    EXPECT_MESSAGE(cuMemAlloc(&pointer, 0), CUDA_ERROR_INVALID_VALUE, "cuMemAlloc_v2");
}

// The driver's rules about capture are those of the driver's call, whatever its name in messages.
TEST(capture_rules)
{
    cudaStream_t stream;
    cudaEvent_t event;
    cudaGraph_t graph;
    RT_OK(cudaEventCreate(&event));
    RT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    RT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    RT_OK(cudaEventQuery(event));
    RT_OK(cudaStreamEndCapture(stream, &graph));
    RT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    RT_ERROR(cudaEventQuery(event), cudaErrorStreamCaptureUnsupported);
    RT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
}

TEST(several_devices)
{
    test_setting("CARDLESS_DEVICES", "h100,h100");
    int device = -1, peer = -1, order[] = {1, 0};
    cudaStream_t stream;
    CUcontext first, second;
    RT_OK(cudaSetValidDevices(order, 2));
    RT_OK(cudaGetDevice(&device));
    EXPECT_EQ(device, 1);
    RT_OK(cudaSetDevice(0));
    first = current();
    RT_OK(cudaSetDevice(1));
    second = current();
    EXPECT(first != second);
    RT_OK(cudaStreamCreate(&stream));
    RT_OK(cudaStreamGetDevice(stream, &device));
    EXPECT_EQ(device, 1);
    RT_OK(cudaDeviceCanAccessPeer(&peer, 1, 0));
    EXPECT_EQ(peer, 1);
    RT_OK(cudaDeviceEnablePeerAccess(0, 0));
    RT_ERROR(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
    RT_OK(cudaDeviceDisablePeerAccess(0));
    RT_ERROR(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
    // The context of another device may be made current behind the runtime's back.
    EXPECT_OK(cuCtxSetCurrent(first));
    RT_OK(cudaGetDevice(&device));
    EXPECT_EQ(device, 0);
    RT_OK(cudaDeviceReset());
    RT_OK(cudaStreamQuery(stream)); // device 1 is not reset
}

TEST(no_device)
{
    test_setting("CARDLESS_DEVICES", "none");
    char code[64];
    int value = -1;
    EXPECT_STR(cudaGetErrorName(cudaErrorNoDevice), "cudaErrorNoDevice"); // needs no driver
    RT_ERROR(cudaGetLastError(), cudaErrorNoDevice);
    RT_OK(cudaDriverGetVersion(&value));
    EXPECT_EQ(test_said(code), 0);
    EXPECT_ONE_SENTENCE((CUresult)cudaGetDeviceCount(&value), CUDA_ERROR_NO_DEVICE);
    EXPECT_MESSAGE((CUresult)cudaGetDeviceCount(&value), CUDA_ERROR_NO_DEVICE,
                   "cudaGetDeviceCount");
    RT_ERROR(cudaGetLastError(), cudaErrorNoDevice);
    RT_OK(cudaDriverGetVersion(&value));
    EXPECT_EQ(value, 13000);
    RT_ERROR(cudaPeekAtLastError(), cudaErrorNoDevice); // every call tries to start the driver
    RT_ERROR(cudaDeviceSynchronize(), cudaErrorNoDevice);
}

TEST(choose_device)
{
    struct cudaDeviceProp wanted, has;
    int device = -1;
    memset(&wanted, 0, sizeof wanted);
    RT_OK(cudaGetDeviceProperties(&has, 0));
    EXPECT_STR(has.name, "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(has.major, 9);
    EXPECT_EQ(has.maxThreadsDim[2], 64);
    wanted.totalGlobalMem = has.totalGlobalMem;
    RT_OK(cudaChooseDevice(&device, &wanted));
    EXPECT_EQ(device, 0);
    RT_ERROR(cudaChooseDevice(&device, NULL), cudaErrorInvalidValue);
}

TESTS(CASE(lazy_context), CASE(reset_and_revival), CASE(own_context), CASE(last_error), CASE(twins),
      CASE(messages_name_the_call), CASE(capture_rules), CASE(several_devices), CASE(no_device),
      CASE(choose_device))
