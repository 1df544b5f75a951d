// SPDX-License-Identifier: MIT
// Freed memory that keeps its pages: who gets it back, with which contents, and when it is a fault
// to use it.
#include "kept.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "alloc.h"
#include "expect.h"
#include "guard.h"
#include "heap.h"
#include "pkey.h"

enum { MIB = 1 << 20, GRANULE = 2 * MIB };
static struct dm_space space;
static struct dm_vram vram;
static struct dm_heap heap;

static uint8_t *at(uint64_t va)
{
    return (uint8_t *)(uintptr_t)va;
}

static struct dm_block *alloc(uint64_t size)
{
    struct dm_block *b;
    EXPECT_EQ(dm_heap_alloc(&heap, size, &b), 0);
    return b;
}

static void fill(const struct dm_block *b, uint8_t value)
{
    uint32_t rights = dm_pkey_enter();
    memset(at(b->va), value, b->size);
    dm_pkey_leave(rights);
}

static void expect_zero(const struct dm_block *b)
{
    uint32_t rights = dm_pkey_enter();
    for (uint64_t k = 0; k < b->size; k++)
        EXPECT_EQ(*at(b->va + k), 0);
    dm_pkey_leave(rights);
}

static void expect_byte(uint64_t va, uint8_t value)
{
    uint32_t rights = dm_pkey_enter();
    EXPECT_EQ(*at(va), value);
    dm_pkey_leave(rights);
}

// The bytes of the arena that take the host's memory.
static uint64_t arena_pages_B(void)
{
    struct stat st;
    EXPECT_EQ(fstat(vram.arena.fd, &st), 0);
    return (uint64_t)st.st_blocks * 512;
}

static void read_byte(void *address)
{
    *(volatile uint8_t *)address;
}

static int touch(uint64_t va)
{
    uint32_t rights = dm_pkey_enter();
    int r = dm_guarded(read_byte, at(va), NULL);
    dm_pkey_leave(rights);
    return r;
}

static void drop_all(void)
{
    dm_kept_drop(&space, 0, UINT64_MAX);
    EXPECT_EQ(space.kept.size_B, 0);
    EXPECT_EQ(space.kept.open, 0);
    EXPECT_EQ(arena_pages_B(), 0);
}

// The same addresses, the same pages, zero again; and free memory of the device meanwhile.
static void comes_back(void)
{
    for (unsigned step = 1; step <= 3; step++) {
        struct dm_block *b = alloc(6 * MIB);
        uint64_t va = b->va;
        expect_zero(b);
        fill(b, (uint8_t)step);
        EXPECT_EQ(vram.used, 6 * MIB);
        EXPECT_EQ(dm_heap_free(&heap, b), 0);
        EXPECT_EQ(vram.used, 0);
        EXPECT_EQ(space.mapped.count, 0);
        EXPECT_EQ(space.reserved.count, 0);
        EXPECT_EQ(space.kept.size_B, 6 * MIB);
        EXPECT_EQ(arena_pages_B(), 6 * MIB);
        b = alloc(6 * MIB - step);
        EXPECT_EQ(b->va, va);
        EXPECT_EQ(space.kept.size_B, 0);
        EXPECT_EQ(dm_heap_free(&heap, b), 0);
    }
    drop_all();
}

// Only pages that were written are cleared, so that the rest takes no memory.
static void clears_what_exists(void)
{
    struct dm_block *b = alloc(64 * MIB);
    uint32_t rights = dm_pkey_enter();
    *at(b->va + 5 * DM_PAGE + 1) = 1;
    *at(b->va + 64 * MIB - 1) = 2;
    dm_pkey_leave(rights);
    EXPECT_EQ(dm_heap_free(&heap, b), 0);
    b = alloc(64 * MIB);
    EXPECT_EQ(arena_pages_B(), 2 * DM_PAGE);
    expect_zero(b);
    EXPECT_EQ(dm_heap_free(&heap, b), 0);
    drop_all();
}

