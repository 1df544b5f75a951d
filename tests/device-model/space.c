// SPDX-License-Identifier: MIT
// Reservations and mappings: placement, aliases, holes, refusals, truncation by another process,
// and running out of memory.
#include "space.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "alloc.h"
#include "expect.h"
#include "guard.h"
#include "pkey.h"

enum { MIB = 1 << 20, GRANULE = 2 * MIB };
static struct dm_space space;
static struct dm_vram vram;

static uint8_t *at(uint64_t va)
{
    return (uint8_t *)(uintptr_t)va;
}

static void touch(void *p)
{
    ++*(volatile uint8_t *)p;
}

static void look(void *p)
{
    (void)*(volatile uint8_t *)p;
}

static enum dm_fault_kind fault_of(void (*fn)(void *), uint64_t va)
{
    struct dm_fault f;
    EXPECT_EQ(dm_guarded(fn, at(va), &f), -EFAULT);
    EXPECT_EQ(f.address, va);
    return f.kind;
}

static void reservations(void)
{
    uint64_t a, b, c, start, size;
    EXPECT_EQ(dm_va_reserve(&space, 0, 0, 0, &a), -EINVAL);
    EXPECT_EQ(dm_va_reserve(&space, 100, 0, 0, &a), -EINVAL);
    EXPECT_EQ(dm_va_reserve(&space, GRANULE, 3, 0, &a), -EINVAL);
    EXPECT_EQ(dm_va_reserve(&space, ~(uint64_t)0xfff, 0, 0, &a), -ENOMEM);
    EXPECT_EQ(dm_va_reserve(&space, GRANULE, UINT64_C(1) << 63, 0, &a), -ENOMEM);

    EXPECT_EQ(dm_va_reserve(&space, GRANULE, GRANULE, 0, &a), 0);
    EXPECT_EQ(a, space.base);
    EXPECT_EQ(dm_va_reserve(&space, GRANULE, 64 * MIB, 0, &b), 0);
    EXPECT_EQ(b, space.base + 64 * MIB);
    EXPECT_EQ(dm_va_reserve(&space, GRANULE, GRANULE, b + GRANULE, &c), 0);
    EXPECT_EQ(c, b + GRANULE); // a free hint is used
    EXPECT(dm_va_find(&space, c + 5, &start, &size));
    EXPECT_EQ(start, c);
    EXPECT_EQ(size, GRANULE);
    EXPECT_EQ(dm_va_free(&space, c + DM_PAGE), -ENOENT);
    EXPECT_EQ(dm_va_free(&space, c), 0);
    EXPECT_EQ(dm_va_free(&space, c), -ENOENT);
    EXPECT_EQ(dm_va_reserve(&space, GRANULE, GRANULE, b, &c), 0); // a taken hint is ignored
    EXPECT_EQ(c, a + GRANULE);
    EXPECT_EQ(dm_va_free(&space, c), 0);
    EXPECT_EQ(dm_va_free(&space, b), 0);
    EXPECT_EQ(dm_va_free(&space, a), 0);
    EXPECT(dm_space_contains(&space, a));
    EXPECT(!dm_space_contains(&space, (uint64_t)(uintptr_t)&a));

    // A range larger than the window lies elsewhere, but belongs to the device. ThreadSanitizer has
    // no space for it.
    if (THREAD_SANITIZER)
        return;
    EXPECT_EQ(dm_va_reserve(&space, 2 * space.size, GRANULE, 0, &a), 0);
    EXPECT(dm_space_contains(&space, a + 2 * space.size - 1));
    EXPECT_EQ(a % GRANULE, 0);
    EXPECT_EQ(fault_of(touch, a), DM_FAULT_PROTECTED);
    EXPECT_EQ(dm_va_free(&space, a), 0);
    EXPECT(!dm_space_contains(&space, a));
}

