// SPDX-License-Identifier: MIT
// Messages name the call of the program and its own arguments, and each error has one.
#include "expect.h"
#include "program.h"

#define RT_MESSAGE(call, code, text) EXPECT_MESSAGE((CUresult)(call), (CUresult)(code), text)

static char host[64];

static unsigned lines(void)
{
    char code[64];
    return test_said(code);
}

TEST(found_by_the_runtime)
{
    char *memory;
    int value;
    struct cudaChannelFormatDesc channel;
    RT_MUST(cudaMalloc((void **)&memory, 16));
    RT_MESSAGE(cudaMalloc(NULL, 4), cudaErrorInvalidValue, "\"entry\":\"cudaMalloc\"");
    RT_MESSAGE(cudaMalloc(NULL, 4), cudaErrorInvalidValue, "\"text\":\"argument devPtr is NULL\"");
    RT_MESSAGE(cudaMalloc(NULL, 4), cudaErrorInvalidValue, "\"result\":\"cudaErrorInvalidValue\"");
    RT_MESSAGE(cudaMemcpy(memory, host, 4, (enum cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection,
               "kind (9) is not a cudaMemcpyKind");
    RT_MESSAGE(cudaMemcpyToSymbol(host, host, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol,
               "is not a variable of the device");
    RT_MESSAGE(cudaMemcpyToSymbol(host, host, 4, 0, cudaMemcpyDeviceToHost),
               cudaErrorInvalidMemcpyDirection, "contradicts the copy");
    RT_MESSAGE(cudaFreeAsync(memory + 64, NULL), cudaErrorInvalidValue, "cudaFreeAsync");
    RT_MESSAGE(cudaMemcpy2D(memory, 1, host, 4, 4, 4, cudaMemcpyHostToDevice),
               cudaErrorInvalidPitchValue, "dpitch (1) and spitch (4) must be at least width (4)");
    RT_MESSAGE(cudaLaunchKernel(NULL, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL),
               cudaErrorInvalidDeviceFunction, "the kernel is NULL");
    RT_MESSAGE(cudaGetChannelDesc(&channel, NULL), cudaErrorInvalidResourceHandle, "array is NULL");
    RT_MESSAGE(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)9999, 0), cudaErrorInvalidValue,
               "attr (9999)");
}

TEST(found_by_the_driver)
{
    char *memory;
    struct cudaFuncAttributes attributes;
    RT_MUST(cudaMalloc((void **)&memory, 16));
    RT_MESSAGE(cudaMemset(memory, 0, 17), cudaErrorInvalidValue, "devPtr: the range of 17 bytes");
    RT_MESSAGE(cudaMemset(memory, 0, 17), cudaErrorInvalidValue, "by 1 byte;");
    RT_MESSAGE(cudaFree(host), cudaErrorInvalidValue, "devPtr: ");
    RT_MESSAGE(cudaHostRegister(NULL, 1, 0), cudaErrorInvalidValue, "argument ptr is NULL");
    RT_MESSAGE(cudaFuncGetAttributes(&attributes, host), cudaErrorInvalidResourceHandle, "func (");
    RT_MESSAGE(cudaMemcpyPeer(memory, 7, memory, 0, 4), cudaErrorInvalidDevice, "dstDevice (7)");
    RT_MESSAGE(cudaMemPrefetchAsync(host, 4, (struct cudaMemLocation){cudaMemLocationTypeDevice, 0},
                                    0, NULL),
               cudaErrorInvalidValue, "devPtr: ");
}

// Attempts that the program did not ask for say nothing.
TEST(one_message_each)
{
    struct cudaFuncAttributes attributes;
    struct cudaPointerAttributes pointer;
    const char *name;
    unsigned before;
    RT_MUST(cudaFree(NULL));
    before = lines();
    RT_ERROR(cudaFuncGetAttributes(&attributes, host), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(lines() - before, 1);
    RT_OK(cudaPointerGetAttributes(&pointer, host));
    EXPECT_EQ(lines() - before, 1);
    RT_ERROR(cudaFuncGetName(&name, host), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(lines() - before, 2);
}

// A kernel has failed. The first call that finds this and the reset say so once each.
TEST(after_a_fault)
{
    static char kernel;
    struct program_wrapper wrapper = program_wrapper(
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { trap; }\n");
    void **binary = __cudaRegisterFatBinary(&wrapper);
    void *memory;
    program_function(binary, &kernel, "k");
    __cudaRegisterFatBinaryEnd(binary);
    RT_MUST(cudaFree(NULL));
    RT_OK(cudaLaunchKernel(&kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
    RT_ERROR(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    const unsigned before = lines();
    RT_OK(cudaDeviceReset());
    RT_ERROR(cudaMalloc(&memory, 4), cudaErrorDevicesUnavailable);
    EXPECT_EQ(lines() - before, 1);
    program_finish(&wrapper);
}

TESTS(CASE(found_by_the_runtime), CASE(found_by_the_driver), CASE(one_message_each),
      CASE(after_a_fault))
