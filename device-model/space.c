// SPDX-License-Identifier: MIT
// The address window, its reservations, and MAP_FIXED mappings into them.
#include "space.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "alloc.h"
#include "kept.h"
#include "pkey.h"
#include "startup.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { WINDOW_LEAST = 1 << 30, WINDOW_ALIGN = 1 << 30 };
// Nothing else uses these addresses in an ordinary x86-64 or AArch64 process. They are below
// position-independent programs and libraries, and low enough that the free addresses above stay in
// one piece for large reservations.
#define WINDOW_BASE UINT64_C(0x0a0000000000)
#define WINDOW_UNDER_VALGRIND (UINT64_C(8) << 30)

// Owners of reservations.
static char in_window, outside;

// Thread and memory sanitizers support only certain addresses; the kernel's own choice is always
// one of them.
extern void __tsan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));

// Valgrind's memcheck keeps a record for every 64 KiB of reserved addresses, which takes minutes
// for a window of terabytes.
static int is_valgrind(struct dl_phdr_info *object, size_t size, void *found)
{
    (void)size;
    *(bool *)found |= strstr(object->dlpi_name, "/vgpreload_core") != NULL;
    return 0;
}

bool dm_is_valgrind(void)
{
    bool valgrind = false;
    dl_iterate_phdr(is_valgrind, &valgrind);
    return valgrind;
}

static int reserve_pages(uint64_t address, uint64_t size, int flags, uint64_t *out)
{
    return dm_sys_mmap(address, size, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0, out);
}

// Reserves addresses at a multiple of `align`, anywhere.
static int reserve_aligned(uint64_t size, uint64_t align, uint64_t *out)
{
    uint64_t padded, at;
    if (__builtin_add_overflow(size, align - DM_PAGE, &padded))
        return -ENOMEM;
    int r = reserve_pages(0, padded, 0, &at);
    if (r)
        return r == -EINVAL ? -ENOMEM : r;
    uint64_t start = (at + align - 1) & ~(align - 1);
    if (start > at)
        dm_sys_munmap(at, start - at);
    if (at + padded > start + size)
        dm_sys_munmap(start + size, at + padded - (start + size));
    *out = start;
    return 0;
}

DM_STARTUP int dm_space_init(struct dm_space *space, uint64_t size)
{
    memset(space, 0, sizeof *space);
    dm_rangemap_init(&space->reserved);
    dm_rangemap_init(&space->mapped);
    size &= ~(uint64_t)(DM_PAGE - 1);
    if (size == 0)
        return -EINVAL;
    if (dm_is_valgrind() && size > WINDOW_UNDER_VALGRIND)
        size = WINDOW_UNDER_VALGRIND;
    int r;
    do {
        r = -ENOMEM;
        if (!__tsan_init && !__msan_init) {
            r = reserve_pages(WINDOW_BASE, size, MAP_FIXED_NOREPLACE, &space->base);
            if (r == 0 &&
                space->base != WINDOW_BASE) { // a kernel before 4.17 treats the flag as a mere hint
                dm_sys_munmap(space->base, size);
                r = -EEXIST;
            }
        }
        if (r)
            r = reserve_aligned(size, WINDOW_ALIGN, &space->base);
        if (r == 0)
            space->size = size;
        size /= 2;
    } while (r && size >= WINDOW_LEAST);
    return r ? -ENOMEM : 0;
}

void dm_space_finish(struct dm_space *space)
{
    struct dm_range range;
    dm_kept_drop(space, 0, UINT64_MAX);
    while (dm_rangemap_next(&space->mapped, 0, &range)) {
        struct dm_mapping *m = range.owner;
        dm_sys_unback(m->va, m->size);
        dm_rangemap_remove(&space->mapped, range.start, NULL);
        dm_physical_unref(m->physical);
        dm_free(m);
    }
    while (dm_rangemap_next(&space->reserved, 0, &range)) {
        if (range.owner == &outside)
            dm_sys_munmap(range.start, range.size);
        dm_rangemap_remove(&space->reserved, range.start, NULL);
    }
    if (space->size)
        dm_sys_munmap(space->base, space->size);
    dm_rangemap_finish(&space->mapped);
    dm_rangemap_finish(&space->kept.ranges);
    dm_rangemap_finish(&space->reserved);
    space->base = space->size = 0;
}

bool dm_space_contains(const struct dm_space *space, uint64_t va)
{
    return va - space->base < space->size || dm_rangemap_owner(&space->reserved, va) != NULL;
}

static bool is_whole_pages(uint64_t value)
{
    return value % DM_PAGE == 0;
}

