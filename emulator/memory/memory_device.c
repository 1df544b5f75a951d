// SPDX-License-Identifier: MIT
// cuMemAlloc and cuMemFree over the heaps of contexts, and the accounting of each device's memory.
#include "memory_device.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "alloc.h"
#include "arithmetic.h"
#include "call.h"
#include "context_heap.h"
#include "deadlock.h"
#include "device.h"
#include "inject.h"
#include "kept.h"
#include "lock.h"
#include "order.h"
#include "scheduler.h"
#include "startup.h"
#include "stream.h"

// The memory that a driver keeps for itself: less is free than there is in total.
#define DRIVER_SHARE_B (UINT64_C(512) << 20)
// Several times the memory of every device, because reservations, aliases and imports need
// addresses too.
#define SPACE_B (UINT64_C(8) << 40)
#define GRANULE_B (UINT64_C(2) << 20)

struct dm_space em_space;
static bool have_space;
static struct em_device_memory **devices; // by ordinal
static int device_capacity;

// Grows the table so that it has a place for `ordinal`.
static bool grow_table(int ordinal)
{
    if (ordinal < device_capacity)
        return true;
    struct em_device_memory **more = dm_realloc(devices, (size_t)(ordinal + 1) * sizeof *more);
    if (!more)
        return false;
    devices = more;
    while (device_capacity <= ordinal)
        devices[device_capacity++] = NULL;
    return true;
}

DM_STARTUP CUresult em_space_start(void)
{
    if (!have_space && dm_space_init(&em_space, SPACE_B))
        return em_fail(
            CUDA_ERROR_OUT_OF_MEMORY,
            "the process cannot reserve addresses for the device's memory; raise its limit "
            "of addresses (ulimit -v) by at least 1 GiB");
    have_space = true;
    return CUDA_SUCCESS;
}

bool em_is_device_address(uint64_t address)
{
    em_assert_readable();
    return dm_space_contains(&em_space, address);
}

uint64_t em_driver_share(uint64_t total_B)
{
    return total_B / 8 < DRIVER_SHARE_B ? total_B / 8 : DRIVER_SHARE_B;
}

// Returns NULL if host memory is short.
static struct em_device_memory *start(const struct em_device *device)
{
    uint64_t total_B = device->profile.total_memory;
    struct em_device_memory *m = grow_table(device->ordinal) ? dm_calloc(1, sizeof *m) : NULL;
    if (!m || dm_vram_init(&m->vram, total_B, GRANULE_B)) {
        dm_free(m);
        return NULL;
    }
    em_device_open_book(&em_devices[device->ordinal]);
    m->vram.published = device->book ? &device->book->used_B : NULL;
    dm_vram_commit(&m->vram, em_driver_share(total_B));
    dm_heap_init(&m->heap, &em_space, &m->vram);
    devices[device->ordinal] = m;
    return m;
}

static struct em_device_memory *find_or_start(const struct em_device *device)
{
    const int n = device->ordinal;
    return em_likely(n < device_capacity && devices[n]) ? devices[n] : start(device);
}

void em_memory_prepare(struct em_context *context)
{
    em_assert_locked();
    struct em_device_memory *memory = find_or_start(context->device);
    if (!memory)
        return;
    dm_vram_prepare(&memory->vram);
    em_context_heaps_prepare(context, memory);
}

CUresult em_device_memory(const struct em_device *device, struct em_device_memory **out)
{
    em_assert_locked();
    *out = find_or_start(device);
    return em_likely(*out != NULL)
               ? CUDA_SUCCESS
               : em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                         "out of host memory while setting up the %llu bytes of device %d",
                         (unsigned long long)device->profile.total_memory, device->ordinal);
}

static void release_block(struct em_allocation *a)
{
    struct dm_block *block = a->owner;
    em_heap_free(block->owner, block);
    em_memory_freed();
    dm_free(a);
}

CUresult em_out_of_device_memory(int device, const char *noun, uint64_t size, int status)
{
    em_assert_locked();
    const struct dm_vram *v = &devices[device]->vram;
    uint64_t free_B = v->total - v->used;
    if (status == -EBADF)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "the program has closed a file descriptor of the driver, so memory for %s "
                       "cannot be created; close only descriptors that the program opened",
                       noun);
    if (status == -ECANCELED)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "%s of %llu bytes fails, as cardlessFuzzFail asked", noun,
                       (unsigned long long)size);
    if (size <= free_B && size > free_B / GRANULE_B * GRANULE_B)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "%s of %llu bytes takes whole parts of 2 MiB, and device %d has only %llu "
                       "free bytes",
                       noun, (unsigned long long)size, device, (unsigned long long)free_B);
    // The device has enough memory, but the host does not.
    if (size <= free_B)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "the host is out of memory, addresses, mappings (vm.max_map_count) or file "
                       "descriptors for %s of %llu bytes: %s",
                       noun, (unsigned long long)size, strerror(-status));
    return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                   "%s of %llu bytes exceeds the free memory of device %d (%llu of %llu bytes)",
                   noun, (unsigned long long)size, device, (unsigned long long)free_B,
                   (unsigned long long)v->total);
}

