// SPDX-License-Identifier: MIT
// Launches of kernels that are functions of the host: how arguments lie in memory, which bytes a
// launch accesses, and the largest cooperative grid.
#include "../order.h"

#include <cardless.h>
#include <stdlib.h>

#include "kernels.h"

static CUdeviceptr memory;
static CUmodule module;
static CUfunction functions[KERNEL_COUNT];

static void load(void)
{
    CUresult r = cuModuleLoadData(&module, &kernels_table);
    if (r == CUDA_ERROR_NOT_SUPPORTED)
        SKIP("no libffi");
    MUST(r);
    for (int i = 0; i < KERNEL_COUNT; i++)
        MUST(cuModuleGetFunction(&functions[i], module, kernels_table.kernels[i].name));
    MUST(cuMemAlloc(&memory, 1 << 16));
    MUST(cuMemsetD8(memory, 0, 1 << 16));
}

static void start(void)
{
    test_context();
    load();
}

static unsigned word(unsigned index)
{
    unsigned v = 0;
    EXPECT_OK(cuMemcpyDtoH(&v, memory + 4ul * index, 4));
    return v;
}

static CUresult launch(CUfunction f, unsigned blocks, unsigned threads, unsigned shared,
                       void **arguments)
{
    return cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, shared, NULL, arguments, NULL);
}

// Structs lie as their types require, whatever the launch's arguments begin at.
TEST(aligned_structs)
{
    start();
    struct bytes64 a = {{7}};
    struct bytes24 c = {{0}};
    unsigned char b = 9;
    a.bytes[63] = 4;
    c.bytes[23] = 11;
    size_t offset = 0, size = 0;
    EXPECT_OK(cuFuncGetParamInfo(functions[KERNEL_ALIGNED], 3, &offset, &size));
    EXPECT_EQ(offset, 256);
    void *arguments[] = {&memory, &a, &b, &c};
    for (int i = 0; i < 3; i++) {
        EXPECT_OK(cuMemsetD8(memory, 0xff, 64));
        EXPECT_OK(launch(functions[KERNEL_ALIGNED], 1 + (unsigned)i, 1, 0, arguments));
        EXPECT_OK(cuCtxSynchronize());
        EXPECT_EQ(word(0), 0);
        EXPECT_EQ(word(1), 11);
        EXPECT_EQ(word(2), 9);
        EXPECT_EQ(word(3), 0);
        EXPECT_EQ(word(4), 11);
    }
}

// As many threads as the device holds: more than a process may have mappings for stacks.
TEST(grid_barrier_of_all)
{
    start();
    enum { BLOCK = 256, ROUNDS = 3 };
    const CUfunction f = functions[KERNEL_GRID_PAIRS];
    int per_sm = 0, sms = 0;
    EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, f, BLOCK, 0));
    EXPECT_OK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    const unsigned most = (unsigned)(per_sm * sms);
    EXPECT(most * BLOCK > 40000);
    // ThreadSanitizer counts fibers as threads, and allows some thousands.
    const unsigned blocks = THREAD_SANITIZER ? 16 : most, all = blocks * BLOCK;
    CUdeviceptr data;
    unsigned rounds = ROUNDS;
    EXPECT_OK(cuMemAlloc(&data, all * 4ul));
    void *arguments[] = {&data, &rounds};
    EXPECT_ERROR(cuLaunchCooperativeKernel(f, most + 1, 1, 1, BLOCK, 1, 1, 0, NULL, arguments),
                 CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    EXPECT_OK(cuLaunchCooperativeKernel(f, blocks, 1, 1, BLOCK, 1, 1, 0, NULL, arguments));
    EXPECT_OK(cuCtxSynchronize());
    unsigned *got = malloc(all * 4ul);
    EXPECT_OK(cuMemcpyDtoH(got, data, all * 4ul));
    for (unsigned i = 0; i < all; i++) {
        unsigned sum = i, other = all - 1 - i;
        for (unsigned round = 0; round < ROUNDS; round++) {
            const unsigned next = sum + other + i * round;
            other += sum + (all - 1 - i) * round;
            sum = next;
        }
        EXPECT_EQ(got[i], sum);
    }
    free(got);
    // A small grid afterwards.
    void *few[] = {&memory};
    EXPECT_OK(cuLaunchCooperativeKernel(functions[KERNEL_GRID], 4, 1, 1, 16, 1, 1, 0, NULL, few));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(word(64), 64);
}

TESTS(CASE(aligned_structs), CASE(grid_barrier_of_all))
