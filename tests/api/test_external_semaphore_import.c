// SPDX-License-Identifier: MIT
// Imports of external semaphores. Answers in "recorded:" are a card's, from the group vksem of
// x_extmem, with the semaphores of cardless.h in place of Vulkan's.
#include <sys/eventfd.h>

#include "../semaphore.h"

// ---- import ----

static CUresult try_import(int type, int fd)
{
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d = semaphore_desc(type, fd);
    CUexternalSemaphore s;
    CUresult r = cuImportExternalSemaphore(&s, &d);
    if (!r)
        EXPECT_OK(cuDestroyExternalSemaphore(s));
    EXPECT(!r == !is_open(fd) || fd < 0 || fd == INT32_MAX);
    return r;
}

// Recorded: types-of-binary, types-of-timeline.
TEST(types)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    test_context();
    for (int kind = CARDLESS_SEMAPHORE_BINARY; kind <= CARDLESS_SEMAPHORE_TIMELINE; kind++) {
        cardlessSemaphore s = semaphore_new((cardlessSemaphoreKind)kind, 0);
        for (int type = 0; type <= 12; type++) {
            CUresult want = type == 0 || type > 10   ? CUDA_ERROR_INVALID_VALUE
                            : type == 1 || type == 9 ? CUDA_SUCCESS
                                                     : CUDA_ERROR_NOT_SUPPORTED;
            int fd = semaphore_fd(s);
            EXPECT_ERROR(try_import(type, fd), want);
            if (want)
                close(fd);
        }
    }
}

// Recorded: flags, reserved, null-out.
TEST(descriptor_fields)
{
    test_context();
    cardlessSemaphore s = semaphore_new(CARDLESS_SEMAPHORE_TIMELINE, 0);
    CUexternalSemaphore out;
    int fd = semaphore_fd(s);
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d =
        semaphore_desc(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD, fd);
    EXPECT_ONE_SENTENCE(cuImportExternalSemaphore(NULL, &d), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ONE_SENTENCE(cuImportExternalSemaphore(&out, NULL), CUDA_ERROR_INVALID_VALUE);
    for (unsigned bit = 0; bit < 32; bit++) {
        d.flags = 1u << bit;
        EXPECT_ONE_SENTENCE(cuImportExternalSemaphore(&out, &d), CUDA_ERROR_INVALID_VALUE);
    }
    d.flags = 0;
    for (int i = 0; i < 16; i++) {
        d.reserved[i] = 1;
        EXPECT_ONE_SENTENCE(cuImportExternalSemaphore(&out, &d), CUDA_ERROR_INVALID_VALUE);
        d.reserved[i] = 0;
    }
    EXPECT(is_open(fd));
    EXPECT_OK(cuImportExternalSemaphore(&out, &d));
    EXPECT_NO_DIAGNOSTIC();
}

static void expect_refused(int fd)
{
    EXPECT(fd >= 0);
    EXPECT_ERROR(try_import(1, fd), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(try_import(9, fd), CUDA_ERROR_INVALID_HANDLE);
    close(fd);
}

TEST(not_a_semaphore)
{
    char path[64];
    int fds[2];
    test_context();
    int fd = semaphore_fd(semaphore_new(CARDLESS_SEMAPHORE_BINARY, 0));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int read_only = open(path, O_RDONLY | O_CLOEXEC);
    EXPECT_ERROR(try_import(1, read_only), CUDA_ERROR_INVALID_HANDLE);
    close(read_only);
    EXPECT_EQ(pipe(fds), 0);
    expect_refused(fds[0]);
    expect_refused(fds[1]);
    expect_refused(eventfd(0, EFD_CLOEXEC));
    expect_refused(open("/dev/null", O_RDWR | O_CLOEXEC));
    expect_refused(memfd_create("empty", MFD_ALLOW_SEALING));
    // A copy of the bytes without the seals: whoever made it could truncate it later.
    char bytes[4096];
    int copy = memfd_create("copy", MFD_ALLOW_SEALING);
    EXPECT_EQ(pread(fd, bytes, sizeof bytes, 0), (ssize_t)sizeof bytes);
    EXPECT_EQ(write(copy, bytes, sizeof bytes), (ssize_t)sizeof bytes);
    expect_refused(copy);
    EXPECT_ERROR(try_import(1, -1), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(try_import(9, INT32_MAX), CUDA_ERROR_INVALID_HANDLE);
}

// A semaphore is not memory (docs/reference/external-semaphores.md).
TEST(not_memory)
{
    test_context();
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d;
    CUexternalMemory m;
    memset(&d, 0, sizeof d);
    d.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    d.handle.fd = semaphore_fd(semaphore_new(CARDLESS_SEMAPHORE_BINARY, 0));
    d.size = 4096;
    EXPECT_ERROR(cuImportExternalMemory(&m, &d), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_DIAGNOSTIC(M12);
    close(d.handle.fd);
}

TESTS(CASE(types), CASE(descriptor_fields), CASE(not_a_semaphore), CASE(not_memory))
