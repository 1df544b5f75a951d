// SPDX-License-Identifier: MIT
// Kernels that are functions of the host: tables, launches, indices, shared memory, barriers,
// variables and faults.
#include <cardless.h>
#include <setjmp.h>
#include <string.h>

#include "../harness.h"
#include "kernels.h"

static CUdeviceptr memory;
static CUmodule module;
static CUfunction functions[KERNEL_COUNT];

static bool start(void)
{
    CUdevice device;
    CUcontext context;
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuDeviceGet(&device, 0));
    EXPECT_OK(cuCtxCreate(&context, NULL, 0, device));
    EXPECT_OK(cuMemAlloc(&memory, 1 << 20));
    EXPECT_OK(cuMemsetD8(memory, 0, 1 << 20));
    CUresult r = cuModuleLoadData(&module, &kernels_table);
    if (r == CUDA_ERROR_NOT_SUPPORTED)
        return false; // no libffi
    EXPECT_OK(r);
    for (int i = 0; i < KERNEL_COUNT; i++)
        EXPECT_OK(cuModuleGetFunction(&functions[i], module, kernels_table.kernels[i].name));
    return true;
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

// ---- calls ----

TEST(threads)
{
    if (!start())
        SKIP("no libffi");
    unsigned count = 100, factor = 3;
    void *arguments[] = {&memory, &factor, &count};
    EXPECT_OK(launch(functions[KERNEL_SCALE], 4, 32, 0, arguments));
    EXPECT_OK(cuCtxSynchronize());
    for (unsigned i = 0; i < 128; i++)
        EXPECT_EQ(word(i), i < count ? i * factor : 0);
}

TEST(indices)
{
    if (!start())
        SKIP("no libffi");
    void *arguments[] = {&memory};
    EXPECT_OK(
        cuLaunchKernel(functions[KERNEL_INDICES], 3, 2, 2, 4, 3, 2, 0, NULL, arguments, NULL));
    EXPECT_OK(cuCtxSynchronize());
    // Each thread adds 1 at its own place, so each place has 1.
    for (unsigned i = 0; i < 3 * 2 * 2 * 4 * 3 * 2; i++)
        EXPECT_EQ(word(i), 1);
    EXPECT_EQ(word(3 * 2 * 2 * 4 * 3 * 2), 0);
}

TEST(all_types)
{
    if (!start())
        SKIP("no libffi");
    int8_t a = -1;
    uint8_t b = 200;
    int16_t c = -300;
    uint16_t d = 60000;
    int32_t e = -70000;
    uint32_t f = 4000000000u;
    int64_t g = -5000000000;
    uint64_t h = 1ull << 63;
    float i = 1.5f;
    double j = -2.25;
    struct bytes24 k;
    memset(&k, 7, sizeof k);
    void *arguments[] = {&memory, &a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k};
    EXPECT_OK(launch(functions[KERNEL_TYPES], 1, 1, 0, arguments));
    EXPECT_OK(cuCtxSynchronize());
    double got[11];
    EXPECT_OK(cuMemcpyDtoH(got, memory, sizeof got));
    const double want[] = {-1,  200,   -300,  60000, -70000, 4e9, -5e9, 9223372036854775808.,
                           1.5, -2.25, 24 * 7};
    for (int n = 0; n < 11; n++)
        EXPECT(got[n] == want[n]);
}

TEST(extra)
{
    if (!start())
        SKIP("no libffi");
    struct {
        CUdeviceptr data;
        unsigned factor, count;
    } buffer = {memory, 5, 3};
    size_t size = sizeof buffer;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    EXPECT_OK(cuLaunchKernel(functions[KERNEL_SCALE], 1, 1, 1, 4, 1, 1, 0, NULL, NULL, extra));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(word(2), 10);
    EXPECT_EQ(word(3), 0);
    void *arguments[] = {&memory, &buffer.factor, &buffer.count};
    EXPECT_ERROR(
        cuLaunchKernel(functions[KERNEL_SCALE], 1, 1, 1, 4, 1, 1, 0, NULL, arguments, extra),
        CUDA_ERROR_INVALID_VALUE);
}

