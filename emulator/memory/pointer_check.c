// SPDX-License-Identifier: MIT
// Checks the program's pointers by accessing one byte of each page under a fault guard.
#include "pointer_check.h"

#include "error.h"
#include "guard.h"

enum { PAGE_B = 4096 };
// If a range is at least this large, use the guard that also works in threads of the program's own.
// It costs more, but such a size may well be a mistake.
enum { LARGE_B = 64 << 10 };

struct range {
    uintptr_t first, last; // addresses of the first and the last byte
};

// AddressSanitizer must ignore these accesses because the program may pass any range.
__attribute__((no_sanitize("address"))) static void read_pages(void *argument)
{
    const struct range *r = argument;
    for (uintptr_t at = r->first; at < r->last; at = (at | (PAGE_B - 1)) + 1)
        (void)*(volatile const unsigned char *)at;
    (void)*(volatile const unsigned char *)r->last;
}

// Replaces a byte by itself with compare-and-exchange, so that the memory does not change even if
// another thread writes to it at the same time. (Compilers turn an atomic "or" with 0 into a load.)
__attribute__((no_sanitize("address"))) static void write_byte(uintptr_t at)
{
    volatile unsigned char *p = (volatile unsigned char *)at;
    unsigned char now = *p;
    __atomic_compare_exchange_n(p, &now, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void write_pages(void *argument)
{
    const struct range *r = argument;
    for (uintptr_t at = r->first; at < r->last; at = (at | (PAGE_B - 1)) + 1)
        write_byte(at);
    write_byte(r->last);
}

static CUresult try_range(const char *name, const void *p, uint64_t size_B, void (*access)(void *),
                          const char *verb)
{
    struct dm_fault fault;
    struct range r = {(uintptr_t)p, 0};
    if (__builtin_add_overflow(r.first, size_B - 1, &r.last))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%s: %p + %llu bytes exceeds the address space",
                       name, p, (unsigned long long)size_B);
    if (!(size_B < LARGE_B ? dm_guarded : dm_guarded_foreign)(access, &r, &fault))
        return CUDA_SUCCESS;
    char text[128];
    dm_fault_text(&fault, text, sizeof text);
    return em_fail(CUDA_ERROR_INVALID_VALUE,
                   "%s: %p (%llu bytes) cannot be %s: %s; pass memory that the process has mapped",
                   name, p, (unsigned long long)size_B, verb, text);
}

CUresult em_readable(const char *name, const void *p, uint64_t count, uint64_t element_B)
{
    uint64_t size_B;
    if (!p || !count)
        return CUDA_SUCCESS;
    if (__builtin_mul_overflow(count, element_B, &size_B))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%s: %llu elements of %llu bytes exceed the address space", name,
                       (unsigned long long)count, (unsigned long long)element_B);
    return try_range(name, p, size_B, read_pages, "read");
}

CUresult em_writable(const char *name, void *p, uint64_t size_B)
{
    return p && size_B ? try_range(name, p, size_B, write_pages, "written") : CUDA_SUCCESS;
}