// Each time other pages are written too: at the start, next to it, and far away.
static void clears_what_comes_to_exist(void)
{
    static const unsigned pages[] = {0, 2, 1, 3, 200, 511, 5, 4};
    bool written[512] = {false};
    uint64_t count = 0;
    for (unsigned i = 0; i < 40; i++) {
        struct dm_block *b = alloc(2 * MIB);
        const unsigned page = i < 8 ? pages[i] : i * 37 % 512;
        uint32_t rights = dm_pkey_enter();
        for (unsigned k = 0; k < 512; k++)
            for (unsigned j = 0; j < DM_PAGE * written[k]; j++) // a read makes a page, too
                EXPECT_EQ(*at(b->va + k * DM_PAGE + j), 0);
        for (unsigned k = 0; k < 512; k++)
            if (k == page || (written[k] && (i + k) % 3))
                memset(at(b->va + k * DM_PAGE), (int)(i + 1), DM_PAGE);
        dm_pkey_leave(rights);
        count += !written[page];
        written[page] = true;
        EXPECT_EQ(dm_heap_free(&heap, b), 0);
        b = alloc(2 * MIB);
        EXPECT_EQ(arena_pages_B(), count * DM_PAGE);
        EXPECT_EQ(dm_heap_free(&heap, b), 0);
    }
    drop_all();
}

static void closed_is_a_fault(void)
{
    struct dm_block *b = alloc(4 * MIB), *other = alloc(4 * MIB);
    uint64_t va = b->va;
    fill(b, 7);
    EXPECT_EQ(dm_heap_free(&heap, b), 0);
    EXPECT(dm_space_has_open(&space));
    dm_space_close_kept(&space);
    EXPECT(!dm_space_has_open(&space));
    EXPECT_EQ(touch(va), -EFAULT);
    EXPECT_EQ(touch(va + 4 * MIB - 1), -EFAULT);
    EXPECT_EQ(touch(other->va), 0);
    b = alloc(4 * MIB);
    EXPECT_EQ(b->va, va);
    EXPECT(!dm_space_has_open(&space));
    expect_zero(b);
    EXPECT_EQ(dm_heap_free(&heap, other), 0);
    EXPECT_EQ(dm_heap_free(&heap, b), 0);
    drop_all();
}

// Addresses are chosen as if nothing were kept, and another mapping there ends it.
static void makes_room(void)
{
    struct dm_block *b = alloc(8 * MIB);
    uint64_t va = b->va;
    fill(b, 9);
    EXPECT_EQ(dm_heap_free(&heap, b), 0);
    struct dm_block *small = alloc(4 * MIB);
    EXPECT_EQ(small->va, va);
    EXPECT_EQ(space.kept.size_B, 0);
    EXPECT_EQ(arena_pages_B(), 0);
    expect_zero(small);
    EXPECT_EQ(touch(va + 4 * MIB), -EFAULT);
    EXPECT_EQ(dm_heap_free(&heap, small), 0);
    drop_all();
}

// A mapping in the middle of kept memory ends it, too.
static void makes_room_in_the_middle(void)
{
    struct dm_block *low = alloc(4 * MIB), *b = alloc(30 * MIB);
    fill(b, 9);
    EXPECT_EQ(dm_heap_free(&heap, b), 0);
    uint64_t kept = space.kept.size_B;
    struct dm_block *aligned = alloc(32 * MIB);
    EXPECT(aligned->va > low->va + 4 * MIB && kept == 30 * MIB);
    EXPECT_EQ(space.kept.size_B, 0);
    fill(aligned, 1);
    dm_space_close_kept(&space);
    EXPECT_EQ(touch(aligned->va), 0);
    EXPECT_EQ(dm_heap_free(&heap, aligned), 0);
    EXPECT_EQ(dm_heap_free(&heap, low), 0);
    drop_all();
}

static void has_a_limit(void)
{
    enum { COUNT = 20, SIZE = 32 * MIB };
    struct dm_block *blocks[COUNT];
    for (int i = 0; i < COUNT; i++)
        blocks[i] = alloc(SIZE);
    uint64_t first = blocks[0]->va, last = blocks[COUNT - 1]->va;
    for (int i = 0; i < COUNT; i++) {
        uint32_t rights = dm_pkey_enter();
        *at(blocks[i]->va) = 1;
        dm_pkey_leave(rights);
    }
    for (int i = 0; i < COUNT; i++)
        EXPECT_EQ(dm_heap_free(&heap, blocks[i]), 0);
    EXPECT_EQ(space.kept.size_B, DM_KEPT_MOST);
    EXPECT_EQ(arena_pages_B(), DM_KEPT_MOST / SIZE * DM_PAGE);
    EXPECT_EQ(touch(first), -EFAULT);
    EXPECT_EQ(touch(last), 0);
    drop_all();
    EXPECT_EQ(dm_heap_free(&heap, alloc(DM_KEPT_MOST + 1)), 0);
    EXPECT_EQ(space.kept.size_B, 0);
}

