// SPDX-License-Identifier: MIT
// Virtual memory management: reserved addresses, and mappings of physical memory on them.
#include "virtual_memory.h"

#include <string.h>

#include "alloc.h"
#include "arithmetic.h"
#include "call.h"
#include "kept.h"
#include "lock.h"
#include "memory.h"
#include "memory_device.h"
#include "order.h"
#include "quirk.h"
#include "virtual_range.h"

// The driver rounds reservations up to 32 MiB, and allows mappings in the part beyond the size that
// the program asked for.
enum { RESERVATION_STEP = 32 << 20 };

CUresult em_virtual_reserve(uint64_t size, uint64_t alignment, uint64_t hint, uint64_t *out)
{
    const uint64_t step = EM_VIRTUAL_GRANULE;
    uint64_t whole, va;
    // "size: must be a multiple of the granularity"; "alignment: of the reserved range, a power of
    // two"
    if (!size || size % step)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "size is %llu, but must be a multiple of %llu and not 0",
                       (unsigned long long)size, (unsigned long long)step);
    const uint64_t most_alignment = UINT64_C(1) << 57; // the bits of the card's addresses
    if ((alignment & (alignment - 1)) || alignment > most_alignment)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "alignment is %llu, but must be 0 or a power of two up to 2^57",
                       (unsigned long long)alignment);
    if (hint % step)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "addr is %#llx, but must be a multiple of %llu",
                       (unsigned long long)hint, (unsigned long long)step);
    const uint64_t user_end = UINT64_C(1) << 47;
    if (!dm_round_up(size, RESERVATION_STEP, &whole) || whole >= user_end ||
        (hint && hint >= user_end - 2 * step))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "addr (%#llx) + size (%llu) exceeds the address space",
                       (unsigned long long)hint, (unsigned long long)size);
    em_lock();
    CUresult r = CUDA_SUCCESS;
    // The address is a hint, so ignore it if devices do not use it.
    if (!dm_space_contains(&em_space, hint))
        hint = 0;
    if (dm_va_reserve(&em_space, whole, alignment > step ? alignment : step, hint, &va)) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "the address space has no free range of %llu bytes",
                    (unsigned long long)size);
        goto unlock;
    }
    r = em_reservation_enter(va, size, &em_space);
    if (r)
        dm_va_free(&em_space, va);
    else
        *out = va;
unlock:
    em_unlock();
    return r;
}

CUresult em_virtual_free(uint64_t address, uint64_t size)
{
    uint64_t base, have;
    em_lock();
    CUresult r = CUDA_SUCCESS;
    if (!em_reservation_find(address, &base, &have) || base != address || have != size)
        r = em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "ptr (%#llx) and size (%llu) are not those of a reservation; pass the values of "
            "cuMemAddressReserve",
            (unsigned long long)address, (unsigned long long)size);
    else if (em_memory_overlapping(base, have) || dm_va_free(&em_space, base))
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "the reservation at %#llx still contains a mapping; call cuMemUnmap first",
                    (unsigned long long)base);
    else
        em_reservation_remove(base);
    em_unlock();
    return r;
}

static void mapping_release(struct em_allocation *a)
{
    struct em_virtual_mapping *m = a->owner;
    dm_space_leave(&em_space, a->base, a->size, em_virtual_page_flags(m));
    em_memory_freed();
    m->object->mappings--;
    em_physical_end_if_unused(m->object);
    dm_free(m);
}

// Checks that [address, address + size) is in a reservation. The driver reserves in steps, and
// requires only that each step is reserved. Precondition: em_lock held.
static CUresult check_reserved(uint64_t address, uint64_t size)
{
    em_assert_locked();
    uint64_t base, have, end, reserved_end;
    if (!em_reservation_find(address, &base, &have))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "ptr %#llx is not in a range that cuMemAddressReserve returned",
                       (unsigned long long)address);
    reserved_end = base + have;
    while (em_quirk(RESERVATION_STEP)) {
        uint64_t step_end;
        if (dm_round_up(reserved_end, RESERVATION_STEP, &step_end))
            reserved_end = step_end;
        if (!em_reservation_find(reserved_end, &base, &have))
            break;
        reserved_end = base + have;
    }
    if (!dm_add(address, size, &end) || end > reserved_end)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "ptr (%#llx) + size (%llu) exceeds the reservation, which ends at %#llx",
                       (unsigned long long)address, (unsigned long long)size,
                       (unsigned long long)reserved_end);
    return CUDA_SUCCESS;
}

