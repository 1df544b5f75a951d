// SPDX-License-Identifier: MIT
// The countdown of allocations: exactly the n-th allocation of any kind fails, once.
#include "alloc.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "expect.h"

static _Atomic int refused;

static void *worker(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        void *p = dm_alloc(16);
        if (!p)
            atomic_fetch_add(&refused, 1);
        dm_free(p);
    }
    return arg;
}

int main(void)
{
    void *p;
    uint64_t va;
    int fd = -1;
    EXPECT(!dm_alloc_failed());
    p = dm_alloc(0);
    EXPECT(p);
    dm_free(p);
    dm_free(NULL);
    EXPECT(!dm_calloc(SIZE_MAX / 2, 4));

    dm_alloc_fail_after(1);
    EXPECT(!dm_alloc(8));
    EXPECT((p = dm_alloc(8)));
    EXPECT(dm_alloc_failed());
    dm_alloc_fail_after(2);
    EXPECT((p = dm_realloc(p, 16)));
    EXPECT(!dm_realloc(p, 32)); // and p stays valid
    memset(p, 1, 16);
    EXPECT(dm_alloc_failed());
    dm_free(p);

    // System calls count, too.
    dm_alloc_fail_after(3);
    EXPECT_EQ(dm_sys_memfd_create("test", MFD_CLOEXEC, &fd), 0);
    EXPECT_EQ(dm_sys_ftruncate(fd, 8192), 0);
    EXPECT_EQ(dm_sys_mmap(0, 8192, PROT_READ, MAP_SHARED, fd, 0, &va), -ENOMEM);
    EXPECT_EQ(dm_sys_mmap(0, 8192, PROT_READ, MAP_SHARED, fd, 0, &va), 0);
    EXPECT(dm_alloc_failed());
    // … but giving memory back never fails.
    dm_alloc_fail_after(1);
    EXPECT_EQ(dm_sys_punch(fd, 0, 4096), 0);
    EXPECT_EQ(dm_sys_unback(va, 4096), 0);
    EXPECT_EQ(dm_sys_munmap(va, 8192), 0);
    EXPECT(!dm_alloc_failed());
    dm_alloc_fail_after(1);
    int copy;
    EXPECT_EQ(dm_sys_dup(fd, &copy), -EMFILE);
    EXPECT_EQ(dm_sys_dup(-1, &copy), -EBADF);
    EXPECT(dm_alloc_failed());

    EXPECT_EQ(dm_sys_mmap(0, 0, PROT_READ, MAP_SHARED, fd, 0, &va), -EINVAL);
    EXPECT_EQ(dm_sys_mmap(0, UINT64_MAX, PROT_READ, MAP_SHARED, fd, 0, &va), -EINVAL);
    EXPECT_EQ(dm_sys_mmap(0, 4096, PROT_READ, MAP_SHARED, fd, UINT64_C(1) << 63, &va), -EINVAL);
    EXPECT_EQ(dm_sys_ftruncate(fd, UINT64_MAX), -EFBIG);
    struct rlimit limit = {4096, 4096};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_EQ(dm_sys_ftruncate(fd, 1 << 20), -EFBIG); // and no SIGXFSZ
    close(fd);

    // If several threads allocate, exactly one allocation fails.
    pthread_t t[4];
    dm_alloc_fail_after(1500);
    for (int i = 0; i < 4; i++)
        EXPECT_EQ(pthread_create(&t[i], NULL, worker, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    EXPECT_EQ(refused, 1);
    EXPECT(dm_alloc_failed());
    return 0;
}
