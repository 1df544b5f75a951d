// SPDX-License-Identifier: MIT
// Tests pointers by system calls that read or write one byte of each page.
#include "readable.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rt.h"

enum { PAGE_B = 4096, PAGES_PER_CALL = 64 };

// Whether all of `count` bytes, at the given addresses, can be read.
static bool can_read(struct iovec *from, unsigned long count)
{
    char bytes[PAGES_PER_CALL];
    const struct iovec to = {bytes, count};
    const ssize_t got = process_vm_readv(getpid(), &to, 1, from, count, 0);
    return got < 0 ? errno != EFAULT : (unsigned long)got == count;
}

static bool can_read_range(uintptr_t first, uintptr_t last)
{
    const uintptr_t pages = last / PAGE_B - first / PAGE_B + 1;
    for (uintptr_t done = 0; done < pages;) {
        struct iovec from[PAGES_PER_CALL];
        unsigned long count = 0;
        for (; count < PAGES_PER_CALL && done < pages; done++) {
            const uintptr_t at = done ? (first / PAGE_B + done) * PAGE_B : first;
            from[count++] = (struct iovec){(void *)at, 1};
        }
        if (!can_read(from, count))
            return false;
    }
    return true;
}

cudaError_t rt_readable(const char *name, const void *p, uint64_t count, uint64_t element_B)
{
    uint64_t size_B;
    uintptr_t last;
    if (!p || !count)
        return cudaSuccess;
    if (__builtin_mul_overflow(count, element_B, &size_B) ||
        __builtin_add_overflow((uintptr_t)p, size_B - 1, &last))
        return rt_fail(cudaErrorInvalidValue,
                       "%s: %llu elements of %llu bytes exceed the address space", name,
                       (unsigned long long)count, (unsigned long long)element_B);
    if (size_B < RT_NEAR_B && rt_is_near(p))
        return cudaSuccess;
    const int saved = errno;
    const bool readable = can_read_range((uintptr_t)p, last);
    errno = saved;
    if (readable)
        return cudaSuccess;
    return rt_fail(cudaErrorInvalidValue,
                   "%s: %p (%llu bytes) cannot be read; pass memory that the process has mapped",
                   name, p, (unsigned long long)size_B);
}

// ---- writing

// Lets the kernel copy the byte to itself.
static bool can_write(uintptr_t at)
{
    const struct iovec byte = {(void *)at, 1};
    const int saved = errno;
    const bool can = process_vm_readv(getpid(), &byte, 1, &byte, 1, 0) >= 0 || errno != EFAULT;
    errno = saved;
    return can;
}

// The numbers of pages that this thread could write, indexed by their low bits.
enum { KNOWN_PAGES = 16 };
static __thread uintptr_t known_pages[KNOWN_PAGES];

static bool can_write_page(uintptr_t at)
{
    const uintptr_t page = at / PAGE_B;
    uintptr_t *known = &known_pages[page % KNOWN_PAGES];
    if (*known == page && page)
        return true;
    if (!can_write(at))
        return false;
    *known = page;
    return true;
}

cudaError_t rt_writable(const char *name, void *p, uint64_t size_B)
{
    uintptr_t last;
    if (!p)
        return cudaSuccess;
    if (!__builtin_add_overflow((uintptr_t)p, size_B - 1, &last) && can_write_page((uintptr_t)p) &&
        can_write_page(last))
        return cudaSuccess;
    return rt_fail(cudaErrorInvalidValue,
                   "%s: %p (%llu bytes) cannot be written; pass memory that the process has mapped",
                   name, p, (unsigned long long)size_B);
}
