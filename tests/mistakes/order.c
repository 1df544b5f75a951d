// SPDX-License-Identifier: MIT
// Work without order (O01 to O03), which CARDLESS_CHECK=order reports.
#include "../order.h"

TEST(o01_no_event)
{
    order_begin();
    CUdeviceptr p = order_p, q = order_q;
    CUstream fill = order_a, copy = order_b;
    // [O01 wrong]
    EXPECT_OK(cuMemsetD8Async(p, 0, 64, fill));
    EXPECT_OK(cuMemcpyDtoDAsync(q, p, 64, copy)); // may read the bytes before they are filled
    // [end]
    EXPECT_DIAGNOSTIC(O01);
}

TEST(o01_twin)
{
    order_begin();
    CUdeviceptr p = order_p, q = order_q;
    CUstream fill = order_a, copy = order_b;
    CUevent filled = order_event();
    // [O01 right]
    EXPECT_OK(cuMemsetD8Async(p, 0, 64, fill));
    EXPECT_OK(cuEventRecord(filled, fill));
    EXPECT_OK(cuStreamWaitEvent(copy, filled, 0));
    EXPECT_OK(cuMemcpyDtoDAsync(q, p, 64, copy));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(o02_freed_too_early)
{
    order_begin();
    CUdeviceptr p = order_p;
    CUstream fill = order_a;
    // [O02 wrong]
    EXPECT_OK(cuMemsetD8Async(p, 0, 64, fill));
    EXPECT_OK(cuMemFree(p)); // need not wait for the stream
    // [end]
    EXPECT_DIAGNOSTIC(O02);
}

TEST(o02_twin)
{
    order_begin();
    CUdeviceptr p = order_p;
    CUstream fill = order_a;
    // [O02 right]
    EXPECT_OK(cuMemsetD8Async(p, 0, 64, fill));
    EXPECT_OK(cuStreamSynchronize(fill));
    EXPECT_OK(cuMemFree(p));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(o02_freed_in_another_stream)
{
    CUdeviceptr p;
    order_begin();
    MUST(cuMemAllocAsync(&p, 64, order_a));
    MUST(cuStreamSynchronize(order_a));
    EXPECT_OK(cuMemsetD8Async(p, 0, 64, order_a));
    EXPECT_OK(cuMemFreeAsync(p, order_b));
    EXPECT_DIAGNOSTIC(O02);
}

TEST(o02_freed_in_its_stream)
{
    CUdeviceptr p;
    order_begin();
    MUST(cuMemAllocAsync(&p, 64, order_a));
    EXPECT_OK(cuMemsetD8Async(p, 0, 64, order_a));
    EXPECT_OK(cuMemFreeAsync(p, order_a));
    MUST(cuMemAllocAsync(&p, 64, order_b)); // perhaps the same addresses
    EXPECT_OK(cuMemsetD8Async(p, 0, 64, order_b));
    EXPECT_OK(cuMemFreeAsync(p, order_b));
    EXPECT_NO_DIAGNOSTIC();
}

TEST(o02_host_memory)
{
    void *host;
    order_begin();
    MUST(cuMemHostAlloc(&host, 64, 0));
    EXPECT_OK(cuMemcpyDtoHAsync(host, order_p, 64, order_a));
    EXPECT_OK(cuMemFreeHost(host));
    EXPECT_DIAGNOSTIC(O02);
}

TEST(o02_registered_memory)
{
    static char host[4096];
    order_begin();
    MUST(cuMemHostRegister(host, sizeof host, 0));
    EXPECT_OK(cuMemcpyDtoHAsync(host, order_p, 64, order_a));
    EXPECT_OK(cuMemHostUnregister(host));
    EXPECT_DIAGNOSTIC(O02);
}

TEST(o02_array)
{
    CUDA_ARRAY_DESCRIPTOR d = {.Width = 64, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    CUarray a;
    order_begin();
    MUST(cuArrayCreate(&a, &d));
    MUST(cuMemcpyDtoA(a, 0, order_p, 64));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_OK(cuArrayDestroy(a));
    EXPECT_NO_DIAGNOSTIC();
    void *host;
    MUST(cuMemHostAlloc(&host, 64, 0));
    MUST(cuArrayCreate(&a, &d));
    EXPECT_OK(cuMemcpyHtoAAsync(a, 0, host, 64, order_a));
    EXPECT_OK(cuArrayDestroy(a));
    EXPECT_DIAGNOSTIC(O02);
}

TEST(o03_used_in_another_stream)
{
    order_begin();
    CUdeviceptr p;
    CUstream allocates = order_a, fills = order_b;
    // [O03 wrong]
    EXPECT_OK(cuMemAllocAsync(&p, 64, allocates));
    EXPECT_OK(cuMemsetD8Async(p, 0, 64, fills)); // may run before the allocation
    // [end]
    EXPECT_DIAGNOSTIC(O03);
}

TEST(o03_twin)
{
    order_begin();
    CUdeviceptr p;
    CUstream allocates = order_a, fills = order_b;
    CUevent allocated = order_event();
    // [O03 right]
    EXPECT_OK(cuMemAllocAsync(&p, 64, allocates));
    EXPECT_OK(cuEventRecord(allocated, allocates));
    EXPECT_OK(cuStreamWaitEvent(fills, allocated, 0));
    EXPECT_OK(cuMemsetD8Async(p, 0, 64, fills));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TESTS(CASE(o01_no_event), CASE(o01_twin), CASE(o02_freed_too_early), CASE(o02_twin),
      CASE(o02_freed_in_another_stream), CASE(o02_freed_in_its_stream), CASE(o02_host_memory),
      CASE(o02_registered_memory), CASE(o02_array), CASE(o03_used_in_another_stream),
      CASE(o03_twin))
