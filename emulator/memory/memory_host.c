// SPDX-License-Identifier: MIT
// Page-locked host memory: allocation, registration, and the queries about both.
#include "memory_host.h"

#include <unistd.h>

#include "advice.h"
#include "alloc.h"
#include "arithmetic.h"
#include "call.h"
#include "device.h"
#include "host_pages.h"
#include "lock.h"
#include "order.h"
#include "memory_device.h"
#include "record_content.h"

// The end of the program's addresses. The kernel owns the addresses above.
#define USER_END (UINT64_C(1) << 47)
#define HOST_GRANULE_B (UINT64_C(2) << 20)

enum em_host_heap { EM_HEAP_CACHED, EM_HEAP_WRITE_COMBINED, EM_HEAP_MANAGED, EM_HOST_HEAPS };

static struct {
    bool ready;
    struct dm_vram books; // accounts for the host's memory; all heaps share it
    struct dm_heap heap[EM_HOST_HEAPS];
} host;

static CUresult start(void)
{
    struct em_device_memory *any;
    CUresult r = em_device_memory(&em_devices[0], &any); // creates the address space
    if (r || host.ready)
        return r;
    uint64_t total_B =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) & ~(HOST_GRANULE_B - 1);
    if (dm_vram_init(&host.books, total_B, HOST_GRANULE_B))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while starting page-locked memory");
    for (int i = 0; i < EM_HOST_HEAPS; i++) {
        dm_heap_init(&host.heap[i], &em_space, &host.books);
        host.heap[i].map_flags |= DM_MAP_HOST;
    }
    host.ready = true;
    return CUDA_SUCCESS;
}

CUresult em_host_books(struct dm_vram **out)
{
    em_assert_locked();
    CUresult r = start();
    *out = &host.books;
    return r;
}

static enum em_host_heap heap_of(const struct em_allocation *a)
{
    if (a->kind == EM_MEMORY_MANAGED)
        return EM_HEAP_MANAGED;
    return a->flags & CU_MEMHOSTALLOC_WRITECOMBINED ? EM_HEAP_WRITE_COMBINED : EM_HEAP_CACHED;
}

static void release_block(struct em_allocation *a)
{
    dm_heap_free(&host.heap[heap_of(a)], a->owner);
    em_advice_free(a->advice);
    dm_free(a);
}

// Allocates the memory of `a` and enters it into the memory map. The caller has filled `a` except
// for base, host, mapping and physical, and keeps it on failure. Precondition: em_lock held.
static CUresult enter(uint64_t size, struct em_allocation *a)
{
    em_assert_locked();
    struct dm_heap *heap = &host.heap[heap_of(a)];
    struct dm_block *block;
    CUresult r = start();
    if (r)
        return r;
    if (dm_heap_alloc(heap, size, &block))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "size (%llu bytes) exceeds the memory that the host has left",
                       (unsigned long long)size);
    a->base = a->host = block->va;
    a->size = size;
    a->owner = block;
    a->release = release_block;
    a->physical = dm_heap_physical(block, &a->physical_offset);
    em_set_heap_mapping(a);
    r = em_memory_enter(a);
    if (r)
        dm_heap_free(heap, block);
    return r;
}

// Allocates memory as `model` describes it. *out is 0 on failure.
static CUresult new_block(const struct em_allocation *model, uint64_t size, uint64_t *out)
{
    em_assert_locked();
    struct em_allocation *a = dm_calloc(1, sizeof *a);
    *out = 0;
    if (!a)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while tracking the allocation");
    *a = *model;
    CUresult r = enter(size, a);
    if (r)
        dm_free(a);
    else
        *out = a->base;
    return r;
}

CUresult em_host_new(enum em_memory_kind kind, uint64_t size, unsigned flags, uint64_t *out)
{
    const struct em_allocation model = {.kind = kind,
                                        .context = em_self.current,
                                        .device = em_self.current->device->ordinal,
                                        .flags = flags};
    em_lock();
    CUresult r = new_block(&model, size, out);
    em_unlock();
    return r;
}

