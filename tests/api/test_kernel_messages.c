// SPDX-License-Identifier: MIT
// Messages about kernels that are functions of the host: their faults, their calls and their
// arguments.
#include <cardless.h>
#include <signal.h>

#include "../harness.h"

static CUresult result; // that the kernel has got from the driver

static void kernel_shared(unsigned *data, unsigned offset)
{
    (void)data;
    ((volatile char *)cardlessThisThread()->dynamic_shared)[offset] = 1;
}

static void kernel_wild(unsigned *data, unsigned offset)
{
    (void)offset;
    *(volatile unsigned *)((uintptr_t)data | UINT64_C(1) << 62) = 1;
}

static void kernel_calls(unsigned *data, unsigned offset)
{
    CUdeviceptr p;
    (void)data;
    (void)offset;
    result = cuMemAlloc(&p, 16);
}

#define KERNEL(name_)                                                                              \
    {                                                                                              \
        .name = #name_, .function = (void (*)(void))kernel_##name_, .params = params,              \
        .param_count = 2                                                                           \
    }
static const cardlessParam params[] = {{.type = CARDLESS_POINTER}, {.type = CARDLESS_UINT32}};
static const cardlessKernelDesc kernels[] = {KERNEL(shared), KERNEL(wild), KERNEL(calls)};
static const cardlessModuleDesc table = {.magic = CARDLESS_MODULE_MAGIC,
                                         .version = CARDLESS_VERSION,
                                         .kernel_count = 3,
                                         .kernels = kernels};

static CUfunction start(const char *kernel)
{
    CUmodule module;
    CUfunction f;
    test_context();
    CUresult r = cuModuleLoadData(&module, &table);
    if (r == CUDA_ERROR_NOT_SUPPORTED)
        SKIP("no libffi");
    MUST(r);
    MUST(cuModuleGetFunction(&f, module, kernel));
    return f;
}

static void launch(const char *kernel, unsigned offset, unsigned shared_B)
{
    CUdeviceptr p;
    CUfunction f = start(kernel);
    MUST(cuMemAlloc(&p, 16));
    void *arguments[] = {&p, &offset};
    EXPECT_OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, shared_B, NULL, arguments, NULL));
}

TEST(past_shared_memory)
{
    launch("shared", 80, 64);
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT(test_was_reported(", 16 bytes past the 64 bytes of dynamic shared memory"));
}

// The processor does not say which address it was.
TEST(non_canonical_address)
{
#if !defined(__x86_64__)
    SKIP("the processor reports the address");
#endif
    launch("wild", 0, 0);
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT(test_was_reported("access to a non-canonical address, or a privileged instruction"));
    EXPECT(!test_was_reported("0x0"));
}

TEST(calls_in_a_kernel)
{
    launch("calls", 0, 0);
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(result, CUDA_ERROR_NOT_PERMITTED);
    EXPECT(
        test_was_reported("a kernel must not make CUDA calls; make this call after it has ended"));
}

TEST(buffers_of_extra)
{
    CUfunction f = start("calls");
    size_t size = 0;
    unsigned char buffer[16] = {0};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    EXPECT_ERROR(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT(
        test_was_reported("extra has a CU_LAUNCH_PARAM_BUFFER_SIZE of 0, but kernel calls has 12"));
    size = 3;
    EXPECT_OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    EXPECT(test_was_reported(
        "the buffer of extra has 3 bytes; the parameters of kernel calls take 12"));
    void *wrong[] = {(void *)9, NULL, CU_LAUNCH_PARAM_END};
    EXPECT_ERROR(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, wrong),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT(test_was_reported("extra has the name 0x9 with the value 0, which"));
}

TESTS(CASE(past_shared_memory), CASE(non_canonical_address), CASE(calls_in_a_kernel),
      CASE(buffers_of_extra))