void em_set_heap_mapping(struct em_allocation *a)
{
    if (a->size <= DM_HEAP_SMALL) {
        a->mapping_base = a->base & ~(uint64_t)(DM_HEAP_CHUNK - 1);
        a->mapping_size = DM_HEAP_CHUNK;
    } else {
        a->mapping_base = a->base;
        // Cannot overflow: the heap has rounded the size of this block up in the same way.
        a->mapping_size = dm_div_up(a->size, GRANULE_B) * GRANULE_B;
    }
    a->block_id = a->mapping_base;
}

// Allocates from the context's heap.
static CUresult alloc_block(struct em_context *context, enum em_memory_kind kind, uint64_t size,
                            uint64_t *out)
{
    em_assert_locked();
    struct em_allocation *a = NULL;
    struct dm_block *block = NULL;
    struct em_heap *heap = NULL;
    CUresult result = em_context_heap(context, EM_HEAP_LINEAR, &heap);
    if (result)
        return result;
    result = CUDA_ERROR_OUT_OF_MEMORY;
    int status =
        em_inject(EM_INJECT_MEMORY) ? -ECANCELED : dm_heap_alloc(&heap->heap, size, &block);
    if (status) {
        block = NULL;
        em_out_of_device_memory(context->device->ordinal, "an allocation", size, status);
        goto fail;
    }
    a = dm_calloc(1, sizeof *a);
    if (!a) {
        em_fail(result, "out of host memory while tracking the allocation");
        goto fail;
    }
    a->base = block->va;
    a->size = size;
    a->kind = kind;
    a->context = context;
    a->device = context->device->ordinal;
    a->owner = block;
    block->owner = heap; // which outlives the context, if the memory does
    a->release = release_block;
    a->physical = dm_heap_physical(block, &a->physical_offset);
    em_set_heap_mapping(a);
    result = em_memory_enter(a);
    if (result)
        goto fail;
    *out = a->base;
    return CUDA_SUCCESS;
fail:
    if (block)
        em_heap_free(heap, block);
    dm_free(a);
    return result;
}

CUresult em_memory_alloc(uint64_t size, uint64_t *out)
{
    *out = 0;
    if (!size)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "bytesize (0) must be greater than 0");
    em_lock();
    CUresult result = alloc_block(em_self.current, EM_MEMORY_DEVICE, size, out);
    em_unlock();
    return result;
}

CUresult em_memory_alloc_variable(struct em_context *context, uint64_t size_B, uint64_t *out)
{
    em_assert_locked();
    return alloc_block(context, EM_MEMORY_GLOBAL, size_B, out);
}

void em_memory_close_freed(void)
{
    em_assert_locked();
    dm_space_close_kept(&em_space);
}

void em_memory_drop_kept(void)
{
    em_assert_locked();
    for (int i = 0; i < device_capacity; i++)
        if (devices[i])
            em_heaps_drop_idle(devices[i]);
    dm_kept_drop(&em_space, 0, UINT64_MAX);
}

static bool is_any(const struct em_command *command, const void *unused)
{
    (void)command, (void)unused;
    return true;
}

void em_memory_freed(void)
{
    em_assert_locked();
    if (dm_space_has_open(&em_space) && em_pending_find(is_any, NULL))
        dm_space_close_kept(&em_space);
}

bool em_memory_variable_is_fresh(uint64_t address)
{
    em_assert_locked();
    const struct em_allocation *a = em_memory_find(address, 1);
    return a && (a->kind == EM_MEMORY_GLOBAL || a->is_variable) && dm_heap_is_fresh(a->owner);
}

// The call that frees an allocation, if it is not cuMemFree.
static const char *freed_by(const struct em_allocation *a)
{
    switch (a->kind) {
    case EM_MEMORY_HOST:
        return "cuMemFreeHost";
    case EM_MEMORY_REGISTERED:
        return "cuMemHostUnregister";
    case EM_MEMORY_VIRTUAL:
        return "cuMemUnmap";
    case EM_MEMORY_IPC:
        return "cuIpcCloseMemHandle";
    case EM_MEMORY_GRAPHICS:
        return "cuGraphicsUnmapResources";
    default:
        return NULL;
    }
}

