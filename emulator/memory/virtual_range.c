// SPDX-License-Identifier: MIT
// Finds the mappings made by cuMemMap in a range of addresses, and waits for work that uses them.
#include "virtual_range.h"

#include "call.h"
#include "scheduler.h"
#include "memory_device.h"
#include "space.h"
#include "stream.h"
#include "virtual_memory.h"

struct em_physical_object *em_mapped_object(const struct em_allocation *a)
{
    em_assert_locked();
    return ((const struct em_virtual_mapping *)a->owner)->object;
}

unsigned em_virtual_page_flags(const struct em_virtual_mapping *m)
{
    em_assert_locked();
    unsigned flags = em_physical_on_host(m->object) ? DM_MAP_READ | DM_MAP_WRITE | DM_MAP_HOST : 0;
    if (m->allocation.access & CU_MEM_ACCESS_FLAGS_PROT_READ)
        flags |= DM_MAP_READ;
    if (m->allocation.access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE && m->object->physical->writable)
        flags |= DM_MAP_WRITE;
    return flags;
}

struct em_allocation *em_virtual_next(uint64_t address, uint64_t end, uint64_t from, bool *cut)
{
    em_assert_locked();
    struct em_allocation *a = from < end ? em_memory_overlapping(from, end - from) : NULL;
    *cut = a && (a->kind != EM_MEMORY_VIRTUAL || a->base < address || a->base + a->size > end);
    return a;
}

CUresult em_virtual_check_whole(uint64_t address, uint64_t end, bool no_holes)
{
    em_assert_locked();
    bool cut;
    uint64_t from = address;
    for (struct em_allocation *a; (a = em_virtual_next(address, end, from, &cut));
         from = a->base + a->size) {
        if (cut)
            return em_fail(
                CUDA_ERROR_INVALID_VALUE,
                "the range [%#llx, %#llx) contains only a part of the mapping of %llu bytes at "
                "%#llx; pass whole mappings",
                (unsigned long long)address, (unsigned long long)end, (unsigned long long)a->size,
                (unsigned long long)a->base);
        if (no_holes && a->base != from)
            break;
    }
    if (no_holes && from != end)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "no memory is mapped at %#llx",
                       (unsigned long long)from);
    return CUDA_SUCCESS;
}

// Returns whether the device has more access than `kept` to a mapping in [address, end).
// Precondition: em_lock held.
static bool loses_access(uint64_t address, uint64_t end, unsigned kept)
{
    em_assert_locked();
    bool cut;
    uint64_t from = address;
    for (struct em_allocation *a; (a = em_virtual_next(address, end, from, &cut));
         from = a->base + a->size) {
        if (a->kind == EM_MEMORY_VIRTUAL && a->access & ~kept)
            return true;
    }
    return false;
}

CUresult em_virtual_wait(uint64_t address, uint64_t end, unsigned kept)
{
    em_assert_locked();
    struct em_context *context;
    CUresult r = CUDA_SUCCESS;
    uint64_t up_to = em_scheduler.last_sequence;
    while (!r && loses_access(address, end, kept) && (context = em_context_with_work(up_to)))
        r = em_memory_wait_until(context, up_to);
    return r;
}