CUresult em_host_new_variable(struct em_context *context, int device, uint64_t size, uint64_t *out)
{
    em_assert_locked();
    const struct em_allocation model = {.kind = EM_MEMORY_MANAGED,
                                        .context = context,
                                        .device = device,
                                        .flags = CU_MEM_ATTACH_GLOBAL,
                                        .is_variable = true};
    return new_block(&model, size, out);
}

CUresult em_host_alloc(uint64_t size, unsigned flags, uint64_t *out)
{
    *out = 0;
    if (!size)
        return CUDA_SUCCESS;
    // "All host memory … is automatically accessible from all CUDA contexts on all devices that
    // support unified addressing": so it is mapped, whether or not the program asked for it.
    return em_host_new(EM_MEMORY_HOST, size, flags | CU_MEMHOSTALLOC_DEVICEMAP, out);
}

// Finds the memory of `kind` that begins at `address`. Fails with `unknown` if the driver does not
// know the address. Precondition: em_lock held.
static CUresult begins(uint64_t address, enum em_memory_kind kind, CUresult unknown,
                       struct em_allocation **out)
{
    em_assert_locked();
    char text[512];
    CUresult r = em_memory_get(address, 0, "p", unknown, out);
    if (r)
        return r;
    if ((*out)->kind != kind)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "p is not %s; %s", em_memory_kind_text(kind),
                       em_memory_text(address, text, sizeof text));
    if ((*out)->base != address)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "p must be the start of %s; %s",
                       em_memory_kind_text(kind), em_memory_text(address, text, sizeof text));
    return CUDA_SUCCESS;
}

// Ends it after the submitted work of its context has completed, because that work may use it.
// Takes the lock.
static CUresult end(uint64_t address, enum em_memory_kind kind, CUresult unknown)
{
    struct em_allocation *a;
    em_lock();
    a = em_memory_find(address, 0);
    CUresult r = em_memory_wait_idle(a ? a->context : NULL);
    if (!r)
        r = begins(address, kind, unknown, &a);
    if (!r && em_unlikely(em_order_on))
        em_order_free(a->base, a->size);
    if (!r)
        em_memory_remove(a);
    em_unlock();
    return r;
}

CUresult em_host_free(uint64_t address)
{
    if (!address)
        return CUDA_SUCCESS;
    return end(address, EM_MEMORY_HOST, CUDA_ERROR_INVALID_VALUE);
}

static void release_registration(struct em_allocation *a)
{
    dm_free(a);
}

// Checks that the program can register these pages.
static CUresult check_pages(uint64_t address, uint64_t size, unsigned flags)
{
    struct em_host_pages pages;
    uint64_t last;
    if (!dm_add(address, size - 1, &last))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "p (%#llx) + bytesize (%llu) exceeds the address space",
                       (unsigned long long)address, (unsigned long long)size);
    if (last >= USER_END)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "p (%#llx) + bytesize exceeds the addresses of a program",
                       (unsigned long long)address);
    // "CU_MEMHOSTREGISTER_IOMEMORY: … a pointer to I/O memory of a third-party PCIe device".
    if (flags & CU_MEMHOSTREGISTER_IOMEMORY)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "p (%#llx) is ordinary memory; CU_MEMHOSTREGISTER_IOMEMORY is for I/O "
                       "memory of a PCIe device",
                       (unsigned long long)address);
    if (!em_host_pages(address, size, &pages))
        return CUDA_SUCCESS;
    if (pages.mapped < size)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "only %llu of the %llu bytes at %#llx are mapped and readable",
                       (unsigned long long)pages.mapped, (unsigned long long)size,
                       (unsigned long long)address);
    if (!pages.all_writable && !(flags & CU_MEMHOSTREGISTER_READ_ONLY))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "the memory at %#llx is read-only; pass CU_MEMHOSTREGISTER_READ_ONLY",
                       (unsigned long long)address);
    return CUDA_SUCCESS;
}

static CUresult fail_known(const struct em_allocation *there, uint64_t address, uint64_t size)
{
    char text[512];
    CUresult code = there->kind == EM_MEMORY_REGISTERED ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
                                                        : CUDA_ERROR_INVALID_VALUE;
    return em_fail(code, "the %llu bytes at %#llx overlap memory that the driver already knows; %s",
                   (unsigned long long)size, (unsigned long long)address,
                   em_memory_text(there->base, text, sizeof text));
}