// Memory that others may still use is not kept.
static void shared_is_not_kept(void)
{
    struct dm_block *b = alloc(4 * MIB);
    uint64_t offset;
    dm_heap_physical(b, &offset)->shared = true;
    EXPECT_EQ(dm_heap_free(&heap, b), 0);
    EXPECT_EQ(space.kept.size_B, 0);
    b = alloc(4 * MIB);
    struct dm_physical *used = dm_physical_ref(dm_heap_physical(b, &offset));
    EXPECT_EQ(dm_heap_free(&heap, b), 0);
    EXPECT_EQ(space.kept.size_B, 0);
    dm_physical_unref(used);
    EXPECT_EQ(vram.used, 0);
}

// Pages whose mapping stays are accessible until they are closed.
static void freed_in_place(void)
{
    const unsigned both = DM_MAP_READ | DM_MAP_WRITE;
    struct dm_block *b = alloc(4 * MIB);
    struct dm_freed_pages pages = {0}, others = {0};
    uint64_t va = b->va;
    fill(b, 7);
    EXPECT_EQ(dm_pages_access(va, 3 * MIB, 0), 0);
    EXPECT_EQ(dm_freed_take(&space, &pages, va, MIB, both), 0);
    EXPECT_EQ(dm_freed_take(&space, &others, va + 2 * MIB, MIB, both), 0);
    EXPECT(!dm_space_has_open(&space));
    EXPECT_EQ(touch(va + MIB - 1), 0);
    EXPECT_EQ(touch(va + MIB), -EFAULT);
    dm_freed_leave(&space, &pages);
    EXPECT(dm_space_has_open(&space));
    EXPECT_EQ(touch(va), 0);
    EXPECT_EQ(dm_freed_take(&space, &pages, va, MIB, both), 0); // the same pages
    EXPECT(!dm_space_has_open(&space));
    dm_freed_leave(&space, &pages);
    dm_freed_leave(&space, &others);
    dm_space_close_kept(&space);
    EXPECT(!dm_space_has_open(&space));
    EXPECT_EQ(touch(va + MIB - 1), -EFAULT);
    EXPECT_EQ(touch(va + 2 * MIB), -EFAULT);
    EXPECT_EQ(touch(va + 3 * MIB), 0);
    dm_freed_forget(&space, &pages);
    dm_freed_forget(&space, &others);
    EXPECT_EQ(dm_pages_access(va, 4 * MIB, both), 0);
    expect_byte(va, 7); // the same bytes
    EXPECT_EQ(dm_heap_free(&heap, b), 0);
    drop_all();
}

// Ranges that are used in turn stay accessible together, and only one of them when the others are
// closed.
static void freed_in_turn(void)
{
    const unsigned both = DM_MAP_READ | DM_MAP_WRITE;
    struct dm_block *b = alloc(4 * MIB);
    struct dm_freed_pages pages = {0};
    uint64_t va = b->va;
    fill(b, 7);
    EXPECT_EQ(dm_pages_access(va, 4 * MIB, 0), 0);
    EXPECT_EQ(dm_freed_take(&space, &pages, va + MIB, MIB, both), 0);
    dm_freed_leave(&space, &pages);
    EXPECT_EQ(dm_freed_take(&space, &pages, va + 3 * MIB, MIB, both), 0);
    EXPECT(dm_space_has_open(&space));
    dm_freed_leave(&space, &pages);
    // Neither that range nor a part of it takes a system call, which is counted like an allocation.
    dm_alloc_fail_after(1);
    EXPECT_EQ(dm_freed_take(&space, &pages, va + 2 * MIB, MIB, both), 0);
    EXPECT(!dm_alloc_failed());
    EXPECT_EQ(touch(va), -EFAULT);
    EXPECT_EQ(touch(va + MIB), 0);
    EXPECT_EQ(touch(va + 4 * MIB - 1), 0);
    dm_space_close_kept(&space);
    EXPECT(!dm_space_has_open(&space));
    EXPECT(!pages.broken);
    EXPECT_EQ(touch(va + 2 * MIB - 1), -EFAULT);
    EXPECT_EQ(touch(va + 2 * MIB), 0);
    EXPECT_EQ(touch(va + 3 * MIB - 1), 0);
    EXPECT_EQ(touch(va + 3 * MIB), -EFAULT);
    // Without memory for a mapping, nothing is in use, and accessible pages still count.
    dm_freed_leave(&space, &pages);
    dm_alloc_fail_after(1);
    EXPECT_EQ(dm_freed_take(&space, &pages, va, MIB, both), -ENOMEM);
    EXPECT(dm_alloc_failed());
    EXPECT(dm_space_has_open(&space));
    dm_space_close_kept(&space);
    EXPECT_EQ(touch(va + 2 * MIB), -EFAULT);
    EXPECT_EQ(dm_pages_access(va, 4 * MIB, both), 0);
    EXPECT_EQ(dm_heap_free(&heap, b), 0);
    drop_all();
}

