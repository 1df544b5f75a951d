// SPDX-License-Identifier: MIT
// The manual's "API synchronization behavior": which fills and copies return before they are done.
// A word of pinned memory holds up the default stream; a call that waits for its work returns only
// after another thread has written that word.
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "../harness.h"

enum { SIZE = 4096, FILE_SIZE = 1 << 21 };

static CUdeviceptr device, managed, gate;
static void *pinned;
static uint32_t *gate_word;
static atomic_bool opened;

static void start(void)
{
    void *word;
    test_context();
    MUST(cuMemAlloc(&device, SIZE));
    MUST(cuMemsetD8(device, 0, SIZE));
    MUST(cuMemAllocManaged(&managed, SIZE, CU_MEM_ATTACH_GLOBAL));
    MUST(cuMemHostAlloc(&pinned, SIZE, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostAlloc(&word, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    gate_word = word;
    *gate_word = 0;
    MUST(cuMemHostGetDevicePointer(&gate, word, 0));
    memset(pinned, 0, SIZE);
    MUST(cuCtxSynchronize());
}

static void hold(CUstream stream)
{
    __atomic_store_n(gate_word, 0, __ATOMIC_RELEASE);
    MUST(cuStreamWaitValue32(stream, gate, 1, CU_STREAM_WAIT_VALUE_EQ));
    EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
}

static void open_gate(void)
{
    __atomic_store_n(gate_word, 1, __ATOMIC_RELEASE);
}

static void *open_later(void *unused)
{
    (void)unused;
    usleep(20000);
    atomic_store(&opened, true);
    open_gate();
    return NULL;
}

static CUdeviceptr pinned_at(unsigned offset)
{
    return (CUdeviceptr)(uintptr_t)pinned + offset;
}

static unsigned char byte(unsigned offset)
{
    unsigned char b = 0;
    MUST(cuMemcpyDtoH(&b, device + offset, 1));
    return b;
}

// This thread opens the gate after the calls, so a call that waits never returns.
TEST(device_work_returns)
{
    CUstream blocking;
    start();
    MUST(cuStreamCreate(&blocking, 0));
    hold(blocking);
    EXPECT_OK(cuMemsetD8(device, 5, 64));
    EXPECT_OK(cuMemsetD16(device + 64, 0x0505, 32));
    EXPECT_OK(cuMemsetD2D32(device + 128, 64, 0x05050505, 16, 2));
    EXPECT_OK(cuMemcpyDtoD(device + 1024, device, 256));
    EXPECT_OK(cuMemcpy(device + 2048, device + 1024, 256));
    EXPECT_OK(cuMemsetD8(device, 6, 256)); // after the copies
    EXPECT_EQ(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    open_gate();
    EXPECT_OK(cuStreamSynchronize(NULL));
    EXPECT_EQ(byte(0), 6);
    EXPECT_EQ(byte(255), 6);
    EXPECT_EQ(byte(1024), 5);
    EXPECT_EQ(byte(1024 + 255), 5);
    EXPECT_EQ(byte(2048 + 255), 5);
}

TEST(array_returns)
{
    const CUDA_ARRAY_DESCRIPTOR d = {
        .Width = 64, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    CUarray array;
    start();
    MUST(cuArrayCreate(&array, &d));
    hold(NULL);
    EXPECT_OK(cuMemsetD8(device, 7, 64));
    EXPECT_OK(cuMemcpyDtoA(array, 0, device, 64));
    EXPECT_OK(cuMemcpyAtoD(device + 64, array, 0, 64));
    open_gate();
    EXPECT_EQ(byte(127), 7);
}

// Later work of other streams keeps its order too.
TEST(blocking_stream_follows)
{
    CUstream blocking;
    start();
    MUST(cuStreamCreate(&blocking, 0));
    hold(NULL);
    EXPECT_OK(cuMemsetD8(device, 8, 64));
    EXPECT_OK(cuMemcpyDtoDAsync(device + 64, device, 64, blocking));
    EXPECT_EQ(cuStreamQuery(blocking), CUDA_ERROR_NOT_READY);
    open_gate();
    EXPECT_OK(cuStreamSynchronize(blocking));
    EXPECT_EQ(byte(64), 8);
}

#define EXPECT_WAITS(...)                                                                          \
    do {                                                                                           \
        pthread_t thread;                                                                          \
        atomic_store(&opened, false);                                                              \
        hold(NULL);                                                                                \
        pthread_create(&thread, NULL, open_later, NULL);                                           \
        EXPECT_OK(__VA_ARGS__);                                                                    \
        EXPECT(atomic_load(&opened));                                                              \
        pthread_join(thread, NULL);                                                                \
    } while (0)

// Arrays end, and the stacks of kernels change, when all work of the context is done.
TEST(ends_of_arrays_wait)
{
    const CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 64, .Height = 64, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    CUarray array, level;
    CUmipmappedArray mipmap;
    start();
    MUST(cuArray3DCreate(&array, &d));
    EXPECT_WAITS(cuArrayDestroy(array));
    MUST(cuMipmappedArrayCreate(&mipmap, &d, 2));
    EXPECT_WAITS(cuMipmappedArrayDestroy(mipmap));
    // A level belongs to its mipmapped array, so nothing ends.
    MUST(cuMipmappedArrayCreate(&mipmap, &d, 2));
    MUST(cuMipmappedArrayGetLevel(&level, mipmap, 0));
    hold(NULL);
    EXPECT_OK(cuArrayDestroy(level));
    open_gate();
    EXPECT_OK(cuMipmappedArrayDestroy(mipmap));
}

TEST(stack_limit_waits)
{
    size_t size;
    start();
    MUST(cuCtxGetLimit(&size, CU_LIMIT_STACK_SIZE));
    hold(NULL);
    EXPECT_OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, size)); // the same
    EXPECT_OK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 22));
    open_gate();
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_WAITS(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, size + 4096));
}

