// SPDX-License-Identifier: MIT
// Mistakes with cuImportExternalMemory (M01 to M13).
#include <cardless.h>

#include "external.h"

#include <sys/eventfd.h>

TEST(m01_descriptor_used_after_import)
{
    test_context();
    // [M01 wrong]
    int fd = own_fd(EXTERNAL_B);
    CUexternalMemory m = import(fd, EXTERNAL_B, 0);
    close(fd); // the mistake: the descriptor belongs to the driver
    EXPECT_OK(cuDestroyExternalMemory(m));
    // [end]
    EXPECT_DIAGNOSTIC(M01);
}

TEST(m01_descriptor_imported_again)
{
    test_context();
    int fd = own_fd(EXTERNAL_B);
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(fd, EXTERNAL_B);
    CUexternalMemory m = import(fd, EXTERNAL_B, 0), again;
    EXPECT_ERROR(cuImportExternalMemory(&again, &d), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuDestroyExternalMemory(m));
    EXPECT_DIAGNOSTIC(M01);
}

TEST(m01_twin)
{
    test_context();
    // [M01 right]
    int fd = own_fd(EXTERNAL_B), mine = dup(fd);
    CUexternalMemory m = import(fd, EXTERNAL_B, 0);
    EXPECT_EQ(close(mine), 0);
    EXPECT_OK(cuDestroyExternalMemory(m));
    // [end]
    EXPECT(fcntl(fd, F_GETFD) < 0); // the driver has closed it
    EXPECT_NO_DIAGNOSTIC();
}

static void leave_after_failed_import(void)
{
    test_context();
    // [M02 M12 wrong]
    int fd = eventfd(0, EFD_CLOEXEC); // not memory
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(fd, 4096);
    CUexternalMemory m;
    EXPECT_ERROR(cuImportExternalMemory(&m, &d), CUDA_ERROR_INVALID_HANDLE);
    // [end]
    EXPECT(fcntl(fd, F_GETFD) >= 0);
}

static void close_after_failed_import(void)
{
    test_context();
    // [M02 right]
    int fd = eventfd(0, EFD_CLOEXEC); // not memory
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(fd, 4096);
    CUexternalMemory m;
    if (cuImportExternalMemory(&m, &d) != CUDA_SUCCESS)
        close(fd); // it still belongs to the program
    // [end]
    EXPECT(fcntl(fd, F_GETFD) < 0);
}

// Runs `attempt` in its own process, which reports a leaked descriptor when it ends.
static void expect_at_exit(void (*attempt)(void), const char *ids)
{
    int status;
    pid_t child = fork();
    if (!child) {
        attempt();
        exit(test_failures != 0);
    }
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
    EXPECT_STR(test_reported(), ids);
}

TEST(m02_descriptor_leaks_after_failed_import)
{
    expect_at_exit(leave_after_failed_import, "M12 M02");
}

static void import_three_times(void)
{
    test_context();
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(eventfd(0, EFD_CLOEXEC), 4096);
    CUexternalMemory m;
    for (int i = 0; i < 3; i++)
        EXPECT_ERROR(cuImportExternalMemory(&m, &d), CUDA_ERROR_INVALID_HANDLE);
}

// One descriptor leaks, however often its import failed.
TEST(m02_once_for_a_descriptor)
{
    expect_at_exit(import_three_times, "M12 M12 M12 M02");
}

// Descriptors that the program has closed are forgotten.
static void leave_after_many(void)
{
    int fds[200];
    CUexternalMemory m;
    test_context();
    for (int i = 0; i < 200; i++) {
        fds[i] = eventfd(0, EFD_CLOEXEC);
        CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(fds[i], 4096);
        EXPECT_ERROR(cuImportExternalMemory(&m, &d), CUDA_ERROR_INVALID_HANDLE);
    }
    for (int i = 0; i < 199; i++)
        close(fds[i]);
}

TEST(m02_after_many_failed_imports)
{
    int status;
    pid_t child = fork();
    if (!child) {
        leave_after_many();
        exit(test_failures != 0);
    }
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
    const char *first = strstr(test_reported(), "M02");
    EXPECT(first && !strstr(first + 1, "M02"));
}

static void leave_semaphore(void)
{
    test_context();
    cardlessSemaphore s;
    CUexternalSemaphore imported;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d = {.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD};
    EXPECT_OK(cardlessSemaphoreCreate(&s, CARDLESS_SEMAPHORE_TIMELINE, 0));
    EXPECT_OK(cardlessSemaphoreExport(s, &d.handle.fd));
    EXPECT_ERROR(cuImportExternalSemaphore(&imported, &d), CUDA_ERROR_INVALID_HANDLE);
}

