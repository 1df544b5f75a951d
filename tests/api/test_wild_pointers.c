// SPDX-License-Identifier: MIT
// Wild pointers and counts inside descriptors: the call should fail with a sentence, and should not
// fault.
#include "../harness.h"

#include <pthread.h>

// No memory is mapped at the first, and the second is not a valid address.
#define WILD ((void *)(uintptr_t)0x12345000)
#define NO_ADDRESS ((void *)(uintptr_t)0xf123456789abcdef)

static CUcontext start(void)
{
    CUcontext context;
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
    EXPECT_OK(cuCtxSetCurrent(context));
    return context;
}

TEST(set_access)
{
    start();
    const size_t size = 2 << 20;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle memory;
    CUdeviceptr p;
    EXPECT_OK(cuMemAddressReserve(&p, size, 0, 0, 0));
    EXPECT_OK(cuMemCreate(&memory, size, &prop, 0));
    EXPECT_OK(cuMemMap(p, size, 0, memory, 0));
    EXPECT_ERROR(cuMemSetAccess(p, size, WILD, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemSetAccess(p, size, NO_ADDRESS, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemSetAccess(p, size, &access, SIZE_MAX), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemSetAccess(p, size, &access, (size_t)1 << 60), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemSetAccess(p, size, &access, (size_t)1 << 40), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemsetD8(p, 1, size),
                 CUDA_ERROR_INVALID_VALUE); // access has not been enabled for any of them
    EXPECT_OK(cuMemSetAccess(p, size, &access, 1));
    EXPECT_OK(cuMemsetD8(p, 1, size));
}

TEST(pointer_attributes)
{
    start();
    CUdeviceptr p;
    unsigned type = 0, ordinal = 77;
    EXPECT_OK(cuMemAlloc(&p, 4096));
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *data[] = {&type, WILD};
    EXPECT_ERROR(cuPointerGetAttributes(2, attributes, data, p), CUDA_ERROR_INVALID_VALUE);
    data[1] = NO_ADDRESS;
    EXPECT_ERROR(cuPointerGetAttributes(2, attributes, data, p), CUDA_ERROR_INVALID_VALUE);
    data[1] = (void *)"constant";
    EXPECT_ERROR(cuPointerGetAttributes(2, attributes, data, p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuPointerGetAttributes(UINT32_MAX, attributes, data, p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuPointerGetAttributes(2, WILD, data, p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuPointerGetAttributes(2, attributes, WILD, p), CUDA_ERROR_INVALID_VALUE);
    data[1] = &ordinal;
    EXPECT_OK(cuPointerGetAttributes(2, attributes, data, p));
    EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
    EXPECT_EQ(ordinal, 0);
}

TEST(range_attributes)
{
    start();
    CUdeviceptr p;
    int value;
    EXPECT_OK(cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_GLOBAL));
    CUmem_range_attribute attribute = CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
    void *data = WILD;
    size_t size = sizeof value;
    EXPECT_ERROR(cuMemRangeGetAttributes(&data, &size, &attribute, 1, p, 4096),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemRangeGetAttributes(&data, &size, WILD, 1, p, 4096), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemRangeGetAttribute(NO_ADDRESS, 4, attribute, p, 4096),
                 CUDA_ERROR_INVALID_VALUE);
    data = &value;
    EXPECT_OK(cuMemRangeGetAttributes(&data, &size, &attribute, 1, p, 4096));
}

TEST(context_parameters)
{
    EXPECT_OK(cuInit(0));
    CUcontext context;
    CUctxCreateParams params = {.execAffinityParams = WILD, .numExecAffinityParams = 1};
    EXPECT_ERROR(cuCtxCreate(&context, &params, 0, 0), CUDA_ERROR_INVALID_VALUE);
    params = (CUctxCreateParams){.cigParams = NO_ADDRESS};
    EXPECT_ERROR(cuCtxCreate(&context, &params, 0, 0), CUDA_ERROR_INVALID_VALUE);
    params = (CUctxCreateParams){0};
    EXPECT_OK(cuCtxCreate(&context, &params, 0, 0));
}

TEST(batches)
{
    start();
    CUdeviceptr p;
    CUstream stream;
    size_t size = 64, index = 0;
    EXPECT_OK(cuMemAlloc(&p, 4096));
    EXPECT_OK(cuStreamCreate(&stream, 0));
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    CUdeviceptr from = p + 1024;
    EXPECT_ERROR(cuMemcpyBatchAsync(WILD, &from, &size, 1, &attributes, &index, 1, stream),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyBatchAsync(&p, WILD, &size, 1, &attributes, &index, 1, stream),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyBatchAsync(&p, &from, WILD, 1, &attributes, &index, 1, stream),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyBatchAsync(&p, &from, &size, 1, WILD, &index, 1, stream),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemcpyBatchAsync(&p, &from, &size, 1, &attributes, WILD, 1, stream),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(
        cuMemcpyBatchAsync(&p, &from, &size, (size_t)1 << 59, &attributes, &index, 1, stream),
        CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemcpyBatchAsync(&p, &from, &size, 1, &attributes, &index, 1, stream));
    EXPECT_ERROR(cuMemcpy3DBatchAsync(3, WILD, 0, stream), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamBatchMemOp(stream, 3, WILD, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuMemMapArrayAsync(WILD, 3, stream), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuStreamSynchronize(stream));
}

// The driver detects a count that is far too large, and a small array that is not there, even if
// the thread blocks all signals.
static void *with_blocked_signals(void *context)
{
    sigset_t all;
    CUgraphicsResource resource = NULL;
    CUmodule module;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    MUST(cuCtxSetCurrent(context));
    EXPECT_ERROR(cuGraphicsMapResources(UINT32_MAX, &resource, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphicsMapResources(3, WILD, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamBatchMemOp(NULL, 3, WILD, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuModuleLoadData(&module, WILD), CUDA_ERROR_INVALID_VALUE);
    return NULL;
}

TEST(blocked_signals)
{
    start();
    pthread_t thread;
    CUcontext context;
    MUST(cuCtxGetCurrent(&context));
    EXPECT_EQ(pthread_create(&thread, NULL, with_blocked_signals, context), 0);
    pthread_join(thread, NULL);
}

TESTS(CASE(set_access), CASE(pointer_attributes), CASE(range_attributes), CASE(context_parameters),
      CASE(batches), CASE(blocked_signals))