TEST(host_work_waits)
{
    static char pageable[64];
    start();
    EXPECT_WAITS(cuMemsetD8(pinned_at(0), 1, 64));
    EXPECT_EQ(*(unsigned char *)pinned, 1);
    EXPECT_WAITS(cuMemsetD8(managed, 2, 64));
    EXPECT_WAITS(cuMemcpyHtoD(device, pinned, 64));
    EXPECT_WAITS(cuMemcpyDtoH(pinned, device, 64));
    EXPECT_WAITS(cuMemcpyDtoH(pageable, device, 64));
    EXPECT_WAITS(cuMemcpyDtoD(managed, device, 64));
    EXPECT_WAITS(cuMemcpyDtoHAsync(pageable, device, 64, NULL));
    EXPECT_WAITS(cuMemcpyAsync(pinned_at(0), pinned_at(1024), 64, NULL));
}

TEST(pinned_async_returns)
{
    start();
    memset(pinned, 9, 64);
    hold(NULL);
    EXPECT_OK(cuMemcpyHtoDAsync(device, pinned, 64, NULL));
    EXPECT_OK(cuMemcpyDtoHAsync((char *)pinned + 1024, device, 64, NULL));
    EXPECT_OK(cuMemsetD8Async(pinned_at(2048), 9, 64, NULL));
    EXPECT_EQ(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    open_gate();
    EXPECT_OK(cuStreamSynchronize(NULL));
    EXPECT_EQ(((unsigned char *)pinned)[1024], 9);
    EXPECT_EQ(((unsigned char *)pinned)[2048], 9);
}

// A buffer whose exporter has truncated the file.
static CUdeviceptr broken(void)
{
    CUexternalMemory memory;
    CUdeviceptr p = 0;
    int fd = memfd_create("truncated", MFD_CLOEXEC);
    EXPECT(fd >= 0 && !ftruncate(fd, FILE_SIZE));
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .handle.fd = dup(fd), .size = FILE_SIZE};
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer = {.size = FILE_SIZE};
    MUST(cuImportExternalMemory(&memory, &desc));
    MUST(cuExternalMemoryGetMappedBuffer(&p, memory, &buffer));
    EXPECT(!ftruncate(fd, 0));
    return p;
}

TEST(fill_fails_later)
{
    start();
    CUdeviceptr p = broken();
    hold(NULL);
    EXPECT_OK(cuMemsetD8(p, 1, 64));
    EXPECT_EQ(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    open_gate();
    EXPECT_ERROR(cuStreamSynchronize(NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
}

// Also if nothing holds up the copy.
TEST(copy_fails_later)
{
    start();
    CUdeviceptr p = broken();
    EXPECT_OK(cuMemcpyDtoD(device, p, 64));
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TESTS(CASE(device_work_returns), CASE(array_returns), CASE(blocking_stream_follows),
      CASE(host_work_waits), CASE(pinned_async_returns), CASE(fill_fails_later),
      CASE(copy_fails_later), CASE(ends_of_arrays_wait), CASE(stack_limit_waits))
