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
    // ThreadSanitizer counts fibers as threads, and allows some thousands. Newer AddressSanitizers
    // map memory of their own for each fiber.
    const unsigned blocks = SANITIZED ? 16 : most, all = blocks * BLOCK;
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

// Threads that share a stack fail as others do: thread 3000 is not among the first 1,024.
static void fail_late(unsigned overflows)
{
    start();
    unsigned thread = 3000;
    void *arguments[] = {&memory, &thread, &overflows};
    EXPECT_OK(cuLaunchCooperativeKernel(functions[KERNEL_BAD_LATE], 16, 1, 1, 256, 1, 1, 0, NULL,
                                        arguments));
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT(test_was_reported(
        overflows ? "kernel bad_late, block (11,0,0), thread (184,0,0): the stack of "
                    "128 KiB is full"
                  : "kernel bad_late, block (11,0,0), thread (184,0,0): "));
}

TEST(fault_in_shared_stack)
{
    fail_late(0);
}

TEST(overflow_of_shared_stack)
{
    if (SANITIZED)
        SKIP("a sanitizer reports the overflow itself");
    fail_late(1);
}

// ---- accesses ----

static const cardlessParam sized[] = {{CARDLESS_POINTER, 4, 3},
                                      {.type = CARDLESS_UINT32},
                                      {.type = CARDLESS_UINT32}},
                           fixed[] = {{CARDLESS_POINTER, ORDER_B / 2, 0},
                                      {.type = CARDLESS_UINT32},
                                      {.type = CARDLESS_UINT32}},
                           read_only[] = {{CARDLESS_CONST_POINTER, 4, 3},
                                          {.type = CARDLESS_UINT32},
                                          {.type = CARDLESS_UINT32}};

static cardlessModuleDesc table_of(cardlessKernelDesc *kernel, const cardlessParam *params,
                                   unsigned version)
{
    *kernel = (cardlessKernelDesc){KERNEL(scale), .params = params, .param_count = 3};
    return (cardlessModuleDesc){
        .magic = CARDLESS_MODULE_MAGIC, .version = version, .kernel_count = 1, .kernels = kernel};
}

// Once a process, because the module needs the table until its end.
static CUfunction scale_with(const cardlessParam *params, unsigned version)
{
    static cardlessKernelDesc kernel;
    static cardlessModuleDesc table;
    CUmodule m;
    CUfunction f;
    table = table_of(&kernel, params, version);
    MUST(cuModuleLoadData(&m, &table));
    MUST(cuModuleGetFunction(&f, m, "scale"));
    return f;
}

// Launches a kernel on `count` words in one stream, and fills the second half in another one.
static void use_halves(CUfunction f, unsigned count, unsigned *older, unsigned *newer)
{
    unsigned factor = 1;
    void *arguments[] = {&order_p, &factor, &count};
    *older = order_next();
    EXPECT_OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, order_a, arguments, NULL));
    *newer = order_next();
    EXPECT_OK(cuMemsetD8Async(order_p + ORDER_B / 2, 1, ORDER_B / 2, order_b));
}

static void expect_halves(const cardlessParam *params, unsigned version, unsigned count, bool meet)
{
    unsigned older, newer;
    order_begin();
    load();
    use_halves(scale_with(params, version), count, &older, &newer);
    if (meet)
        EXPECT_UNORDERED(O01, older, newer);
    else
        EXPECT_NO_DIAGNOSTIC();
}

TEST(any_byte)
{
    expect_halves(pointer_and_two, CARDLESS_VERSION, ORDER_B / 8, true);
}

TEST(counted_elements)
{
    expect_halves(sized, CARDLESS_VERSION, ORDER_B / 8, false);
}

TEST(counted_elements_meet)
{
    expect_halves(sized, CARDLESS_VERSION, ORDER_B / 8 + 1, true);
}

TEST(no_elements)
{
    expect_halves(sized, CARDLESS_VERSION, 0, false);
}

TEST(too_many_elements)
{
    expect_halves(sized, CARDLESS_VERSION, UINT32_MAX, true);
}

TEST(fixed_size)
{
    expect_halves(fixed, CARDLESS_VERSION, ORDER_B / 8, false);
}

TEST(sizes_of_older_tables)
{
    expect_halves(sized, 3, ORDER_B / 8, true);
}

TEST(reads_of_elements)
{
    unsigned older, newer, count = 4, factor = 1;
    order_begin();
    load();
    CUfunction f = scale_with(read_only, CARDLESS_VERSION);
    void *arguments[] = {&order_p, &factor, &count};
    EXPECT_OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, order_a, arguments, NULL));
    EXPECT_OK(cuMemcpyDtoDAsync(order_q, order_p, ORDER_B, order_b)); // two reads
    EXPECT_NO_DIAGNOSTIC();
    use_halves(f, ORDER_B / 4, &older, &newer);
    EXPECT_UNORDERED(O01, older, newer);
}

TEST(wrong_sizes)
{
    static const cardlessParam wrong[][3] = {
        {{CARDLESS_POINTER, 0, 3}, {.type = CARDLESS_UINT32}, {.type = CARDLESS_UINT32}},
        {{CARDLESS_POINTER, 4, 4}, {.type = CARDLESS_UINT32}, {.type = CARDLESS_UINT32}},
        {{CARDLESS_POINTER, 4, 1}, {.type = CARDLESS_UINT32}, {.type = CARDLESS_UINT32}},
        {{CARDLESS_POINTER, 4, 2}, {.type = CARDLESS_FLOAT}, {.type = CARDLESS_UINT32}},
    };
    cardlessKernelDesc kernel;
    CUmodule m;
    start();
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cardlessModuleDesc table = table_of(&kernel, wrong[i], CARDLESS_VERSION);
        EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, &table), CUDA_ERROR_INVALID_IMAGE);
    }
}

TESTS(CASE(any_byte), CASE(counted_elements), CASE(counted_elements_meet), CASE(no_elements),
      CASE(too_many_elements), CASE(fixed_size), CASE(sizes_of_older_tables),
      CASE(reads_of_elements), CASE(fault_in_shared_stack), CASE(overflow_of_shared_stack),
      CASE(wrong_sizes), CASE(aligned_structs), CASE(grid_barrier_of_all))
