// SPDX-License-Identifier: MIT
// Stream memory operations: conditions, order, refused calls, and batches that continue after a
// wait.
#include <pthread.h>

#include "../harness.h"

static CUstream s, t;
static CUdeviceptr device; // 64 KiB of device memory
static uint64_t *pinned;   // host memory that streams use at the address `mapped`
static CUdeviceptr mapped;

static void start(void)
{
    void *host;
    test_context();
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&device, 65536));
    MUST(cuMemsetD8(device, 0, 65536));
    MUST(cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    memset(host, 0, 4096);
    pinned = host;
    MUST(cuMemHostGetDevicePointer(&mapped, host, 0));
}

// Atomic, because other threads read pinned memory meanwhile.
static void put(int at, uint64_t value)
{
    __atomic_store_n(&pinned[at], value, __ATOMIC_RELEASE);
}

static uint64_t get(int at)
{
    return __atomic_load_n(&pinned[at], __ATOMIC_ACQUIRE);
}

static uint64_t word(CUdeviceptr at)
{
    uint64_t v = 0;
    MUST(cuMemcpyDtoH(&v, at, 8));
    return v;
}

TEST(write)
{
    start();
    MUST(cuMemsetD8(device, 0xff, 64));
    EXPECT_OK(cuStreamWriteValue32(s, device + 4, 0x11223344, 0));
    EXPECT_OK(cuStreamWriteValue64(s, device + 8, UINT64_C(0x1122334455667788), 0));
    EXPECT_OK(cuStreamWriteValue32(s, mapped, 7, CU_STREAM_WRITE_VALUE_DEFAULT));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(word(device), UINT64_C(0x11223344ffffffff));
    EXPECT_EQ(word(device + 8), UINT64_C(0x1122334455667788));
    EXPECT_EQ(word(device + 16), UINT64_MAX);
    EXPECT_EQ(get(0), 7);
}