int dm_va_reserve(struct dm_space *space, uint64_t size, uint64_t align, uint64_t hint,
                  uint64_t *va)
{
    if (align == 0)
        align = DM_PAGE;
    if (size == 0 || !is_whole_pages(size) || (align & (align - 1)))
        return -EINVAL;
    if (align < DM_PAGE)
        align = DM_PAGE;
    uint64_t at, window_last = space->base + space->size - 1;
    void *owner = &in_window;
    int r = -ENOMEM;
    if (hint && hint % align == 0 && hint >= space->base && hint <= window_last &&
        size - 1 <= window_last - hint && !dm_rangemap_overlaps(&space->reserved, hint, size)) {
        at = hint;
        r = 0;
    }
    if (r && size <= space->size)
        r = dm_rangemap_gap(&space->reserved, space->base, window_last, size, align, &at);
    if (r) {
        owner = &outside;
        r = reserve_aligned(size, align, &at);
        if (r)
            return r;
    }
    r = dm_rangemap_insert(&space->reserved, at, size, owner);
    if (r) {
        if (owner == &outside)
            dm_sys_munmap(at, size);
        return r;
    }
    *va = at;
    return 0;
}

int dm_va_free(struct dm_space *space, uint64_t va)
{
    struct dm_range range;
    if (!dm_rangemap_find(&space->reserved, va, &range) || range.start != va)
        return -ENOENT;
    if (dm_rangemap_overlaps(&space->mapped, range.start, range.size))
        return -EBUSY;
    if (range.owner == &outside) {
        int r = dm_sys_munmap(range.start, range.size);
        if (r)
            return r;
    }
    return dm_rangemap_remove(&space->reserved, va, NULL);
}

bool dm_va_find(const struct dm_space *space, uint64_t va, uint64_t *start, uint64_t *size)
{
    struct dm_range range;
    if (!dm_rangemap_find(&space->reserved, va, &range))
        return false;
    *start = range.start;
    *size = range.size;
    return true;
}

// Adjacent reservations count as one.
static bool is_reserved(const struct dm_space *space, uint64_t va, uint64_t size)
{
    struct dm_range range;
    while (dm_rangemap_find(&space->reserved, va, &range)) {
        uint64_t rest = range.size - (va - range.start);
        if (size <= rest)
            return true;
        va += rest;
        size -= rest;
    }
    return false;
}

static int protection(unsigned flags)
{
    return (flags & (DM_MAP_READ | DM_MAP_WRITE) ? PROT_READ : 0) |
           (flags & DM_MAP_WRITE ? PROT_WRITE : 0);
}

int dm_pages_access(uint64_t va, uint64_t size, unsigned flags)
{
    int key = dm_pkey(), prot = protection(flags);
    if (key >= 0)
        return dm_sys_protect(va, size, prot, flags & DM_MAP_HOST ? 0 : key);
    return dm_sys_protect(va, size, prot, -1);
}

// Maps the pages of the file. Those that get a key must never be accessible without it.
static int map_file(const struct dm_mapping *m, unsigned flags)
{
    bool two_steps = dm_pkey() >= 0 && flags && !(flags & DM_MAP_HOST);
    uint64_t at;
    int fd = dm_physical_fd(m->physical);
    if (fd < 0)
        return fd;
    int r = dm_sys_mmap(m->va, m->size, two_steps ? PROT_NONE : protection(flags),
                        MAP_SHARED | MAP_FIXED, fd, m->physical->payload + m->offset, &at);
    return r || !two_steps ? r : dm_pages_access(m->va, m->size, flags);
}

// Gives a mapping its pages. On failure, nothing is mapped there.
static int back(struct dm_space *space, struct dm_mapping *m, unsigned flags)
{
    int r = dm_space_take_left(space, m, flags);
    if (r)
        r = map_file(m, flags);
    // If this should fail, too, pages stay that were left there, or inaccessible ones of the file.
    // The next mapping there replaces them.
    if (r)
        dm_sys_unback(m->va, m->size);
    m->backed = !r;
    return r;
}

// Enters a mapping. va, size and the offset in the file are whole pages and have been checked.
// `later`: the file is mapped when the pages become accessible.
static int map_pages(struct dm_space *space, uint64_t va, struct dm_physical *physical,
                     uint64_t offset, uint64_t size, unsigned flags, bool later)
{
    if ((flags & DM_MAP_WRITE) && !physical->writable)
        return -EACCES;
    struct dm_mapping *m = dm_alloc(sizeof *m);
    if (!m)
        return -ENOMEM;
    *m = (struct dm_mapping){.va = va, .size = size, .physical = physical, .offset = offset};
    int r = dm_rangemap_insert(&space->mapped, va, size, m);
    if (r)
        goto fail_alloc;
    if (!later || !dm_kept_has(space, va, size))
        dm_kept_drop(space, va, size);
    r = later ? 0 : back(space, m, flags);
    if (r)
        goto fail_insert;
    dm_physical_ref(physical);
    return 0;
fail_insert:
    dm_rangemap_remove(&space->mapped, va, NULL);
fail_alloc:
    dm_free(m);
    return r;
}

