// SPDX-License-Identifier: MIT
// The device heap: the recorded distances and totals, look-ups of every block, contents that stay
// apart, and running out of memory.
#include "heap.h"

#include <errno.h>
#include <string.h>

#include "alloc.h"
#include "expect.h"
#include "guard.h"
#include "heap_check.h"
#include "kept.h"
#include "pkey.h"

enum { KIB = 1 << 10, MIB = 1 << 20, GRANULE = 2 * MIB };
static struct dm_space space;
static struct dm_vram vram;
static struct dm_heap heap;

static uint8_t *at(uint64_t va)
{
    return (uint8_t *)(uintptr_t)va;
}

// x_memory "alloc/size-*": the distance between two allocations of one size. "alloc/info-delta-*":
// the memory that the first one takes.
static void recorded(void)
{
    static const struct {
        uint64_t size, apart, taken;
    } rows[] = {
        {1, 512, 2097152},
        {255, 512, 2097152},
        {512, 512, 2097152},
        {513, 1024, 2097152},
        {1000, 1024, 2097152},
        {4095, 4096, 2097152},
        {65536, 65536, 2097152},
        {65537, 66048, 2097152},
        {1048575, 1048576, 2097152},
        {1048576, 1048576, 2097152},
        {1048577, 2097152, 2097152},
        {2097152, 2097152, 2097152},
        {2097153, 4194304, 4194304},
        {4194305, 6291456, 6291456},
        {5242880, 6291456, 6291456},
        {16777217, 18874368, 18874368},
        {34603008, 67108864, 35651584},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dm_block *p, *q, *again;
        EXPECT_EQ(dm_heap_alloc(&heap, rows[i].size, &p), 0);
        EXPECT_EQ(vram.used, rows[i].taken);
        EXPECT_EQ(dm_heap_alloc(&heap, rows[i].size, &q), 0);
        EXPECT_EQ(q->va - p->va, rows[i].apart);
        EXPECT_EQ(p->va % 512, 0);
        EXPECT_EQ(p->size, rows[i].size);
        EXPECT(dm_heap_find(&heap, p->va) == p);
        EXPECT(dm_heap_find(&heap, p->va + rows[i].size - 1) == p);
        EXPECT(dm_heap_find(&heap, p->va + rows[i].size) ==
               (rows[i].size == rows[i].apart ? q : NULL));
        EXPECT(dm_heap_find(&heap, p->va - 1) == NULL);
        EXPECT(dm_heap_next(&heap, 0) == p);
        EXPECT(dm_heap_next(&heap, p->va + 1) == q);
        EXPECT(dm_heap_next(&heap, q->va + 1) == NULL);
        uint64_t va = p->va;
        EXPECT_EQ(dm_heap_free(&heap, p), 0);
        EXPECT(dm_heap_find(&heap, va) == NULL);
        EXPECT_EQ(dm_heap_alloc(&heap, rows[i].size, &again), 0);
        EXPECT_EQ(again->va, va); // "alloc/reuse"
        EXPECT_EQ(dm_heap_free(&heap, again), 0);
        EXPECT_EQ(dm_heap_free(&heap, q), 0);
        EXPECT_EQ(vram.used, 0);
        EXPECT_EQ(heap_check(&heap), 0);
    }
    // "alloc/info-delta-many-small"
    static struct dm_block *many[3000];
    for (int i = 0; i < 3000; i++)
        EXPECT_EQ(dm_heap_alloc(&heap, 1000, &many[i]), 0);
    EXPECT_EQ(vram.used, 4194304);
    for (int i = 0; i < 3000; i++)
        EXPECT_EQ(dm_heap_free(&heap, many[i]), 0);
    EXPECT_EQ(vram.used, 0);
}