static CUresult check_map(uint64_t address, uint64_t size, uint64_t offset,
                          const struct em_physical_object *o)
{
    if (!address || !size)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "ptr is %#llx and size is %llu, but neither may be 0",
                       (unsigned long long)address, (unsigned long long)size);
    if (o->tile_pool)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "CUmemGenericAllocationHandle #%u was created for tile pools, which only "
                       "cuMemMapArrayAsync maps",
                       o->object.number);
    // "offset must be 0", and the driver maps only whole allocations.
    if (offset || size != o->size)
        return em_fail(
            CUDA_ERROR_NOT_SUPPORTED,
            "offset is %llu and size is %llu, but only the whole allocation can be mapped: pass "
            "offset 0 and size %llu",
            (unsigned long long)offset, (unsigned long long)size, (unsigned long long)o->size);
    if (address % EM_VIRTUAL_GRANULE)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "ptr is %#llx, but must be a multiple of %d",
                       (unsigned long long)address, EM_VIRTUAL_GRANULE);
    CUresult r = check_reserved(address, size);
    if (!r && em_memory_overlapping(address, size)) {
        char text[256];
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "memory is already mapped in this range: %s; call cuMemUnmap first",
                    em_memory_text(em_memory_overlapping(address, size)->base, text, sizeof text));
    }
    return r;
}

CUresult em_virtual_map(uint64_t address, uint64_t size, uint64_t offset,
                        CUmemGenericAllocationHandle handle)
{
    struct em_physical_object *o;
    em_lock();
    CUresult r = em_physical_get(handle, &o);
    if (!r)
        r = check_map(address, size, offset, o);
    if (!r)
        r = em_device_lost();
    if (r)
        goto unlock;
    struct em_virtual_mapping *m = dm_calloc(1, sizeof *m);
    if (!m) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while mapping an allocation");
        goto unlock;
    }
    m->object = o;
    m->allocation = (struct em_allocation){
        .base = address,
        .size = size,
        .host = em_physical_on_host(o) ? address : 0,
        .kind = EM_MEMORY_VIRTUAL,
        .device = em_physical_on_host(o) ? 0 : o->prop.location.id,
        .handle_types = (unsigned)o->prop.requestedHandleTypes,
        .block_id = o->object.number,
        .rdma_capable = o->prop.allocFlags.gpuDirectRDMACapable,
        .physical = o->physical,
        .owner = m,
        .release = mapping_release,
    };
    int status = dm_space_map(&em_space, address, o->physical, 0, size, em_virtual_page_flags(m));
    if (status) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "%llu bytes cannot be mapped: %s",
                    (unsigned long long)size, strerror(-status));
        goto free_mapping;
    }
    r = em_memory_enter(&m->allocation);
    if (r)
        goto unmap;
    o->mappings++;
    goto unlock;
unmap:
    dm_space_unmap(&em_space, address, size);
free_mapping:
    dm_free(m);
unlock:
    em_unlock();
    return r;
}

CUresult em_virtual_unmap(uint64_t address, uint64_t size)
{
    uint64_t end;
    bool cut;
    if (!size || !dm_add(address, size, &end))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "ptr is %#llx and size is %llu: size must not be 0, and ptr + size must not "
                       "overflow",
                       (unsigned long long)address, (unsigned long long)size);
    em_lock();
    CUresult r = em_virtual_wait(address, end, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    if (!r && !em_reservation_find(address, NULL, NULL))
        r = check_reserved(address, size);
    if (!r)
        r = em_virtual_check_whole(address, end, false);
    if (!r && em_unlikely(em_order_on))
        em_order_free(address, size);
    for (struct em_allocation *a; !r && (a = em_virtual_next(address, end, address, &cut));)
        em_memory_remove(a);
    em_unlock();
    return r;
}
