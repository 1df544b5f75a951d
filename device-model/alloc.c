// SPDX-License-Identifier: MIT
// Allocation wrappers with the countdown and the counters of tests, and raw memory system calls.
#include "alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <linux/falloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CACHED_MAX = 1032 }; // the largest block that malloc takes from the thread's cache

// 0 = off. A normal run pays one relaxed load.
static _Atomic uint64_t countdown;
static _Atomic bool failed;

static bool fails_now(void)
{
    if (__builtin_expect(atomic_load_explicit(&countdown, memory_order_relaxed) == 0, 1))
        return false;
    uint64_t left = atomic_load(&countdown);
    while (left != 0)
        if (atomic_compare_exchange_weak(&countdown, &left, left - 1)) {
            if (left != 1)
                return false;
            atomic_store(&failed, true);
            return true;
        }
    return false;
}

void dm_alloc_fail_after(uint64_t n)
{
    atomic_store(&failed, false);
    atomic_store(&countdown, n);
}

bool dm_alloc_failed(void)
{
    atomic_store(&countdown, 0);
    return atomic_load(&failed);
}

uint64_t dm_alloc_countdown(void)
{
    return atomic_load(&countdown);
}

static _Atomic bool counting;
static _Atomic int64_t live_count, live_bytes;

static void *count_block(void *p, int64_t sign)
{
    if (__builtin_expect(atomic_load_explicit(&counting, memory_order_relaxed), 0) && p) {
        atomic_fetch_add(&live_count, sign);
        atomic_fetch_add(&live_bytes, sign * (int64_t)malloc_usable_size(p));
    }
    return p;
}

void dm_alloc_count(void)
{
    atomic_store(&counting, true);
}

struct dm_alloc_live dm_alloc_live(void)
{
    return (struct dm_alloc_live){atomic_load(&live_count), atomic_load(&live_bytes)};
}

void *dm_alloc(size_t size)
{
    return fails_now() ? NULL : count_block(malloc(size ? size : 1), 1);
}

// Small blocks come from malloc, because calloc does not use the thread's cache before glibc 2.41:
// it would take a fifth of the time of cuStreamCreate and cuStreamDestroy.
static void *allocate_zero(size_t bytes)
{
    if (bytes > CACHED_MAX)
        return calloc(1, bytes);
    void *p = malloc(bytes ? bytes : 1);
    return p ? memset(p, 0, bytes) : NULL;
}

void *dm_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (fails_now() || __builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return count_block(allocate_zero(bytes), 1);
}

void *dm_realloc(void *p, size_t size)
{
    if (fails_now())
        return NULL;
    count_block(p, -1);
    void *moved = realloc(p, size ? size : 1);
    count_block(moved ? moved : p, 1);
    return moved;
}

void dm_free(void *p)
{
    free(count_block(p, -1));
}

static int raw_mmap(uint64_t address, uint64_t size, int prot, int flags, int fd, uint64_t offset,
                    uint64_t *out)
{
    // The kernel would misread values that do not fit its signed arguments, instead of refusing
    // them.
    if (size == 0 || size > PTRDIFF_MAX || offset > PTRDIFF_MAX)
        return -EINVAL;
    long r = syscall(SYS_mmap, address, size, (long)prot, (long)flags, (long)fd, offset);
    if (r == -1)
        return -errno;
    *out = (uint64_t)r;
    return 0;
}

int dm_sys_mmap(uint64_t address, uint64_t size, int prot, int flags, int fd, uint64_t offset,
                uint64_t *out)
{
    return fails_now() ? -ENOMEM : raw_mmap(address, size, prot, flags, fd, offset, out);
}

int dm_sys_memfd_create(const char *name, unsigned flags, int *out_fd)
{
    if (fails_now())
        return -ENOMEM;
    int fd = (int)syscall(SYS_memfd_create, name, flags);
    if (fd < 0)
        return -errno;
    *out_fd = fd;
    return 0;
}

int dm_sys_ftruncate(int fd, uint64_t size)
{
    if (fails_now())
        return -ENOMEM;
    struct rlimit limit;
    // Beyond the limit the kernel sends SIGXFSZ, which would end the process.
    if (size > INT64_MAX || (getrlimit(RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur))
        return -EFBIG;
    return ftruncate(fd, (off_t)size) ? -errno : 0;
}

int dm_sys_protect(uint64_t address, uint64_t size, int prot, int pkey)
{
    if (fails_now())
        return -ENOMEM;
    long r = pkey < 0 ? syscall(SYS_mprotect, address, size, (long)prot)
                      : syscall(SYS_pkey_mprotect, address, size, (long)prot, (long)pkey);
    return r ? -errno : 0;
}

int dm_sys_dup(int fd, int *out_fd)
{
    if (fails_now())
        return -EMFILE;
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        return -errno;
    *out_fd = copy;
    return 0;
}

int dm_sys_stat(int fd, struct stat *out)
{
#if defined(__x86_64__) || defined(__aarch64__) // the kernel's struct is the C library's
    memset(out, 0, sizeof *out);
    return syscall(SYS_fstat, (long)fd, out) ? -errno : 0;
#else
    return fstat(fd, out) ? -errno : 0;
#endif
}

int dm_sys_munmap(uint64_t address, uint64_t size)
{
    return syscall(SYS_munmap, address, size) ? -errno : 0;
}

int dm_sys_unback(uint64_t address, uint64_t size)
{
    uint64_t at;
    return raw_mmap(address, size, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0, &at);
}

int dm_sys_punch(int fd, uint64_t offset, uint64_t size)
{
    return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size)
               ? -errno
               : 0;
}

void dm_sys_discard(uint64_t address, uint64_t size)
{
    madvise((void *)(uintptr_t)address, size, MADV_DONTNEED);
}