TEST(m02_semaphore_of_the_other_kind)
{
    expect_at_exit(leave_semaphore, "S02 M02");
}

TEST(m02_twin)
{
    expect_at_exit(close_after_failed_import, "M12");
}

TEST(m04_handle_and_name)
{
    test_context();
    // [M04 wrong]
    int object;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(0, 4096);
    CUexternalMemory m;
    d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32;
    d.handle.win32.handle = &object;
    d.handle.win32.name = &object;
    EXPECT_ERROR(cuImportExternalMemory(&m, &d), CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(M04);
}

TEST(m04_twin_is_m10_here)
{
    test_context();
    // [M04 right]
    int object;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(0, 4096);
    CUexternalMemory m;
    memset(&d.handle, 0, sizeof d.handle);
    d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32;
    d.handle.win32.handle = &object;
    EXPECT_ERROR(cuImportExternalMemory(&m, &d),
                 CUDA_ERROR_NOT_SUPPORTED); // right, but not on Linux
    // [end]
    EXPECT_DIAGNOSTIC(M10);
}

static CUresult import_d3d(unsigned flags)
{
    int object;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(0, 4096);
    CUexternalMemory m;
    memset(&d.handle, 0, sizeof d.handle);
    d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE;
    d.handle.win32.handle = &object;
    d.flags = flags;
    return cuImportExternalMemory(&m, &d);
}

TEST(m05_resource_without_dedicated)
{
    test_context();
    // [M05 wrong]
    EXPECT_ERROR(import_d3d(0), CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(M05);
}

TEST(m05_twin_is_m10_here)
{
    test_context();
    // [M05 right]
    EXPECT_ERROR(import_d3d(CUDA_EXTERNAL_MEMORY_DEDICATED), CUDA_ERROR_NOT_SUPPORTED);
    // [end]
    EXPECT_DIAGNOSTIC(M10);
}

TEST(m06_dedicated_and_offset)
{
    test_context();
    // [M06 wrong]
    CUexternalMemory m = import(own_fd(EXTERNAL_B), EXTERNAL_B, CUDA_EXTERNAL_MEMORY_DEDICATED);
    EXPECT_ERROR(try_buffer(m, 65536, 65536, 0), CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(M06);
}

TEST(m06_twin)
{
    test_context();
    // [M06 right]
    CUexternalMemory dedicated =
        import(own_fd(EXTERNAL_B), EXTERNAL_B, CUDA_EXTERNAL_MEMORY_DEDICATED);
    CUexternalMemory shared = import(own_fd(EXTERNAL_B), EXTERNAL_B, 0);
    EXPECT_OK(try_buffer(dedicated, 0, 65536, 0));
    EXPECT_OK(try_buffer(shared, 65536, 65536, 0));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(m07_size_of_the_resource)
{
    test_context();
    // [M07 wrong]
    import(mesa_memfd(73856), 65536, 0); // width * height * 4 of an image that the exporter pads
    // [end]
    EXPECT_DIAGNOSTIC(M07);
}

TEST(m07_twin)
{
    test_context();
    // [M07 right]
    import(mesa_memfd(73856), 73856, 0);
    // [end]
    import(mesa_memfd(73856 + 40), 73856, 0); // Mesa adds bytes of its own
    EXPECT_NO_DIAGNOSTIC();
}

TEST(m08_descriptor_values)
{
    test_context();
    // [M08 wrong]
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(own_fd(EXTERNAL_B), 0);
    CUexternalMemory m;
    EXPECT_ERROR(cuImportExternalMemory(&m, &d), CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(M08);
    d.size = EXTERNAL_B;
    d.flags = 2;
    EXPECT_ERROR(cuImportExternalMemory(&m, &d), CUDA_ERROR_INVALID_VALUE);
    d.flags = 0;
    d.reserved[15] = 1;
    EXPECT_ERROR(cuImportExternalMemory(&m, &d), CUDA_ERROR_INVALID_VALUE);
    d.reserved[15] = 0;
    d.type = (CUexternalMemoryHandleType)77;
    EXPECT_ERROR(cuImportExternalMemory(&m, &d), CUDA_ERROR_INVALID_VALUE);
    EXPECT_STR(test_reported(), "M08 M08 M08 M08");
}

TEST(m09_value_of_another_enumeration)
{
    test_context();
    // [M09 wrong]
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(own_fd(EXTERNAL_B), EXTERNAL_B);
    CUexternalMemory m;
    d.type = (CUexternalMemoryHandleType)0x200; // VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
    EXPECT_ERROR(cuImportExternalMemory(&m, &d), CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(M09);
}

TEST(m08_m09_m10_twin)
{
    test_context();
    // [M08 M09 M10 right]
    import(own_fd(EXTERNAL_B), EXTERNAL_B, 0);
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(m10_not_on_this_platform)
{
    test_context();
    // [M10 wrong]
    int object;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(0, 4096);
    CUexternalMemory m;
    d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF;
    d.handle.nvSciBufObject = &object;
    EXPECT_ERROR(cuImportExternalMemory(&m, &d), CUDA_ERROR_NOT_SUPPORTED);
    // [end]
    EXPECT_DIAGNOSTIC(M10);
}

static void import_on_device(int ordinal)
{
    CUcontext c;
    test_setting("CARDLESS_DEVICES", "h100,h100");
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&c, ordinal));
    MUST(cuCtxSetCurrent(c));
    import(mesa_memfd(65536), 65536, 0);
}

TEST(m11_another_device)
{
    // [M11 wrong]
    import_on_device(1);
    // [end]
    EXPECT_DIAGNOSTIC(M11);
}

TEST(m11_twin)
{
    // [M11 right]
    import_on_device(0);
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TEST(m12_not_memory)
{
    static const char *const reported[] = {"M12", "M12 M12", "M12 M12 M12", "M12 M12 M12 M12"};
    test_context();
    int pipe_ends[2];
    EXPECT_EQ(pipe(pipe_ends), 0);
    int fds[] = {-1, eventfd(0, 0), open("/dev/null", O_RDWR), pipe_ends[0]};
    for (int i = 0; i < 4; i++) {
        CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(fds[i], 4096);
        CUexternalMemory m = (CUexternalMemory)1;
        EXPECT_ERROR(cuImportExternalMemory(&m, &d), CUDA_ERROR_INVALID_HANDLE);
        EXPECT(m == (CUexternalMemory)1);
        EXPECT_STR(test_reported(), reported[i]);
    }
}

TEST(m12_as_the_driver)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    test_context();
    int fd = eventfd(0, 0);
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(fd, 4096);
    CUexternalMemory m;
    EXPECT_ERROR(cuImportExternalMemory(&m, &d), CUDA_ERROR_UNKNOWN);
    char link[64] = "", path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    EXPECT(readlink(path, link, sizeof link - 1) < 0 ||
           !strstr(link, "eventfd")); // closed even if the import failed
    EXPECT_DIAGNOSTIC(M12);
}

TEST(m12_twin)
{
    test_context();
    // [M12 right]
    import(plain_memfd(65536), 65536, 0);
    import(mesa_memfd(65536), 65536, 0);
    import(own_fd(EXTERNAL_B), EXTERNAL_B, 0);
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

static CUresult export(unsigned types)
{
    CUmemAllocationProp p;
    CUmemGenericAllocationHandle h;
    int fd;
    memset(&p, 0, sizeof p);
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.requestedHandleTypes = (CUmemAllocationHandleType)types;
    MUST(cuMemCreate(&h, EXTERNAL_B, &p, 0));
    return cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
}

TEST(m13_not_declared_exportable)
{
    test_context();
    // [M13 wrong]
    EXPECT_ERROR(export(CU_MEM_HANDLE_TYPE_NONE), CUDA_ERROR_INVALID_VALUE);
    // [end]
    EXPECT_DIAGNOSTIC(M13);
}

TEST(m13_twin)
{
    test_context();
    // [M13 right]
    EXPECT_OK(export(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    // [end]
    EXPECT_NO_DIAGNOSTIC();
}

TESTS(CASE(m01_descriptor_used_after_import), CASE(m01_descriptor_imported_again), CASE(m01_twin),
      CASE(m02_descriptor_leaks_after_failed_import), CASE(m02_once_for_a_descriptor),
      CASE(m02_after_many_failed_imports), CASE(m02_semaphore_of_the_other_kind), CASE(m02_twin),
      CASE(m04_handle_and_name), CASE(m04_twin_is_m10_here), CASE(m05_resource_without_dedicated),
      CASE(m05_twin_is_m10_here), CASE(m06_dedicated_and_offset), CASE(m06_twin),
      CASE(m07_size_of_the_resource), CASE(m07_twin), CASE(m08_descriptor_values),
      CASE(m09_value_of_another_enumeration), CASE(m08_m09_m10_twin),
      CASE(m10_not_on_this_platform), CASE(m11_another_device), CASE(m11_twin),
      CASE(m12_not_memory), CASE(m12_as_the_driver), CASE(m12_twin),
      CASE(m13_not_declared_exportable), CASE(m13_twin))