// Fails if a registration ends between `from` and `to` whose promise to read only is another one.
// Precondition: em_lock held.
static CUresult check_neighbours(uint64_t from, uint64_t to, unsigned flags)
{
    em_assert_locked();
    const bool read_only = flags & CU_MEMHOSTREGISTER_READ_ONLY;
    char text[512];
    while (from < to) {
        const struct em_allocation *there = em_memory_overlapping(from, to - from);
        if (!there || there->base + there->size > to)
            break;
        if (there->kind == EM_MEMORY_REGISTERED && there->read_only != read_only)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "pages are registered as a whole, and a page of this memory has bytes "
                           "that were registered %s CU_MEMHOSTREGISTER_READ_ONLY; %s",
                           read_only ? "without" : "with",
                           em_memory_text(there->base, text, sizeof text));
        from = there->base + there->size;
    }
    return CUDA_SUCCESS;
}

// Memory must not be registered twice. Registrations may share a page; but those that end in the
// first or last page of the new one, before or after its bytes, must agree with it in READ_ONLY
// (recorded: random_memory, registered). A registration that begins in the last page and ends in a
// later one may differ. Precondition: em_lock held.
static CUresult check_free(uint64_t address, uint64_t size, unsigned flags)
{
    em_assert_locked();
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = address + size;
    const struct em_allocation *there = em_memory_overlapping(address, size);
    if (there && (there->base <= address || there->base + there->size <= end))
        return fail_known(there, address, size);
    uint64_t from = address & ~(page - 1), to = (end + page - 2) & ~(page - 1);
    if (size == 1 && from == address) { // also in the page before it, but not at the pages' ends
        from = address - page + 1;
        to = address + page - 1;
    }
    CUresult r = check_neighbours(from, address, flags);
    if (!r)
        r = check_neighbours(end, to, flags);
    return !r && there ? fail_known(there, address, size) : r;
}

CUresult em_host_register(uint64_t address, uint64_t size, unsigned flags)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct em_allocation *a = NULL;
    em_lock();
    CUresult r = check_free(address, size, flags);
    if (!r)
        r = check_pages(address, size, flags);
    if (r)
        goto out;
    a = dm_calloc(1, sizeof *a);
    if (!a) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while tracking the registration");
        goto out;
    }
    a->base = a->host = address;
    a->size = size;
    a->kind = EM_MEMORY_REGISTERED;
    a->context = em_self.current;
    a->device = em_self.current->device->ordinal;
    a->flags = (flags & CU_MEMHOSTREGISTER_PORTABLE) | CU_MEMHOSTREGISTER_DEVICEMAP;
    a->mapping_base = address & ~(page - 1);
    a->mapping_size = ((address + size + page - 1) & ~(page - 1)) - a->mapping_base;
    a->release = release_registration;
    if (em_recording_contents)
        em_record_range(RF_RANGE, (const void *)(uintptr_t)address, size);
    r = em_memory_enter(a);
    if (!r && (flags & CU_MEMHOSTREGISTER_READ_ONLY))
        a->read_only = true;
out:
    em_unlock();
    if (r)
        dm_free(a);
    return r;
}

CUresult em_host_unregister(uint64_t address)
{
    return end(address, EM_MEMORY_REGISTERED, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

CUresult em_host_describe(uint64_t address, uint64_t *device_address, unsigned *flags)
{
    struct em_allocation *a;
    char text[512];
    em_lock();
    CUresult r = em_memory_get(address, 0, "p", CUDA_ERROR_INVALID_VALUE, &a);
    if (!r && (!a->host || em_memory_is_managed(a)))
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "p is not page-locked host memory; %s",
                    em_memory_text(address, text, sizeof text));
    if (!r) {
        *device_address = address;
        *flags = a->flags | CU_MEMHOSTALLOC_DEVICEMAP;
    }
    em_unlock();
    return r;
}