static void mappings(void)
{
    struct dm_physical *p;
    uint64_t va;
    EXPECT_EQ(dm_physical_create(&vram, 2 * GRANULE, 0, &p), 0);
    EXPECT_EQ(dm_va_reserve(&space, 6 * GRANULE, GRANULE, 0, &va), 0);
    EXPECT_EQ(dm_space_map(&space, va + 1, p, 0, GRANULE, 3), -EINVAL);
    EXPECT_EQ(dm_space_map(&space, va, p, 1, GRANULE, 3), -EINVAL);
    EXPECT_EQ(dm_space_map(&space, va, p, GRANULE, 2 * GRANULE, 3), -EINVAL);
    EXPECT_EQ(dm_space_map(&space, va, p, ~(uint64_t)0xfff, GRANULE, 3), -EINVAL);
    EXPECT_EQ(dm_space_map(&space, va, p, 0, ~(uint64_t)0xfff, 3), -EINVAL);
    EXPECT_EQ(dm_space_map(&space, va + 5 * GRANULE, p, 0, 2 * GRANULE, 3), -EINVAL);
    EXPECT_EQ(dm_space_map(&space, va + 6 * GRANULE, p, 0, GRANULE, 3), -EINVAL);

    EXPECT_EQ(dm_space_map(&space, va, p, 0, 2 * GRANULE, DM_MAP_READ | DM_MAP_WRITE), 0);
    EXPECT_EQ(dm_space_map(&space, va + GRANULE, p, 0, GRANULE, 3), -EEXIST);
    EXPECT_EQ(
        dm_space_map(&space, va + 3 * GRANULE, p, GRANULE, GRANULE, DM_MAP_READ | DM_MAP_WRITE), 0);
    EXPECT_EQ(dm_space_map(&space, va + 4 * GRANULE, p, GRANULE, GRANULE, 0), 0);
    EXPECT_EQ(p->references, 4);
    uint32_t rights = dm_pkey_enter();
    EXPECT_EQ(*at(va + GRANULE + 77), 0);
    *at(va + GRANULE + 77) = 42;
    EXPECT_EQ(*at(va + 3 * GRANULE + 77), 42); // a true alias
    EXPECT_EQ(fault_of(touch, va + 2 * GRANULE), DM_FAULT_PROTECTED);
    EXPECT_EQ(fault_of(look, va + 4 * GRANULE + 77), DM_FAULT_PROTECTED);
    EXPECT_EQ(dm_space_protect(&space, va + 4 * GRANULE, GRANULE, DM_MAP_READ), 0);
    EXPECT_EQ(*at(va + 4 * GRANULE + 77), 42);
    EXPECT_EQ(fault_of(touch, va + 4 * GRANULE + 77), DM_FAULT_PROTECTED);
    EXPECT_EQ(dm_space_protect(&space, va + GRANULE, 2 * GRANULE, DM_MAP_READ), -EINVAL);
    EXPECT_EQ(dm_space_protect(&space, va + 3 * GRANULE, 2 * GRANULE, DM_MAP_READ | DM_MAP_WRITE),
              0);
    touch(at(va + 4 * GRANULE + 77));
    EXPECT_EQ(*at(va + GRANULE + 77), 43);
    dm_pkey_leave(rights);

    EXPECT_EQ(dm_space_mapping(&space, va + 3 * GRANULE + 1)->offset, GRANULE);
    EXPECT(!dm_space_mapping(&space, va + 2 * GRANULE));
    EXPECT_EQ(dm_va_free(&space, va), -EBUSY);
    EXPECT_EQ(dm_space_unmap(&space, va, GRANULE), -EINVAL);
    EXPECT_EQ(dm_space_unmap(&space, va + GRANULE, 5 * GRANULE), -EINVAL);
    EXPECT_EQ(dm_space_unmap(&space, va, 7 * GRANULE), -EINVAL);
    EXPECT_EQ(dm_space_unmap(&space, va + 5 * GRANULE, GRANULE), 0); // no mapping here
    EXPECT_EQ(dm_space_unmap(&space, va, 6 * GRANULE), 0);
    EXPECT_EQ(p->references, 1);
    EXPECT_EQ(fault_of(look, va), DM_FAULT_PROTECTED);
    EXPECT_EQ(dm_va_free(&space, va), 0);
    dm_physical_unref(p);
    EXPECT_EQ(vram.used, 0);
}

static void bytes(void)
{
    struct dm_physical *p;
    uint64_t a, b;
    EXPECT_EQ(dm_physical_create(&vram, GRANULE, DM_PHYSICAL_EXPORTABLE, &p), 0);
    EXPECT_EQ(dm_space_map_bytes(&space, p, 0, GRANULE, GRANULE, 3, &a), 0);
    EXPECT_EQ(dm_space_map_bytes(&space, p, 5000, 10000, 0, 3, &b), 0);
    EXPECT_EQ(a % GRANULE, 0);
    EXPECT_EQ(b % DM_PAGE, 5000 % DM_PAGE);
    uint32_t rights = dm_pkey_enter();
    memset(at(b), 7, 10000);
    EXPECT_EQ(*at(a + 4999), 0);
    EXPECT_EQ(*at(a + 5000), 7);
    EXPECT_EQ(*at(a + 14999), 7);
    EXPECT_EQ(*at(a + 15000), 0);
    dm_pkey_leave(rights);
    uint64_t c;
    EXPECT_EQ(dm_space_map_bytes(&space, p, 0, 0, 0, 3, &c), -EINVAL);
    EXPECT_EQ(dm_space_map_bytes(&space, p, 1, GRANULE, 0, 3, &c), -EINVAL);
    EXPECT_EQ(dm_space_map_bytes(&space, p, UINT64_MAX, 2, 0, 3, &c), -EINVAL);
    EXPECT_EQ(dm_space_map_bytes(&space, p, 2, UINT64_MAX, 0, 3, &c), -EINVAL);
    EXPECT_EQ(dm_space_unmap_bytes(&space, b + 3), 0);
    EXPECT_EQ(dm_space_unmap_bytes(&space, b), -ENOENT);
    EXPECT_EQ(dm_space_unmap_bytes(&space, a), 0);
    dm_physical_unref(p);
    EXPECT_EQ(space.reserved.count, 0);
}