TEST(one_by_one)
{
    if (!start())
        SKIP("no libffi");
    CUfunction f = functions[KERNEL_SCALE];
    CUdeviceptr data = memory;
    EXPECT_ERROR(cuLaunch(f), CUDA_ERROR_INVALID_VALUE); // no block yet
    EXPECT_OK(cuFuncSetBlockShape(f, 4, 1, 1));
    EXPECT_OK(cuFuncSetSharedSize(f, 0));
    EXPECT_OK(cuParamSetSize(f, 16));
    EXPECT_OK(cuParamSetv(f, 0, &data, 8));
    EXPECT_OK(cuParamSeti(f, 8, 7));
    EXPECT_OK(cuParamSeti(f, 12, 6));
    EXPECT_OK(cuLaunchGrid(f, 2, 1));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(word(5), 35);
    EXPECT_EQ(word(6), 0);
    EXPECT_ERROR(cuParamSeti(f, -4, 7), CUDA_ERROR_INVALID_VALUE);
}

// ---- blocks ----

TEST(per_block)
{
    if (!start())
        SKIP("no libffi");
    void *arguments[] = {&memory};
    EXPECT_OK(launch(functions[KERNEL_BLOCKS], 5, 64, 0, arguments));
    EXPECT_OK(cuCtxSynchronize());
    for (unsigned i = 0; i < 5; i++)
        EXPECT_EQ(word(i), 64 * 1000 + i);
}

// Each thread writes to shared memory, waits, and reads what its neighbour has written.
TEST(barriers)
{
    if (!start())
        SKIP("no libffi");
    unsigned rounds = 5;
    void *arguments[] = {&memory, &rounds};
    EXPECT_OK(launch(functions[KERNEL_ROTATE], 3, 100, 100 * 4, arguments));
    EXPECT_OK(cuCtxSynchronize());
    for (unsigned i = 0; i < 300; i++)
        EXPECT_EQ(word(i), (i % 100 + rounds) % 100 + 1000 * (i / 100));
}

// Threads that have ended do not count at a barrier.
TEST(barrier_of_some)
{
    if (!start())
        SKIP("no libffi");
    void *arguments[] = {&memory};
    EXPECT_OK(launch(functions[KERNEL_SOME_WAIT], 1, 64, 64 * 4, arguments));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(word(0), 32 * 31 / 2);
}

TEST(grid_barrier)
{
    if (!start())
        SKIP("no libffi");
    void *arguments[] = {&memory};
    EXPECT_OK(
        cuLaunchCooperativeKernel(functions[KERNEL_GRID], 4, 1, 1, 16, 1, 1, 0, NULL, arguments));
    EXPECT_OK(cuCtxSynchronize());
    for (unsigned i = 0; i < 64; i++)
        EXPECT_EQ(word(64 + i), 64);
}

TEST(grid_barrier_needs_cooperation)
{
    if (!start())
        SKIP("no libffi");
    void *arguments[] = {&memory};
    EXPECT_OK(launch(functions[KERNEL_GRID], 4, 16, 0, arguments));
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
}

