// SPDX-License-Identifier: MIT
// Checks the program's pointers by accessing one byte of each page under a fault guard.
#include "pointer_check.h"

#include <string.h>

#include "call.h"
#include "error.h"
#include "guard.h"

enum { PAGE_B = 4096 };
// If a range is at least this large, use the guard that always works in threads of the program's
// own. It costs more, but such a size may well be a mistake.
enum { LARGE_B = 64 << 10 };

struct range {
    uintptr_t first, last; // addresses of the first and the last byte
};

// Counts as the shortest copy of the host's memory, because it accesses few bytes.
static int guarded_small(void (*access)(void *), void *argument, struct dm_fault *fault)
{
    return dm_guarded_host(access, argument, 0, fault);
}

// Sanitizers must ignore these accesses because the program may pass any range.
__attribute__((no_sanitize("address", "thread"))) static void read_pages(void *argument)
{
    const struct range *r = argument;
    for (uintptr_t at = r->first; at < r->last; at = (at | (PAGE_B - 1)) + 1)
        (void)*(volatile const unsigned char *)at;
    (void)*(volatile const unsigned char *)r->last;
}

// Replaces 0 by 0 with compare-and-exchange, which counts as a write in any case, so that the
// memory does not change even if another thread writes to it at the same time. (Compilers turn an
// atomic "or" with 0 into a load.)
__attribute__((no_sanitize("address", "thread"))) static void write_byte(uintptr_t at)
{
    volatile unsigned char *p = (volatile unsigned char *)at;
    unsigned char now = 0;
    __atomic_compare_exchange_n(p, &now, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void write_pages(void *argument)
{
    const struct range *r = argument;
    for (uintptr_t at = r->first; at < r->last; at = (at | (PAGE_B - 1)) + 1)
        write_byte(at);
    write_byte(r->last);
}

static CUresult try_range(CUresult code, const char *name, const void *p, uint64_t size_B,
                          void (*access)(void *), const char *verb)
{
    struct dm_fault fault;
    struct range r = {(uintptr_t)p, 0};
    // Nothing catches faults before cuInit.
    if (__atomic_load_n(&em_driver_state, __ATOMIC_ACQUIRE) != EM_DRIVER_READY)
        return CUDA_SUCCESS;
    if (__builtin_add_overflow(r.first, size_B - 1, &r.last))
        return em_fail(code, "%s: %p + %llu bytes exceeds the address space", name, p,
                       (unsigned long long)size_B);
    if (!(size_B < LARGE_B ? guarded_small : dm_guarded_foreign)(access, &r, &fault))
        return CUDA_SUCCESS;
    char text[128];
    dm_fault_text(&fault, text, sizeof text);
    return em_fail(code,
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
    return em_readable_else(CUDA_ERROR_INVALID_VALUE, name, p, size_B);
}

CUresult em_readable_else(CUresult code, const char *name, const void *p, uint64_t size_B)
{
    return p && size_B ? try_range(code, name, p, size_B, read_pages, "read") : CUDA_SUCCESS;
}

struct text {
    const char *at;
    uint64_t size_B;
};

// Page by page, because a text may end in the last page that can be read.
static void find_end(void *argument)
{
    struct text *t = argument;
    for (;;) {
        const char *at = t->at + t->size_B, *zero;
        const uint64_t left_B = PAGE_B - (uintptr_t)at % PAGE_B;
        zero = memchr(at, 0, left_B);
        t->size_B += zero ? (uint64_t)(zero - at) : left_B;
        if (zero)
            return;
    }
}

CUresult em_readable_text(CUresult code, const char *name, const char *p, uint64_t *size_B)
{
    struct text t = {p, 0};
    if (guarded_small(find_end, &t, NULL))
        return em_fail(code,
                       t.size_B ? "%s: %p is a text without a final 0 (%llu bytes can be read)"
                                : "%s: %p cannot be read; pass a text that the process has mapped",
                       name, (const void *)p, (unsigned long long)t.size_B);
    *size_B = t.size_B;
    return CUDA_SUCCESS;
}

CUresult em_readable_argument(const char *name, const char *p)
{
    uint64_t size_B;
    // Nothing catches faults before cuInit.
    if (!p || __atomic_load_n(&em_driver_state, __ATOMIC_ACQUIRE) != EM_DRIVER_READY)
        return CUDA_SUCCESS;
    return em_readable_text(CUDA_ERROR_INVALID_VALUE, name, p, &size_B);
}

struct head {
    const volatile char *from;
    char *to;
    uint64_t size_B;
};

__attribute__((no_sanitize("address"))) static void copy_head(void *argument)
{
    const struct head *h = argument;
    for (uint64_t i = 0; i < h->size_B; i++)
        h->to[i] = h->from[i];
}

void em_read_head(const void *p, void *out, uint64_t size_B)
{
    struct head h = {p, out, size_B};
    memset(out, 0, size_B);
    guarded_small(copy_head, &h, NULL);
}

CUresult em_write_text(const char *name, char *to, size_t capacity, const char *text)
{
    const size_t length = strnlen(text, capacity ? capacity - 1 : 0);
    if (!capacity)
        return CUDA_SUCCESS;
    const CUresult r = em_writable_object(name, to, length + 1);
    if (r)
        return r;
    memcpy(to, text, length);
    to[length] = 0;
    return CUDA_SUCCESS;
}

CUresult em_writable(const char *name, void *p, uint64_t size_B)
{
    return p && size_B
               ? try_range(CUDA_ERROR_INVALID_VALUE, name, p, size_B, write_pages, "written")
               : CUDA_SUCCESS;
}