int dm_space_map(struct dm_space *space, uint64_t va, struct dm_physical *physical, uint64_t offset,
                 uint64_t size, unsigned flags)
{
    uint64_t rounded = (physical->size + DM_PAGE - 1) & ~(uint64_t)(DM_PAGE - 1);
    if (size == 0 || !is_whole_pages(va) || !is_whole_pages(size) ||
        !is_whole_pages(physical->payload + offset) || offset > rounded ||
        size > rounded - offset || !is_reserved(space, va, size))
        return -EINVAL;
    return map_pages(space, va, physical, offset, size, flags, flags == 0);
}

// Whether a mapping in [va, last] has pages of its file.
static bool is_backed(const struct dm_space *space, uint64_t va, uint64_t last)
{
    struct dm_range range;
    for (uint64_t at = va; dm_rangemap_next(&space->mapped, at, &range) && range.start <= last;
         at = range.start + range.size)
        if (((const struct dm_mapping *)range.owner)->backed)
            return true;
    return false;
}

int dm_space_unmap(struct dm_space *space, uint64_t va, uint64_t size)
{
    struct dm_range range;
    if (size == 0 || !is_whole_pages(va) || !is_whole_pages(size) || !is_reserved(space, va, size))
        return -EINVAL;
    uint64_t last = va + size - 1;
    if (dm_rangemap_find(&space->mapped, va, &range) && range.start < va)
        return -EINVAL;
    if (dm_rangemap_find(&space->mapped, last, &range) && range.start + range.size - 1 > last)
        return -EINVAL;
    int r = is_backed(space, va, last) ? dm_sys_unback(va, size) : 0;
    if (r)
        return r;
    while (dm_rangemap_next(&space->mapped, va, &range) && range.start <= last) {
        struct dm_mapping *m = range.owner;
        dm_rangemap_remove(&space->mapped, range.start, NULL);
        dm_physical_unref(m->physical);
        dm_free(m);
    }
    return 0;
}

// Changes the access to the pages of a mapping in [from, end).
static int protect_mapping(struct dm_space *space, struct dm_mapping *m, uint64_t from,
                           uint64_t end, unsigned flags)
{
    const uint64_t mapping_end = m->va + m->size, to = end < mapping_end ? end : mapping_end;
    bool all = from == m->va && to == mapping_end;
    if (!m->backed && (all || !flags))
        return flags ? back(space, m, flags) : 0;
    int r = m->backed ? 0 : back(space, m, 0);
    return r ? r : dm_pages_access(from, to - from, flags);
}

int dm_space_protect(struct dm_space *space, uint64_t va, uint64_t size, unsigned flags)
{
    struct dm_range range;
    uint64_t end;
    if (size == 0 || !is_whole_pages(va) || !is_whole_pages(size) ||
        __builtin_add_overflow(va, size, &end))
        return -EINVAL;
    bool backed = true;
    for (uint64_t at = va; at < end; at = range.start + range.size) {
        if (!dm_rangemap_find(&space->mapped, at, &range))
            return -EINVAL;
        const struct dm_mapping *m = range.owner;
        if ((flags & DM_MAP_WRITE) && !m->physical->writable)
            return -EACCES;
        backed = backed && m->backed;
    }
    if (backed)
        return dm_pages_access(va, size, flags);
    int r = 0;
    for (uint64_t at = va; !r && at < end; at = range.start + range.size) {
        dm_rangemap_find(&space->mapped, at, &range);
        r = protect_mapping(space, range.owner, at, end, flags);
    }
    return r;
}

const struct dm_mapping *dm_space_mapping(const struct dm_space *space, uint64_t va)
{
    return dm_rangemap_owner(&space->mapped, va);
}

int dm_space_map_bytes(struct dm_space *space, struct dm_physical *physical, uint64_t offset,
                       uint64_t size, uint64_t align, unsigned flags, uint64_t *va)
{
    if (size == 0 || offset > physical->size || size > physical->size - offset)
        return -EINVAL;
    // The sum cannot wrap, because payload + size lies inside a file.
    uint64_t remainder = (physical->payload + offset) % DM_PAGE;
    uint64_t span = (remainder + size + DM_PAGE - 1) & ~(uint64_t)(DM_PAGE - 1), at;
    int r = dm_va_reserve(space, span + DM_GUARD, align, 0, &at);
    if (r)
        return r;
    r = map_pages(space, at, physical, offset - remainder, span, flags, false);
    if (r) {
        dm_va_free(space, at);
        return r;
    }
    *va = at + remainder;
    return 0;
}

int dm_space_unmap_bytes(struct dm_space *space, uint64_t va)
{
    struct dm_range range;
    if (!dm_rangemap_find(&space->mapped, va, &range))
        return -ENOENT;
    int r = dm_space_unmap(space, range.start, range.size);
    return r ? r : dm_va_free(space, range.start);
}