static void map(uint64_t va, struct dm_physical *p, unsigned flags)
{
    EXPECT_EQ(dm_space_map(&space, va, p, 0, GRANULE, 0), 0);
    EXPECT_EQ(dm_space_protect(&space, va, GRANULE, flags), 0);
}

static void write_byte(uint64_t va, uint8_t value)
{
    uint32_t rights = dm_pkey_enter();
    *at(va) = value;
    dm_pkey_leave(rights);
}

// Mappings of memory that others hold are left where they were.
static void left_behind(void)
{
    const unsigned both = DM_MAP_READ | DM_MAP_WRITE;
    struct dm_physical *p, *q;
    uint64_t va;
    EXPECT_EQ(dm_physical_create(&vram, GRANULE, 0, &p), 0);
    EXPECT_EQ(dm_physical_create(&vram, GRANULE, 0, &q), 0);
    EXPECT_EQ(dm_va_reserve(&space, 2 * GRANULE, GRANULE, 0, &va), 0);
    // Without access, nothing is mapped.
    EXPECT_EQ(dm_space_map(&space, va, p, 0, GRANULE, 0), 0);
    EXPECT_EQ(touch(va), -EFAULT);
    EXPECT_EQ(dm_space_leave(&space, va, GRANULE, 0), 0);
    EXPECT(!dm_space_has_open(&space));
    map(va, p, both);
    write_byte(va, 5);
    EXPECT_EQ(dm_space_leave(&space, va, GRANULE, both), 0);
    EXPECT(dm_space_mapping(&space, va) == NULL);
    EXPECT(dm_space_has_open(&space));
    // The same memory takes no system call there, which would be counted like an allocation: the
    // mapping and its place in the map are the first two.
    dm_alloc_fail_after(3);
    map(va, p, both);
    EXPECT(!dm_alloc_failed());
    expect_byte(va, 5);
    EXPECT(!dm_space_has_open(&space));
    // Other memory there.
    EXPECT_EQ(dm_space_leave(&space, va, GRANULE, both), 0);
    map(va, q, both);
    expect_byte(va, 0);
    write_byte(va, 6);
    // Less access than before, and after the pages were closed.
    EXPECT_EQ(dm_space_leave(&space, va, GRANULE, both), 0);
    map(va, q, DM_MAP_READ);
    expect_byte(va, 6);
    EXPECT_EQ(dm_space_leave(&space, va, GRANULE, DM_MAP_READ), 0);
    dm_space_close_kept(&space);
    EXPECT_EQ(touch(va), -EFAULT);
    map(va, q, both);
    write_byte(va, 7);
    // A mapping without access keeps the pages that were left, and they can still be closed.
    EXPECT_EQ(dm_space_leave(&space, va, GRANULE, both), 0);
    EXPECT_EQ(dm_space_map(&space, va, p, 0, GRANULE, 0), 0);
    EXPECT(dm_space_has_open(&space));
    dm_space_close_kept(&space);
    EXPECT_EQ(touch(va), -EFAULT);
    EXPECT_EQ(dm_space_protect(&space, va, GRANULE, DM_MAP_READ), 0);
    expect_byte(va, 5);
    // Any mapping ends the pages that were left in its way, and so does the end of the memory.
    EXPECT_EQ(dm_space_leave(&space, va, GRANULE, DM_MAP_READ), 0);
    EXPECT_EQ(dm_space_map(&space, va + GRANULE / 2, p, 0, GRANULE, both), 0);
    EXPECT_EQ(touch(va), -EFAULT);
    expect_byte(va + GRANULE / 2, 5);
    EXPECT_EQ(dm_space_leave(&space, va + GRANULE / 2, GRANULE, both), 0);
    uint64_t used_B = arena_pages_B();
    dm_physical_unref(p);
    EXPECT(arena_pages_B() < used_B);
    EXPECT_EQ(touch(va + GRANULE / 2), -EFAULT);
    EXPECT(!dm_space_has_open(&space));
    // The last reference may be the mapping's.
    map(va, q, both);
    dm_physical_unref(q);
    EXPECT_EQ(dm_space_leave(&space, va, GRANULE, both), 0);
    EXPECT_EQ(touch(va), -EFAULT);
    EXPECT_EQ(space.kept.left, 0);
    EXPECT_EQ(space.kept.size_B, 0);
    EXPECT_EQ(vram.used, 0);
    EXPECT_EQ(dm_va_free(&space, va), 0);
}