static void refused(void)
{
    static const uint64_t sizes[] = {UINT64_C(1) << 40, UINT64_C(1) << 47, UINT64_C(1) << 62,
                                     UINT64_MAX - 511, UINT64_MAX};
    struct dm_block *b;
    EXPECT_EQ(dm_heap_alloc(&heap, 0, &b), -EINVAL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        EXPECT_EQ(dm_heap_alloc(&heap, sizes[i], &b), -ENOMEM);
    EXPECT_EQ(dm_heap_alloc(&heap, vram.total + 1, &b), -ENOMEM);
    // All of an 80 GB card at once, on any host; then not a byte more.
    EXPECT_EQ(dm_heap_alloc(&heap, vram.total & ~(uint64_t)(GRANULE - 1), &b), 0);
    struct dm_block *c;
    EXPECT_EQ(dm_heap_alloc(&heap, 1, &c), -ENOMEM);
    EXPECT_EQ(heap_check(&heap), 0);
    EXPECT_EQ(dm_heap_free(&heap, b), 0);
    EXPECT(dm_heap_find(&heap, 0) == NULL);
    EXPECT(dm_heap_find(&heap, UINT64_MAX) == NULL);
}

// Fresh memory is zero, also in an emptied chunk that is used again, with little or much of it
// dirty.
static void zero(void)
{
    static const uint64_t sizes[] = {4 * KIB, 600 * KIB, 1 * MIB, 3 * MIB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int round = 0; round < 3; round++) {
            struct dm_block *b;
            EXPECT_EQ(dm_heap_alloc(&heap, sizes[i], &b), 0);
            uint32_t rights = dm_pkey_enter();
            for (uint64_t k = 0; k < sizes[i]; k += 512)
                EXPECT_EQ(*at(b->va + k), 0);
            memset(at(b->va), 0xa5, sizes[i]);
            dm_pkey_leave(rights);
            EXPECT_EQ(dm_heap_free(&heap, b), 0);
        }
}

struct live {
    struct dm_block *block;
    uint64_t va, size;
    uint8_t mark;
};

static void paint(const struct live *l)
{
    *at(l->va) = l->mark;
    *at(l->va + l->size - 1) = l->mark;
}

static void check(const struct live *l)
{
    EXPECT_EQ(*at(l->va), l->mark);
    EXPECT_EQ(*at(l->va + l->size - 1), l->mark);
    EXPECT(dm_heap_find(&heap, l->va) == l->block);
    EXPECT(dm_heap_find(&heap, l->va + l->size / 2) == l->block);
    EXPECT_EQ(l->block->size, l->size);
}

static void stress(uint64_t seed, unsigned steps, uint64_t largest)
{
    enum { LIVE = 600 };
    static struct live live[LIVE];
    unsigned count = 0;
    for (unsigned i = 0; i < steps; i++) {
        bool add = count == 0 || (count < LIVE && draw(&seed) % 100 < ((i / 3000) % 2 ? 40 : 60));
        if (add) {
            struct live *l = &live[count++];
            uint64_t scale = draw(&seed) % 4;
            l->size = 1 + draw(&seed) % (largest >> (scale * 3));
            l->mark = (uint8_t)(1 + draw(&seed) % 255);
            EXPECT_EQ(dm_heap_alloc(&heap, l->size, &l->block), 0);
            l->va = l->block->va;
            uint32_t rights = dm_pkey_enter();
            paint(l);
            dm_pkey_leave(rights);
        } else {
            unsigned k = (unsigned)(draw(&seed) % count);
            uint32_t rights = dm_pkey_enter();
            check(&live[k]);
            dm_pkey_leave(rights);
            EXPECT_EQ(dm_heap_free(&heap, live[k].block), 0);
            live[k] = live[--count];
        }
        EXPECT_EQ(heap.blocks, count);
        if (i % 256 == 0) {
            EXPECT_EQ(heap_check(&heap), 0);
            unsigned seen = 0;
            for (struct dm_block *b = dm_heap_next(&heap, 0); b; b = dm_heap_next(&heap, b->va + 1))
                seen++;
            EXPECT_EQ(seen, count);
        }
    }
    while (count)
        EXPECT_EQ(dm_heap_free(&heap, live[--count].block), 0);
    EXPECT_EQ(vram.used, 0);
    EXPECT_EQ(heap_check(&heap), 0);
}

static void out_of_memory(uint64_t size)
{
    for (uint64_t n = 1;; n++) {
        struct dm_block *b;
        dm_heap_trim(&heap, 0);
        dm_kept_drop(&space, 0, UINT64_MAX); // else it would make room for a second try
        EXPECT_EQ(space.mapped.count, 0);
        dm_alloc_fail_after(n);
        int r = dm_heap_alloc(&heap, size, &b);
        if (!dm_alloc_failed()) {
            EXPECT_EQ(r, 0);
            EXPECT_EQ(dm_heap_free(&heap, b), 0);
            break;
        }
        EXPECT_EQ(r, -ENOMEM);
        EXPECT_EQ(heap_check(&heap), 0);
        EXPECT_EQ(vram.used, 0);
        EXPECT_EQ(space.reserved.count, 0);
    }
}

int main(void)
{
    dm_pkey_init();
    EXPECT_EQ(dm_guard_init(), 0);
    EXPECT_EQ(dm_space_init(&space, UINT64_C(1) << 40), 0);
    EXPECT_EQ(dm_vram_init(&vram, UINT64_C(85017493504), GRANULE), 0);
    dm_heap_init(&heap, &space, &vram);
    recorded();
    refused();
    zero();
    stress(5, 30000, 64 * KIB);
    stress(6, 20000, 1 * MIB);
    stress(7, 3000, 8 * MIB);
    out_of_memory(100);
    out_of_memory(5 * MIB);

    struct dm_block *b;
    EXPECT_EQ(dm_heap_alloc(&heap, 100, &b), 0);
    EXPECT_EQ(dm_heap_alloc(&heap, 5 * MIB, &b), 0);
    dm_heap_finish(&heap);
    EXPECT_EQ(vram.used, 0);
    EXPECT_EQ(space.mapped.count, 0);
    dm_space_finish(&space);
    dm_vram_finish(&vram);
    return 0;
}
