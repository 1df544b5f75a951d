// SPDX-License-Identifier: MIT
// Times the hot paths in nanoseconds, to find regressions. Prints the results; asserts only
// success.
#include <string.h>
#include <time.h>

#include "expect.h"
#include "guard.h"
#include "heap.h"
#include "pkey.h"

enum { MIB = 1 << 20, GRANULE = 2 * MIB, ENTRIES = 10000 };
static struct dm_space space;
static struct dm_vram vram;
static struct dm_heap heap;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void nothing(void *arg)
{
    __asm__ volatile("" ::: "memory");
}

static void look(void *p)
{
    (void)*(volatile uint8_t *)p;
}

// The best of five runs.
#define BENCH(name, count, body)                                                                   \
    do {                                                                                           \
        double best = 1e18;                                                                        \
        for (int run = 0; run < 5; run++) {                                                        \
            double start = now();                                                                  \
            for (uint64_t i = 0; i < (count); i++) {                                               \
                body;                                                                              \
            }                                                                                      \
            double each = (now() - start) / (double)(count);                                       \
            best = each < best ? each : best;                                                      \
        }                                                                                          \
        printf("%-44s %9.1f ns\n", name, best);                                                    \
    } while (0)

int main(void)
{
    printf("protection keys: %s\n", dm_pkey_init() ? "yes" : "no");
    EXPECT_EQ(dm_guard_init(), 0);
    EXPECT_EQ(dm_space_init(&space, UINT64_C(1) << 40), 0);
    EXPECT_EQ(dm_vram_init(&vram, UINT64_C(80) << 30, GRANULE), 0);
    dm_heap_init(&heap, &space, &vram);
    struct dm_block *b, *c;
    struct dm_physical *p;
    uint64_t va, vb, seed = 1;

    BENCH("heap: alloc + free 4 KiB, otherwise empty", 100000, dm_heap_alloc(&heap, 4096, &b);
          dm_heap_free(&heap, b));
    EXPECT_EQ(dm_heap_alloc(&heap, 4096, &c), 0);
    BENCH("heap: alloc + free 4 KiB, chunk in use", 100000, dm_heap_alloc(&heap, 4096, &b);
          dm_heap_free(&heap, b));
    static struct dm_block *many[1000];
    BENCH("heap: 1000 x alloc then free 4 KiB (each)", 20,
          for (int k = 0; k < 1000; k++) dm_heap_alloc(&heap, 4096, &many[k]);
          for (int k = 0; k < 1000; k++) dm_heap_free(&heap, many[(k * 7) % 1000]));
    printf("  (divide the line above by 1000)\n");
    BENCH("heap: alloc + free 16 MiB, untouched", 1000, dm_heap_alloc(&heap, 16 * MIB, &b);
          dm_heap_free(&heap, b));
    BENCH("heap: find, 1 block", 1000000, EXPECT(dm_heap_find(&heap, c->va + (i & 1023))));

    struct dm_rangemap map;
    dm_rangemap_init(&map);
    BENCH("rangemap: insert in order, then remove", 20, {
        for (uint64_t k = 0; k < ENTRIES; k++)
            dm_rangemap_insert(&map, k << 12, 2048, &map);
        for (uint64_t k = 0; k < ENTRIES; k++)
            dm_rangemap_remove(&map, ((k * 7919) % ENTRIES) << 12, NULL);
    });
    printf("  (divide the line above by %d)\n", ENTRIES);
    for (uint64_t k = 0; k < ENTRIES; k++)
        dm_rangemap_insert(&map, ((k * 7919) % ENTRIES) << 12, 2048, &map);
    BENCH("rangemap: find among 10^4, random", 1000000,
          EXPECT(dm_rangemap_owner(&map, (draw(&seed) % ENTRIES) << 12)));
    volatile uint64_t sink;
    BENCH("  (of which the random number)", 1000000, sink = (draw(&seed) % ENTRIES) << 12);
    (void)sink;
    dm_rangemap_finish(&map);

    BENCH("guard: a call of nothing", 1000000, dm_guarded(nothing, NULL, NULL));
    BENCH("guard: a fault", 20000, dm_guarded(look, NULL, NULL));
    BENCH("pkey: enter + leave", 1000000, dm_pkey_leave(dm_pkey_enter()));
    uint32_t rights = dm_pkey_enter();
    BENCH("pkey: enter + leave, nested", 1000000, dm_pkey_leave(dm_pkey_enter()));
    dm_pkey_leave(rights);

    EXPECT_EQ(dm_physical_create(&vram, 8 * MIB, DM_PHYSICAL_EXPORTABLE, &p), 0);
    EXPECT_EQ(dm_va_reserve(&space, 8 * MIB, GRANULE, 0, &va), 0);
    BENCH("space: map + unmap 8 MiB", 5000, dm_space_map(&space, va, p, 0, 8 * MIB, 3);
          dm_space_unmap(&space, va, 8 * MIB));
    BENCH("space: reserve + free 8 MiB", 5000, dm_va_reserve(&space, 8 * MIB, GRANULE, 0, &vb);
          dm_va_free(&space, vb));
    struct dm_import_info info;
    int fd;
    EXPECT_EQ(dm_physical_export(p, &fd), 0);
    BENCH("import: recognise", 5000, EXPECT_EQ(dm_import_recognise(fd, &info), 0));
    EXPECT_EQ(dm_space_map(&space, va, p, 0, 8 * MIB, DM_MAP_READ | DM_MAP_WRITE), 0);
    rights = dm_pkey_enter();
    double start = now();
    memset((void *)(uintptr_t)va, 1, 8 * MIB);
    printf("%-44s %9.1f ns\n", "first touch of 8 MiB, a page", (now() - start) / 2048);
    dm_pkey_leave(rights);
    dm_heap_finish(&heap);
    dm_space_finish(&space);
    return 0;
}