TEST(refused)
{
    static uint32_t pageable;
    start();
    EXPECT_ERROR(cuStreamWriteValue32(s, device, 1, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamWriteValue64(s, device, 1, 0x80000000u), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamWriteValue32(s, device + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamWriteValue64(s, device + 4, 1, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamWaitValue64(s, device + 4, 1, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamWaitValue32(s, device, 0, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamWaitValue32(s, device, 0, CU_STREAM_WAIT_VALUE_FLUSH),
                 CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_ERROR(cuStreamWriteValue32(s, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamWriteValue32(s, 0x10000, 1, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamWaitValue32(s, (CUdeviceptr)(uintptr_t)&pageable, 0, 0),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamWriteValue32(s, device + 65536, 1, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamWriteValue64(s, UINT64_MAX - 7, 1, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamWriteValue32((CUstream)0x1234, device, 1, 0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuStreamWriteValue32(s, device + 65532, 1, 0));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(word(device), 0);
}

// The v1 operations, which cuGetProcAddress returns for old versions, are switched off on today's
// cards.
TEST(v1_is_off)
{
    CUresult (*wait)(CUstream, CUdeviceptr, cuuint32_t, unsigned) = NULL;
    start();
    MUST(cuGetProcAddress("cuStreamWaitValue32", (void **)&wait, 8000, 0, NULL));
    EXPECT_ERROR(wait(s, device, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
}

static void wait_for(int wide, uint64_t have, uint64_t value, unsigned condition, bool met)
{
    put(0, have);
    EXPECT_OK(wide ? cuStreamWaitValue64(s, mapped, value, condition)
                   : cuStreamWaitValue32(s, mapped, (uint32_t)value, condition));
    EXPECT_EQ(cuStreamQuery(s), met ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
    put(0, condition == CU_STREAM_WAIT_VALUE_NOR ? 0 : value);
    EXPECT_OK(cuStreamSynchronize(s));
}

TEST(conditions)
{
    start();
    for (int wide = 0; wide < 2; wide++) {
        uint64_t top = wide ? UINT64_C(1) << 63 : UINT64_C(1) << 31,
                 ones = wide ? UINT64_MAX : UINT32_MAX;
        wait_for(wide, 5, 5, CU_STREAM_WAIT_VALUE_GEQ, true);
        wait_for(wide, 4, 5, CU_STREAM_WAIT_VALUE_GEQ, false);
        wait_for(wide, top + 1, ones - 1, CU_STREAM_WAIT_VALUE_GEQ,
                 false); // the difference is less than half the range: greater
        wait_for(wide, 1, ones - 1, CU_STREAM_WAIT_VALUE_GEQ, true);
        wait_for(wide, 6, 5, CU_STREAM_WAIT_VALUE_EQ, false);
        wait_for(wide, 6, 2, CU_STREAM_WAIT_VALUE_AND, true);
        wait_for(wide, 4, 2, CU_STREAM_WAIT_VALUE_AND, false);
        wait_for(wide, ones - 1, 0, CU_STREAM_WAIT_VALUE_NOR, true);
        wait_for(wide, ones, 0, CU_STREAM_WAIT_VALUE_NOR, false);
    }
    // A 32-bit wait ignores the upper half of a 64-bit word.
    wait_for(0, UINT64_C(0xffffffff00000005), 5, CU_STREAM_WAIT_VALUE_EQ, true);
}

// A plain store ends the wait, even if its thread never calls the driver.
static void *store_later(void *unused)
{
    (void)unused;
    usleep(20000);
    put(1, 9);
    return NULL;
}

TEST(host_releases_stream)
{
    pthread_t thread;
    start();
    MUST(cuStreamWaitValue64(s, mapped + 8, 9, CU_STREAM_WAIT_VALUE_EQ));
    MUST(cuStreamWriteValue32(s, device, 1, 0));
    EXPECT_EQ(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    pthread_create(&thread, NULL, store_later, NULL);
    EXPECT_OK(cuStreamSynchronize(s));
    pthread_join(thread, NULL);
    EXPECT_EQ(word(device), 1);
}

TEST(stream_releases_stream)
{
    start();
    MUST(cuStreamWaitValue32(s, device, 3, CU_STREAM_WAIT_VALUE_GEQ));
    MUST(cuMemsetD32Async(device + 64, 5, 1, s));
    EXPECT_EQ(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    EXPECT_OK(cuStreamWriteValue32(t, device, 3, 0));
    EXPECT_OK(cuStreamSynchronize(t));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(word(device + 64), 5);
}

static CUstreamBatchMemOpParams operation(CUstreamBatchMemOpType type, CUdeviceptr address,
                                          uint64_t value, unsigned flags)
{
    CUstreamBatchMemOpParams p;
    memset(&p, 0, sizeof p);
    p.operation = type;
    p.writeValue.address = address;
    p.writeValue.value64 = value;
    p.writeValue.flags = flags;
    return p;
}

// Operations before the second wait should run. Operations after it should wait until its condition
// is met.
TEST(batch_goes_on)
{
    CUstreamBatchMemOpParams p[6];
    start();
    p[0] = operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, device, 1, 0);
    p[1] = operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, mapped, 1, CU_STREAM_WAIT_VALUE_EQ);
    p[2] = operation(CU_STREAM_MEM_OP_WRITE_VALUE_64, mapped + 16, 2, 0);
    memset(&p[3], 0, sizeof p[3]);
    p[3].operation = CU_STREAM_MEM_OP_BARRIER;
    p[4] = operation(CU_STREAM_MEM_OP_WAIT_VALUE_64, mapped + 8, 1, CU_STREAM_WAIT_VALUE_EQ);
    p[5] = operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, mapped + 24, 3, 0);
    EXPECT_OK(cuStreamBatchMemOp(s, 6, p, 0));
    memset(p, 0xff, sizeof p); // the driver has copied them
    EXPECT_OK(cuStreamWriteValue32(s, mapped + 32, 4, 0));
    EXPECT_EQ(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(word(device), 1);
    EXPECT_EQ(get(2), 0);
    put(0, 1);
    while (get(2) != 2)
        usleep(100);
    EXPECT_EQ(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(get(3), 0);
    EXPECT_EQ(get(4), 0);
    put(1, 1);
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(get(3), 3);
    EXPECT_EQ(get(4), 4);
}

TEST(batch_refused)
{
    CUstreamBatchMemOpParams p[256];
    start();
    for (int i = 0; i < 256; i++)
        p[i] = operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, device, (uint64_t)i, 0);
    EXPECT_OK(cuStreamBatchMemOp(s, 0, NULL, 0));
    EXPECT_ERROR(cuStreamBatchMemOp(s, 1, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamBatchMemOp(s, 1, p, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamBatchMemOp(s, 256, p, 0), CUDA_ERROR_INVALID_VALUE);
    p[1].writeValue.address++;
    EXPECT_ERROR(cuStreamBatchMemOp(s, 2, p, 0), CUDA_ERROR_INVALID_VALUE); // and nothing is done
    p[1] = operation((CUstreamBatchMemOpType)7, device, 0, 0);
    EXPECT_ERROR(cuStreamBatchMemOp(s, 2, p, 0), CUDA_ERROR_INVALID_VALUE);
    p[1] = operation(CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES, 0, 0, 0);
    EXPECT_ERROR(cuStreamBatchMemOp(s, 2, p, 0), CUDA_ERROR_NOT_SUPPORTED);
    memset(&p[1], 0, sizeof p[1]);
    p[1].operation = CU_STREAM_MEM_OP_BARRIER;
    p[1].memoryBarrier.flags = 2;
    EXPECT_ERROR(cuStreamBatchMemOp(s, 2, p, 0), CUDA_ERROR_INVALID_VALUE);
    for (int i = 1; i < 255; i++)
        p[i] = operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, device + 8, (uint64_t)i, 0);
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(word(device), 0);
    EXPECT_OK(cuStreamBatchMemOp(s, 255, p, 0));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(word(device + 8), 254);
}

// A wait that nobody ends should not prevent its context, or the process, from ending.
TEST(context_ends_under_a_wait)
{
    CUstreamBatchMemOpParams p[2];
    CUcontext c;
    start();
    MUST(cuCtxCreate(&c, NULL, 0, 0));
    MUST(cuStreamCreate(&s, 0));
    MUST(cuStreamCreate(&t, 0));
    MUST(cuMemAlloc(&device, 64));
    p[0] = operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, mapped, 1, 0);
    p[1] = operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, mapped + 8, 1, CU_STREAM_WAIT_VALUE_EQ);
    EXPECT_OK(cuStreamBatchMemOp(t, 2, p, 0));
    EXPECT_OK(cuStreamWaitValue32(s, device, 77, CU_STREAM_WAIT_VALUE_EQ));
    EXPECT_OK(cuStreamDestroy(s));
    EXPECT_OK(cuCtxDestroy(c));
}

TESTS(CASE(write), CASE(refused), CASE(v1_is_off), CASE(conditions), CASE(host_releases_stream),
      CASE(stream_releases_stream), CASE(batch_goes_on), CASE(batch_refused),
      CASE(context_ends_under_a_wait))
