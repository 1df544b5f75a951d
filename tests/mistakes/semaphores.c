// SPDX-License-Identifier: MIT
// Mistakes with external semaphores (S02 to S09; deadlocks.c has S05, and vulkan_order.c S01).
#include "../semaphore.h"

// The descriptor of a new semaphore.
static int semaphore_of(cardlessSemaphoreKind kind)
{
    return semaphore_fd(semaphore_new(kind, 0));
}

static CUresult try_semaphore(int type, int fd)
{
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d = semaphore_desc(type, fd);
    CUexternalSemaphore s;
    CUresult r = cuImportExternalSemaphore(&s, &d);
    if (!r)
        EXPECT_OK(cuDestroyExternalSemaphore(s));
    return r;
}

TEST(s02_timeline_as_binary)
{
    test_context();
    // [S02 wrong]
    int fd = semaphore_of(CARDLESS_SEMAPHORE_TIMELINE);
    EXPECT_ERROR(try_semaphore(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, fd),
                 CUDA_ERROR_INVALID_HANDLE);
    // [end]
    EXPECT_DIAGNOSTIC(S02);
    EXPECT_EQ(close(fd), 0); // a failed import leaves it to the program
}

TEST(s02_binary_as_timeline)
{
    test_context();
    int fd = semaphore_of(CARDLESS_SEMAPHORE_BINARY);
    EXPECT_ERROR(try_semaphore(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD, fd),
                 CUDA_ERROR_INVALID_HANDLE);
    EXPECT_DIAGNOSTIC(S02);
    EXPECT_EQ(close(fd), 0);
}

// Recorded: vksem/types-of-timeline.
TEST(s02_as_the_driver)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    test_context();
    int fd = semaphore_of(CARDLESS_SEMAPHORE_TIMELINE);
    EXPECT_OK(try_semaphore(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, fd));
    EXPECT_DIAGNOSTIC(S02);
    EXPECT(fcntl(fd, F_GETFD) < 0);
}