CUresult em_memory_wait_until(struct em_context *context, uint64_t up_to)
{
    em_assert_locked();
    CUresult r = CUDA_SUCCESS;
    em_object_ref(&context->base.object);
    while (!r && em_context_is_pending(context, up_to)) {
        if (em_self.in_host_function)
            r = em_fail(
                CUDA_ERROR_NOT_PERMITTED,
                "a host function must not free memory: that waits for the work of the context");
        else
            em_wait_progress();
    }
    em_wait_over();
    em_object_unref(&context->base.object);
    return r;
}

CUresult em_memory_wait_idle(struct em_context *context)
{
    em_assert_locked();
    return context ? em_memory_wait_until(context, context->work.last_sequence) : CUDA_SUCCESS;
}

CUresult em_memory_get_to_free(uint64_t address, struct em_allocation **out)
{
    em_assert_locked();
    char text[512];
    struct em_allocation *a;
    CUresult r = em_memory_get(address, 0, "dptr", CUDA_ERROR_INVALID_VALUE, &a);
    if (r)
        return r;
    *out = a;
    if (a->free_at)
        return CUDA_SUCCESS;
    if (a->kind == EM_MEMORY_GLOBAL || a->is_variable)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%s is freed when its module is unloaded, not by %s; %s",
                       em_memory_kind_text(a->kind), em_entry_name(),
                       em_memory_text(address, text, sizeof text));
    const char *call = freed_by(a);
    if (call)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%s must be freed by %s, not by %s; %s",
                       em_memory_kind_text(a->kind), call, em_entry_name(),
                       em_memory_text(address, text, sizeof text));
    if (a->base == address)
        return CUDA_SUCCESS;
    if (a->kind == EM_MEMORY_IMPORTED)
        return em_mistake(B07, CUDA_ERROR_INVALID_VALUE, "a pointer into a mapping; %s",
                          em_memory_text(address, text, sizeof text));
    return em_fail(CUDA_ERROR_INVALID_VALUE,
                   "dptr must be the address that the allocation returned; %s",
                   em_memory_text(address, text, sizeof text));
}

CUresult em_memory_free(uint64_t address)
{
    if (!address)
        return CUDA_SUCCESS;
    struct em_allocation *a;
    em_lock();
    // The driver's cuMemFree waits for the work of the context; in that time another thread may
    // have freed this memory too.
    a = em_memory_find(address, 0);
    CUresult result = em_memory_wait_idle(a ? a->context : NULL);
    if (!result)
        result = em_memory_get_to_free(address, &a);
    // "For all other pointers, this API may perform implicit synchronization": a program must not
    // rely on it.
    if (!result && em_unlikely(em_order_on))
        em_order_free(a->base, a->size);
    if (!result && a->free_at)
        result = a->free_at(a, address);
    else if (!result)
        em_memory_remove(a);
    em_unlock();
    return result;
}

CUresult em_memory_info(uint64_t *free_B, uint64_t *total_B)
{
    struct em_device_memory *memory;
    em_lock();
    CUresult r = em_device_memory(em_self.current->device, &memory);
    if (!r) {
        *free_B = memory->vram.total - memory->vram.used;
        *total_B = memory->vram.total;
    }
    em_unlock();
    return r;
}

CUresult em_memory_range(uint64_t address, uint64_t *base, uint64_t *size)
{
    *base = *size = 0;
    struct em_allocation *a;
    struct em_share *share = em_share_or_lock_briefly();
    if (em_unlikely(share)) {
        a = em_memory_find_plain(address, 0, CU_MEM_ACCESS_FLAGS_PROT_READ);
        const uint64_t found_base = a ? a->base : 0, found_size = a ? a->size : 0;
        em_share_leave(share);
        if (a) {
            *base = found_base;
            *size = found_size;
            return CUDA_SUCCESS;
        }
        em_lock_briefly();
    }
    CUresult result = em_memory_get(address, 0, "dptr", CUDA_ERROR_NOT_FOUND, &a);
    if (!result && !a->access)
        result = em_fail(CUDA_ERROR_NOT_FOUND,
                         "dptr is in a mapping that no device may access; call cuMemSetAccess");
    if (!result && em_memory_is_context_bound(a) && a->context != em_self.current)
        result = em_fail(CUDA_ERROR_NOT_FOUND,
                         "dptr: %s has an address range only in the context that mapped it",
                         em_memory_kind_text(a->kind));
    if (!result) {
        *base = a->base;
        *size = a->size;
    }
    em_offer_sharing(NULL);
    em_unlock();
    return result;
}
