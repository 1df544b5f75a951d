// SPDX-License-Identifier: MIT
// Allocates the bytes of graphics resources, and opens windows on them.
#include "graphics_memory.h"

#include "alloc.h"
#include "arithmetic.h"
#include "config.h"
#include "error.h"
#include "lock.h"
#include "order.h"
#include "memory_device.h"
#include "quirk.h"

static CUresult no_memory(uint64_t size_B)
{
    return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                   "out of memory: a graphics resource of %llu bytes does not fit",
                   (unsigned long long)size_B);
}

CUresult em_graphics_capacity(const struct em_graphics_shape *shape, uint64_t *capacity_B)
{
    *capacity_B = shape->size_B;
    if (em_quirk(GRAPHICS_BUFFER_GRAINS) && !dm_round_up(shape->size_B, DM_HEAP_GRAIN, capacity_B))
        return no_memory(shape->size_B);
    return CUDA_SUCCESS;
}

CUresult em_graphics_memory_new(const struct em_device *on, const struct em_graphics_shape *shape,
                                uint64_t size_B, struct em_graphics_memory **out)
{
    em_assert_locked();
    struct em_device_memory *device;
    if (shape->memory) {
        shape->memory->references++;
        *out = shape->memory;
        return CUDA_SUCCESS;
    }
    CUresult r = em_device_memory(on, &device);
    if (r)
        return r;
    // A buffer of 0 bytes is out of memory for the driver.
    struct em_graphics_memory *m = size_B ? dm_calloc(1, sizeof *m) : NULL;
    if (!m)
        return no_memory(size_B);
    m->references = 1;
    m->size_B = size_B;
    if (shape->physical) {
        m->physical_offset = shape->physical_offset;
        if (dm_space_map_bytes(&em_space, shape->physical, shape->physical_offset, size_B, DM_GUARD,
                               DM_MAP_READ | DM_MAP_WRITE, &m->address))
            goto fail;
        m->physical = dm_physical_ref(shape->physical);
        m->mapped = true;
    } else {
        if (dm_heap_alloc(&device->heap, size_B, &m->block))
            goto fail;
        m->heap = &device->heap;
        m->physical = dm_physical_ref(dm_heap_physical(m->block, &m->physical_offset));
        m->address = m->block->va;
    }
    *out = m;
    return CUDA_SUCCESS;
fail:
    dm_free(m);
    return no_memory(size_B);
}

void em_graphics_memory_unref(struct em_graphics_memory *m)
{
    em_assert_locked();
    if (!m || --m->references)
        return;
    if (em_order_on)
        em_order_forget(m->address, m->size_B);
    dm_physical_unref(m->physical);
    if (m->mapped)
        dm_space_unmap_bytes(&em_space, m->address);
    if (m->block)
        dm_heap_free(m->heap, m->block);
    dm_free(m);
}

// splitmix64: the same seed gives the same addresses.
static uint64_t memory_random(void)
{
    static uint64_t state;
    static bool seeded;
    if (!seeded) {
        seeded = true;
        state = em_config()->seed;
    }
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// Maps the pages of the bytes at addresses of this window's own. Returns false if that fails.
static bool window_open_elsewhere(struct em_graphics_window *w)
{
    const struct em_graphics_memory *m = w->memory;
    uint64_t within = m->physical_offset & (DM_PAGE - 1), size_B, pages_B, guarded_B;
    if (!dm_add(m->size_B, within, &size_B) || !dm_round_up(size_B, DM_PAGE, &pages_B) ||
        !dm_add(size_B, DM_GUARD, &guarded_B) || !dm_round_up(guarded_B, DM_GUARD, &w->reserved_B))
        return false;
    uint64_t places =
        em_space.size > w->reserved_B ? (em_space.size - w->reserved_B) / DM_GUARD : 0;
    uint64_t hint = places ? em_space.base + memory_random() % places * DM_GUARD : 0;
    if (dm_va_reserve(&em_space, w->reserved_B, DM_GUARD, hint, &w->reserved))
        return false;
    if (dm_space_map(&em_space, w->reserved, m->physical, m->physical_offset - within, pages_B,
                     DM_MAP_READ | DM_MAP_WRITE)) {
        dm_va_free(&em_space, w->reserved);
        w->reserved = 0;
        return false;
    }
    w->address = w->reserved + within;
    return true;
}

CUresult em_graphics_window_open(struct em_graphics_memory *memory, bool elsewhere,
                                 struct em_graphics_window **out)
{
    em_assert_locked();
    struct em_graphics_window *w = dm_calloc(1, sizeof *w);
    if (!w)
        return no_memory(sizeof *w);
    w->references = 1;
    w->memory = memory;
    w->address = memory->address;
    if (elsewhere)
        window_open_elsewhere(w);
    memory->references++;
    *out = w;
    return CUDA_SUCCESS;
}

void em_graphics_window_unref(struct em_graphics_window *w)
{
    em_assert_locked();
    if (!w || --w->references)
        return;
    if (w->reserved) {
        if (em_order_on)
            em_order_forget(w->reserved, w->reserved_B);
        dm_space_unmap(&em_space, w->reserved, w->reserved_B);
        dm_va_free(&em_space, w->reserved);
    }
    em_graphics_memory_unref(w->memory);
    dm_free(w);
}