// Only the newest ones are left.
static void left_most(void)
{
    const unsigned both = DM_MAP_READ | DM_MAP_WRITE;
    struct dm_physical *p;
    uint64_t va;
    EXPECT_EQ(dm_physical_create(&vram, GRANULE, 0, &p), 0);
    EXPECT_EQ(dm_va_reserve(&space, (DM_LEFT_MOST + 1) * (uint64_t)GRANULE, GRANULE, 0, &va), 0);
    for (uint64_t i = 0; i <= DM_LEFT_MOST; i++) {
        map(va + i * GRANULE, p, both);
        EXPECT_EQ(dm_space_leave(&space, va + i * GRANULE, GRANULE, both), 0);
    }
    EXPECT_EQ(space.kept.left, DM_LEFT_MOST);
    EXPECT_EQ(touch(va), -EFAULT);
    EXPECT_EQ(touch(va + GRANULE), 0);
    dm_kept_drop(&space, va + GRANULE, GRANULE);
    EXPECT_EQ(touch(va + GRANULE), -EFAULT);
    EXPECT_EQ(touch(va + 2 * GRANULE), 0);
    dm_kept_drop(&space, 0, UINT64_MAX);
    EXPECT_EQ(space.kept.left, 0);
    EXPECT_EQ(touch(va + 2 * GRANULE), -EFAULT);
    dm_physical_unref(p);
    EXPECT_EQ(dm_va_free(&space, va), 0);
}

// A failure while taking or keeping memory loses nothing.
static void failures(void)
{
    for (uint64_t n = 1;; n++) {
        struct dm_block *b = alloc(4 * MIB), *again;
        fill(b, 3);
        dm_alloc_fail_after(n);
        EXPECT_EQ(dm_heap_free(&heap, b), 0);
        dm_space_close_kept(&space);
        int r = dm_heap_alloc(&heap, 4 * MIB, &again);
        bool failed = dm_alloc_failed();
        EXPECT(r == 0 || (failed && r == -ENOMEM));
        if (r == 0) {
            expect_zero(again);
            EXPECT_EQ(dm_heap_free(&heap, again), 0);
        }
        EXPECT_EQ(vram.used, 0);
        drop_all();
        if (!failed)
            break;
    }
}

int main(void)
{
    dm_pkey_init();
    EXPECT_EQ(dm_guard_init(), 0);
    EXPECT_EQ(dm_space_init(&space, UINT64_C(1) << 40), 0);
    EXPECT_EQ(dm_vram_init(&vram, UINT64_C(85017493504), GRANULE), 0);
    dm_heap_init(&heap, &space, &vram);
    comes_back();
    clears_what_exists();
    clears_what_comes_to_exist();
    closed_is_a_fault();
    makes_room();
    makes_room_in_the_middle();
    has_a_limit();
    shared_is_not_kept();
    freed_in_place();
    freed_in_turn();
    left_behind();
    left_most();
    failures();
    fill(alloc(4 * MIB), 1);
    EXPECT_EQ(dm_heap_free(&heap, alloc(8 * MIB)), 0);
    dm_heap_finish(&heap);
    dm_space_finish(&space);
    EXPECT_EQ(vram.used, 0);
    dm_vram_finish(&vram);
    return 0;
}