static int memory_fd(void)
{
    CUmemGenericAllocationHandle memory;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    int fd;
    MUST(cuMemCreate(&memory, 2 << 20, &prop, 0));
    MUST(cuMemExportToShareableHandle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return fd;
}

TEST(s02_memory)
{
    test_context();
    int fd = memory_fd();
    EXPECT_ERROR(try_semaphore(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, fd),
                 CUDA_ERROR_INVALID_HANDLE);
    EXPECT_DIAGNOSTIC(S02);
    EXPECT_EQ(close(fd), 0);
}

// The driver accepts memory (recorded: sem_args/fd-vmm). Nothing can be done with such a semaphore.
TEST(s02_memory_as_the_driver)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    test_context();
    CUexternalSemaphore s = semaphore_import(CARDLESS_SEMAPHORE_BINARY, memory_fd());
    EXPECT_DIAGNOSTIC(S02);
    EXPECT_ERROR(cu_signal(s, 0, NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cu_wait(s, 0, NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuDestroyExternalSemaphore(s));
}

TEST(s02_twin)
{
    test_context();
    // [S02 right]
    int fd = semaphore_of(CARDLESS_SEMAPHORE_TIMELINE);
    EXPECT_OK(try_semaphore(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD, fd));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(s03_signalled_twice)
{
    test_context();
    struct both s = binary();
    // [S03 wrong]
    EXPECT_OK(cu_signal(s.cuda, 0, NULL));
    EXPECT_OK(cu_signal(s.cuda, 0, NULL)); // lost
    // [end]
    EXPECT_DIAGNOSTIC(S03);
    EXPECT_OK(cu_wait(s.cuda, 0, NULL)); // recorded: vksem/b-signalled-twice
    EXPECT_OK(cuStreamQuery(NULL));
    EXPECT_OK(cu_wait(s.cuda, 0, NULL));
    EXPECT_EQ(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
}

TEST(s03_two_waits_for_one_signal)
{
    test_context();
    struct both s = binary();
    CUstream a = new_stream(), b = new_stream();
    EXPECT_OK(cu_wait(s.cuda, 0, a));
    EXPECT_NO_DIAGNOSTIC();
    EXPECT_OK(cu_wait(s.cuda, 0, b));
    EXPECT_DIAGNOSTIC(S03);
    EXPECT_OK(cu_signal(s.cuda, 0, NULL));
    EXPECT_OK(cuStreamSynchronize(a));
    EXPECT_EQ(cuStreamQuery(b), CUDA_ERROR_NOT_READY);
}

TEST(s03_twin)
{
    test_context();
    struct both s = binary();
    // [S03 right]
    EXPECT_OK(cu_signal(s.cuda, 0, NULL));
    EXPECT_OK(cu_wait(s.cuda, 0, NULL));
    EXPECT_OK(cu_signal(s.cuda, 0, NULL));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(s04_value_falls)
{
    test_context();
    struct both s = timeline(0);
    // [S04 wrong]
    EXPECT_OK(cu_signal(s.cuda, 5, NULL));
    EXPECT_OK(cu_signal(s.cuda, 3, NULL));
    // [end]
    EXPECT_DIAGNOSTIC(S04);
    EXPECT_EQ(value_of(s), 3); // recorded: vksem/t-signal-0-5-3
}

TEST(s04_value_stays)
{
    test_context();
    struct both s = timeline(4);
    EXPECT_OK(cardlessSemaphoreSignal(s.host, 4));
    EXPECT_DIAGNOSTIC(S04);
}

TEST(s04_twin)
{
    test_context();
    struct both s = timeline(0);
    // [S04 right]
    EXPECT_OK(cu_signal(s.cuda, 3, NULL));
    EXPECT_OK(cu_signal(s.cuda, 5, NULL));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(s06_destroyed_while_waiting)
{
    test_context();
    struct both s = timeline(0);
    CUstream stream = new_stream();
    // [S06 wrong]
    EXPECT_OK(cu_wait(s.cuda, 1, stream));
    EXPECT_OK(cuDestroyExternalSemaphore(s.cuda));
    // [end]
    EXPECT_DIAGNOSTIC(S06);
    EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY); // the wait keeps the payload
    EXPECT_OK(cardlessSemaphoreSignal(s.host, 1));
    EXPECT_OK(cuStreamSynchronize(stream));
}

TEST(s06_destroyed_before_its_signal)
{
    test_context();
    struct both s = timeline(0);
    CUstream stream = new_stream();
    atomic_uint *go = test_hold(stream);
    EXPECT_OK(cu_signal(s.cuda, 1, stream));
    EXPECT_OK(cuDestroyExternalSemaphore(s.cuda));
    EXPECT_DIAGNOSTIC(S06);
    *go = 1;
    EXPECT_OK(cuStreamSynchronize(stream));
    EXPECT_EQ(value_of(s), 1);
}

TEST(s06_twin)
{
    test_context();
    struct both s = timeline(1);
    CUstream stream = new_stream();
    // [S06 right]
    EXPECT_OK(cu_wait(s.cuda, 1, stream));
    EXPECT_OK(cuStreamSynchronize(stream));
    EXPECT_OK(cuDestroyExternalSemaphore(s.cuda));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(s07_null_element)
{
    test_context();
    struct both s = timeline(0);
    // [S07 wrong]
    CUexternalSemaphore list[2] = {s.cuda, NULL};
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS p[2] = {signal_params(1), signal_params(2)};
    EXPECT_ERROR(cuSignalExternalSemaphoresAsync(list, p, 2, NULL), CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(S07);
    EXPECT_EQ(value_of(s), 0); // nothing was signalled
}

TEST(s07_null_element_of_a_wait)
{
    test_context();
    EXPECT_ERROR(cu_wait(NULL, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_DIAGNOSTIC(S07);
}

TEST(s07_twin)
{
    test_context();
    struct both s = timeline(0), t = timeline(0);
    // [S07 right]
    CUexternalSemaphore list[2] = {s.cuda, t.cuda};
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS p[2] = {signal_params(1), signal_params(2)};
    EXPECT_OK(cuSignalExternalSemaphoresAsync(list, p, 2, NULL));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

static CUcontext context_of_device(int ordinal)
{
    CUcontext c;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&c, ordinal));
    MUST(cuCtxSetCurrent(c));
    return c;
}

TEST(s08_another_device)
{
    test_setting("CARDLESS_DEVICES", "h100,h100");
    // [S08 wrong]
    context_of_device(0);
    struct both s = timeline(0);
    context_of_device(1); // a worker thread, with its own device
    EXPECT_ERROR(cu_signal(s.cuda, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(S08);
    EXPECT_EQ(value_of(s), 0);
}

// The stream's context counts, not the current one.
TEST(s08_another_context)
{
    CUcontext other;
    CUstream stream, own;
    CUcontext context = test_context();
    struct both s = timeline(0);
    MUST(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
    MUST(cuCtxCreate(&other, NULL, 0, 0));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    EXPECT_OK(cu_signal(s.cuda, 1, own));
    EXPECT_NO_DIAGNOSTIC();
    EXPECT_ERROR(cu_signal(s.cuda, 2, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_DIAGNOSTIC(S08);
    EXPECT_OK(cuCtxSetCurrent(context));
    EXPECT_ERROR(cu_signal(s.cuda, 2, stream), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cu_wait(s.cuda, 1, stream), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(value_of(s), 1);
}

TEST(s08_twin)
{
    test_setting("CARDLESS_DEVICES", "h100,h100");
    // [S08 right]
    CUcontext context = context_of_device(0);
    struct both s = timeline(0);
    EXPECT_OK(cuCtxSetCurrent(context)); // first in every thread
    EXPECT_OK(cu_signal(s.cuda, 1, NULL));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(s09_time_limit_without_effect)
{
    test_context();
    struct both s = timeline(1);
    // [S09 wrong]
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS p = wait_params(1);
    p.params.keyedMutex.timeoutMs = 100; // not for this kind of semaphore
    EXPECT_OK(cuWaitExternalSemaphoresAsync(&s.cuda, &p, 1, NULL));
    // [end]
    EXPECT_DIAGNOSTIC(S09);
}

TEST(s09_twin)
{
    test_context();
    struct both s = timeline(1);
    // [S09 right]
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS p = wait_params(1);
    EXPECT_OK(cuWaitExternalSemaphoresAsync(&s.cuda, &p, 1, NULL));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

// The descriptor of a semaphore belongs to the driver as that of memory does.
TEST(m01_semaphore)
{
    test_context();
    int fd = semaphore_of(CARDLESS_SEMAPHORE_BINARY);
    CUexternalSemaphore s = semaphore_import(CARDLESS_SEMAPHORE_BINARY, fd);
    close(fd);
    EXPECT_OK(cuDestroyExternalSemaphore(s));
    EXPECT_DIAGNOSTIC(M01);
}

TEST(m01_semaphore_imported_again)
{
    test_context();
    int fd = semaphore_of(CARDLESS_SEMAPHORE_BINARY);
    CUexternalSemaphore s = semaphore_import(CARDLESS_SEMAPHORE_BINARY, fd);
    EXPECT_ERROR(try_semaphore(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, fd),
                 CUDA_ERROR_INVALID_HANDLE);
    EXPECT_DIAGNOSTIC(M01);
    EXPECT_OK(cuDestroyExternalSemaphore(s));
    EXPECT(fcntl(fd, F_GETFD) < 0); // the driver has closed it
}

TEST(m04_m09_semaphore)
{
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d;
    CUexternalSemaphore s;
    test_context();
    EXPECT_ERROR(try_semaphore(0x10, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_DIAGNOSTIC(M09);
    memset(&d, 0, sizeof d);
    d.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D12_FENCE;
    d.handle.win32.handle = &d;
    d.handle.win32.name = L"fence";
    EXPECT_ERROR(cuImportExternalSemaphore(&s, &d), CUDA_ERROR_INVALID_VALUE);
    EXPECT_STR(test_reported(), "M09 M04");
    d.handle.win32.name = NULL;
    EXPECT_ERROR(cuImportExternalSemaphore(&s, &d), CUDA_ERROR_NOT_SUPPORTED);
}

TESTS(CASE(s02_timeline_as_binary), CASE(s02_binary_as_timeline), CASE(s02_as_the_driver),
      CASE(s02_memory), CASE(s02_memory_as_the_driver), CASE(s02_twin), CASE(s03_signalled_twice),
      CASE(s03_two_waits_for_one_signal), CASE(s03_twin), CASE(s04_value_falls),
      CASE(s04_value_stays), CASE(s04_twin), CASE(s06_destroyed_while_waiting),
      CASE(s06_destroyed_before_its_signal), CASE(s06_twin), CASE(s07_null_element),
      CASE(s07_null_element_of_a_wait), CASE(s07_twin), CASE(s08_another_device),
      CASE(s08_another_context), CASE(s08_twin), CASE(s09_time_limit_without_effect),
      CASE(s09_twin), CASE(m01_semaphore), CASE(m01_semaphore_imported_again),
      CASE(m04_m09_semaphore))