// The exporter shrinks its file under our mapping: this gives a status, not a SIGBUS.
static void truncation(void)
{
    struct dm_import_info info;
    struct dm_physical *p;
    uint64_t va;
    int fd = memfd_create("producer", MFD_CLOEXEC);
    EXPECT_EQ(ftruncate(fd, 8 * DM_PAGE), 0);
    EXPECT_EQ(dm_import_recognise(fd, &info), 0);
    EXPECT_EQ(info.kind, DM_FD_MEMFD);
    EXPECT(info.may_shrink);
    EXPECT_EQ(dm_physical_import(&vram, fd, &info, &p), 0);
    EXPECT_EQ(dm_space_map_bytes(&space, p, 0, 8 * DM_PAGE, 0, 3, &va), 0);
    uint32_t rights = dm_pkey_enter();
    EXPECT_EQ(dm_guarded(touch, at(va + 7 * DM_PAGE), NULL), 0);
    EXPECT_EQ(dm_physical_intact(p), 0);
    EXPECT_EQ(ftruncate(fd, 4 * DM_PAGE), 0);
    EXPECT_EQ(dm_physical_intact(p), -ENXIO);
    EXPECT_EQ(dm_guarded(touch, at(va + 3 * DM_PAGE), NULL), 0);
    EXPECT_EQ(fault_of(touch, va + 7 * DM_PAGE), DM_FAULT_TRUNCATED);
    EXPECT_EQ(ftruncate(fd, 8 * DM_PAGE), 0);
    EXPECT_EQ(dm_guarded(look, at(va + 7 * DM_PAGE), NULL), 0);
    EXPECT_EQ(*at(va + 7 * DM_PAGE), 0);
    dm_pkey_leave(rights);
    EXPECT_EQ(dm_space_unmap_bytes(&space, va), 0);
    dm_physical_unref(p);
    close(fd);
}

static int map_something(void)
{
    struct dm_physical *p;
    uint64_t va, vb;
    int r = dm_physical_create(&vram, GRANULE, DM_PHYSICAL_EXPORTABLE, &p);
    if (r)
        return r;
    r = dm_va_reserve(&space, GRANULE, GRANULE, 0, &va);
    if (r)
        goto no_va;
    r = dm_space_map(&space, va, p, 0, GRANULE, 3);
    if (r)
        goto no_map;
    r = dm_space_map_bytes(&space, p, 100, 5000, 0, 3, &vb);
    if (r == 0)
        EXPECT_EQ(dm_space_unmap_bytes(&space, vb), 0);
    EXPECT_EQ(dm_space_unmap(&space, va, GRANULE), 0);
no_map:
    EXPECT_EQ(dm_va_free(&space, va), 0);
no_va:
    dm_physical_unref(p);
    return r;
}

static void out_of_memory(void)
{
    uint64_t n = 1;
    for (;; n++) {
        dm_alloc_fail_after(n);
        int r = map_something();
        if (!dm_alloc_failed()) {
            EXPECT_EQ(r, 0);
            break;
        }
        EXPECT_EQ(r, -ENOMEM);
        EXPECT_EQ(vram.used, 0);
        EXPECT_EQ(space.mapped.count, 0);
        EXPECT_EQ(space.reserved.count, 0);
    }
    EXPECT(n > 4);
}

// Random reservations against a bitmap of pages.
static void stress(void)
{
    enum { PAGES = 512, STEPS = 20000 };
    static uint64_t starts[PAGES], sizes[PAGES];
    static bool page[PAGES * 4];
    uint64_t seed = 99, live = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        if (live && (live == PAGES || draw(&seed) % 2)) {
            uint64_t k = draw(&seed) % live;
            EXPECT_EQ(dm_va_free(&space, starts[k]), 0);
            memset(page + (starts[k] - space.base) / DM_PAGE, 0, sizes[k]);
            live--;
            starts[k] = starts[live];
            sizes[k] = sizes[live];
            continue;
        }
        uint64_t size = 1 + draw(&seed) % 4, align = UINT64_C(1) << (draw(&seed) % 4), want = 0,
                 n = 0, got;
        for (; n < size; want += align)
            for (n = 0; n < size && !page[want + n];)
                n++;
        want -= align;
        EXPECT_EQ(dm_va_reserve(&space, size * DM_PAGE, align * DM_PAGE, 0, &got), 0);
        EXPECT_EQ(got, space.base + want * DM_PAGE);
        memset(page + want, 1, size);
        starts[live] = got;
        sizes[live++] = size;
    }
    while (live)
        EXPECT_EQ(dm_va_free(&space, starts[--live]), 0);
}

int main(void)
{
    printf("protection keys: %s\n", dm_pkey_init() ? "yes" : "no");
    EXPECT_EQ(dm_guard_init(), 0);
    EXPECT_EQ(dm_space_init(&space, UINT64_C(1) << 40), 0);
    printf("window: %#llx, %llu GiB\n", (unsigned long long)space.base,
           (unsigned long long)space.size >> 30);
    EXPECT_EQ(dm_vram_init(&vram, UINT64_C(80) << 30, GRANULE), 0);
    reservations();
    mappings();
    bytes();
    truncation();
    out_of_memory();
    stress();
    dm_space_finish(&space);
    dm_vram_finish(&vram);
    dm_pkey_finish();
    return 0;
}