TEST(shared_memory)
{
    if (!start())
        SKIP("no libffi");
    unsigned at = 0;
    void *arguments[] = {&memory, &at};
    EXPECT_OK(launch(functions[KERNEL_SHARED], 1, 1, 1000, arguments));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(word(0), 1000);
    EXPECT_EQ(word(1), 112); // 100 bytes, rounded up
    at = 1000;               // just past the end: at most 15 bytes of padding
    EXPECT_OK(launch(functions[KERNEL_SHARED], 1, 1, 1000, arguments));
    EXPECT_OK(cuCtxSynchronize());
    at = 1008;
    EXPECT_OK(launch(functions[KERNEL_SHARED], 1, 1, 1000, arguments));
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

// ---- variables ----

TEST(variables)
{
    if (!start())
        SKIP("no libffi");
    CUdeviceptr counter, pointer, got;
    CUmodule other;
    size_t size;
    unsigned v;
    EXPECT_OK(cuModuleGetGlobal(&counter, &size, module, "counter"));
    EXPECT_EQ(size, 4);
    EXPECT_OK(cuModuleGetGlobal(&pointer, NULL, module, "pointer"));
    EXPECT_OK(cuMemcpyDtoH(&got, pointer, 8));
    EXPECT_EQ(got, counter);
    EXPECT_OK(launch(functions[KERNEL_COUNT_UP], 3, 5, 0, NULL));
    EXPECT_OK(cuMemcpyDtoH(&v, counter, 4));
    EXPECT_EQ(v, 7 + 15);
    // Another module has variables of its own.
    EXPECT_OK(cuModuleLoadData(&other, &kernels_table));
    EXPECT_OK(cuModuleGetGlobal(&counter, NULL, other, "counter"));
    EXPECT_OK(cuMemcpyDtoH(&v, counter, 4));
    EXPECT_EQ(v, 7);
    EXPECT_OK(cuModuleUnload(other));
    EXPECT_ERROR(cuMemcpyDtoH(&v, counter, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuModuleGetGlobal(&counter, NULL, other, "counter"), CUDA_ERROR_INVALID_HANDLE);
}

// ---- faults: each ends the context ----

static void expect_fault(int kernel, CUresult code)
{
    if (!start())
        SKIP("no libffi");
    void *arguments[] = {&memory};
    CUcontext context;
    EXPECT_OK(launch(functions[kernel], 2, 32, 64, arguments));
    EXPECT_ERROR(cuCtxSynchronize(), code);
    EXPECT_ERROR(cuMemsetD8(memory, 0, 4), code);
    EXPECT_ERROR(cuCtxCreate(&context, NULL, 0, 0), code);
}

TEST(fault_address)
{
    expect_fault(KERNEL_BAD_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(fault_address_in_fiber)
{
    expect_fault(KERNEL_BAD_AFTER_BARRIER, CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(fault_jump)
{
    expect_fault(KERNEL_BAD_JUMP, CUDA_ERROR_ILLEGAL_INSTRUCTION);
}

TEST(fault_division)
{
#if !defined(__x86_64__)
    SKIP("the processor gives 0");
#endif
    if (SANITIZED)
        SKIP("a sanitizer has its own handler");
    expect_fault(KERNEL_DIVIDE, CUDA_ERROR_LAUNCH_FAILED);
}

TEST(fault_builtin_trap)
{
    if (SANITIZED)
        SKIP("a sanitizer has its own handler");
    expect_fault(KERNEL_BUILTIN_TRAP, CUDA_ERROR_LAUNCH_FAILED);
}

TEST(fault_trap)
{
    expect_fault(KERNEL_TRAP, CUDA_ERROR_LAUNCH_FAILED);
}

TEST(fault_assert)
{
    expect_fault(KERNEL_ASSERT, CUDA_ERROR_ASSERT);
}

TEST(fault_stack)
{
    if (SANITIZED)
        SKIP("a sanitizer reports the overflow itself");
    expect_fault(KERNEL_RECURSE, CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(fault_stack_in_fiber)
{
    if (SANITIZED)
        SKIP("a sanitizer reports the overflow itself");
    expect_fault(KERNEL_RECURSE_BARRIER, CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(barrier_without_flag)
{
    expect_fault(KERNEL_NO_FLAG, CUDA_ERROR_LAUNCH_FAILED);
}

TEST(freed_memory)
{
    if (!start())
        SKIP("no libffi");
    CUdeviceptr gone;
    EXPECT_OK(cuMemAlloc(&gone, 64 << 20));
    EXPECT_OK(cuMemFree(gone));
    unsigned factor = 1, count = 1;
    void *arguments[] = {&gone, &factor, &count};
    EXPECT_OK(launch(functions[KERNEL_SCALE], 1, 1, 0, arguments));
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

// The program's own handlers get the program's own faults, before and after a kernel has failed.
static sigjmp_buf jump;
static volatile sig_atomic_t handled;

static void handle(int signal)
{
    handled = signal;
    siglongjmp(jump, 1);
}

static void expect_handled(int signal)
{
    handled = 0;
    if (!sigsetjmp(jump, 1)) {
        if (signal == SIGTRAP)
            raise(SIGTRAP);
        else if (signal == SIGSEGV)
            *(volatile int *)(uintptr_t)(16 + handled) = 1;
        else
            __builtin_trap();
    }
    EXPECT_EQ(handled, signal);
}

TEST(handlers_of_the_program)
{
#if !defined(__x86_64__)
    SKIP("the signal of a trap differs");
#endif
    if (SANITIZED)
        SKIP("a sanitizer has its own handlers");
    static const int signals[] = {SIGSEGV, SIGILL, SIGTRAP};
    for (int i = 0; i < 3; i++)
        signal(signals[i], handle);
    if (!start())
        SKIP("no libffi");
    for (int i = 0; i < 3; i++)
        expect_handled(signals[i]);
    void *arguments[] = {&memory};
    EXPECT_OK(launch(functions[KERNEL_BUILTIN_TRAP], 1, 1, 0, arguments));
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    for (int i = 0; i < 3; i++)
        expect_handled(signals[i]);
}

TEST(driver_calls_in_kernel)
{
    if (!start())
        SKIP("no libffi");
    EXPECT_OK(launch(functions[KERNEL_CALLS_DRIVER], 1, 1, 0, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(kernels_result, CUDA_ERROR_NOT_PERMITTED);
    EXPECT(cardlessThisThread() == NULL); // outside of a kernel
    EXPECT(cardlessVariable(0) == NULL);
    cardlessBarrier();
    cardlessTrap();
}

// ---- streams ----

TEST(arguments_are_copied)
{
    if (!start())
        SKIP("no libffi");
    CUstream stream;
    EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    unsigned *flag;
    EXPECT_OK(cuMemHostAlloc((void **)&flag, 4, 0));
    *flag = 0;
    EXPECT_OK(
        cuStreamWaitValue32(stream, (CUdeviceptr)(uintptr_t)flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    unsigned count = 1, factor = 0;
    CUdeviceptr data = memory + 4; // word 1 is index 0 of it
    void *arguments[] = {&data, &factor, &count};
    EXPECT_OK(cuLaunchKernel(functions[KERNEL_ADD], 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
    factor = 9;
    data = 0;
    EXPECT_ERROR(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    EXPECT_OK(cuStreamSynchronize(stream));
    EXPECT_EQ(word(1), 1);
}

TEST(unload_while_used)
{
    if (!start())
        SKIP("no libffi");
    void *arguments[] = {&memory};
    EXPECT_OK(launch(functions[KERNEL_BLOCKS], 5, 64, 0, arguments));
    EXPECT_OK(cuModuleUnload(module));
    EXPECT_EQ(word(4), 64 * 1000 + 4);
    EXPECT_ERROR(launch(functions[KERNEL_BLOCKS], 1, 1, 0, arguments), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
}

// "The validity of the cluster dimensions is checked at launch time."
TEST(required_cluster)
{
    if (!start())
        SKIP("no libffi");
    const CUfunction f = functions[KERNEL_BLOCKS];
    void *arguments[] = {&memory};
    EXPECT_OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 3));
    EXPECT_ERROR(launch(f, 3, 1, 0, arguments), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    EXPECT_OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1));
    EXPECT_OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1));
    EXPECT_ERROR(launch(f, 4, 1, 0, arguments), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    EXPECT_OK(launch(f, 3, 1, 0, arguments));
    EXPECT_OK(cuCtxSynchronize());
}

// Dimensions by which a careless driver divides.
TEST(empty_dimensions)
{
    if (!start())
        SKIP("no libffi");
    int clusters;
    unsigned empty[][3] = {{0, 1, 1}, {1, 0, 1}, {65536, 65536, 1}};
    CUlaunchAttribute attributes[] = {
        {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {1, 1, 1}},
        {.id = CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
         .value.preferredClusterDim = {2, 1, 1}}};
    CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .attrs = attributes};
    config.numAttrs = 1;
    for (unsigned i = 0; i < 3; i++) {
        config.blockDimX = empty[i][0];
        config.blockDimY = empty[i][1];
        config.blockDimZ = empty[i][2];
        EXPECT_ERROR(cuOccupancyMaxActiveClusters(&clusters, functions[KERNEL_BLOCKS], &config),
                     CUDA_ERROR_INVALID_VALUE);
    }
    config.blockDimX = config.blockDimY = config.numAttrs = 2;
    attributes[0].value.clusterDim.y = 0;
    void *arguments[] = {&memory};
    EXPECT(cuLaunchKernelEx(&config, functions[KERNEL_BLOCKS], arguments, NULL) != CUDA_SUCCESS);
}

TESTS(CASE(threads), CASE(indices), CASE(all_types), CASE(extra), CASE(one_by_one), CASE(per_block),
      CASE(barriers), CASE(barrier_of_some), CASE(grid_barrier),
      CASE(grid_barrier_needs_cooperation), CASE(shared_memory), CASE(variables),
      CASE(fault_address), CASE(fault_address_in_fiber), CASE(fault_jump), CASE(fault_division),
      CASE(fault_builtin_trap), CASE(fault_trap), CASE(fault_assert), CASE(fault_stack),
      CASE(fault_stack_in_fiber), CASE(barrier_without_flag), CASE(freed_memory),
      CASE(handlers_of_the_program), CASE(driver_calls_in_kernel), CASE(arguments_are_copied),
      CASE(unload_while_used), CASE(required_cluster), CASE(empty_dimensions))
