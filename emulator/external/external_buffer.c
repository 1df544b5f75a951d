// SPDX-License-Identifier: MIT
// Buffers mapped on external memory.
#include "external_memory.h"

#include "alloc.h"
#include "arithmetic.h"
#include "call.h"
#include "config.h"
#include "context.h"
#include "device.h"
#include "external_object.h"
#include "external_shared.h"
#include "external_watch.h"
#include "journal.h"
#include "lock.h"
#include "exporter.h"
#include "quirk.h"

static void mapping_release(struct em_allocation *allocation)
{
    struct em_external_mapping *m = allocation->owner;
    em_external_unwatch(m);
    em_journal_end(m->journal);
    em_file_unmap(m->imported->file, allocation->base);
    em_imported_unref(m->imported);
    dm_free(m);
}

// No address space holds a buffer of this size.
#define ADDRESSES (UINT64_C(1) << 47)

static CUresult past_the_end(const struct em_imported *imported, CUresult code, uint64_t offset,
                             uint64_t size)
{
    unsigned long long imported_B = imported->size_B, real_B = imported->physical->size;
    if (imported_B == real_B)
        return em_mistake(B01, code,
                          "offset (%llu) + size (%llu) exceeds the imported size (%llu bytes) of "
                          "CUexternalMemory #%u",
                          (unsigned long long)offset, (unsigned long long)size, imported_B,
                          imported->number);
    return em_mistake(B01, code,
                      "offset (%llu) + size (%llu) exceeds the %s size (%llu bytes) of "
                      "CUexternalMemory #%u, whose %s size is %llu bytes",
                      (unsigned long long)offset, (unsigned long long)size,
                      offset + size > imported_B ? "imported" : "real",
                      offset + size > imported_B ? imported_B : real_B, imported->number,
                      offset + size > imported_B ? "real" : "imported",
                      offset + size > imported_B ? real_B : imported_B);
}

// Whether [offset, offset + size) lies in the object. The driver adds the two without a check,
// compares the sum with the size that the program claimed, looks for addresses, rounds to pages of
// 64 KiB, and compares with the real size last.
static CUresult check_range(const struct em_imported *imported, uint64_t offset, uint64_t size)
{
    bool as_driver = em_quirk(BUFFER_RANGE_WRAPS);
    uint64_t end = offset + size, rounded;
    if (end < offset) {
        bool into_it = offset < imported->size_B && end <= imported->size_B && size >= ADDRESSES;
        return em_mistake(
            B02, as_driver && into_it ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE,
            "offset (%llu) + size (%llu) exceeds 64 bits", (unsigned long long)offset,
            (unsigned long long)size);
    }
    if (end > imported->size_B)
        return past_the_end(imported, CUDA_ERROR_INVALID_VALUE, offset, size);
    if (as_driver && size >= ADDRESSES)
        return past_the_end(imported, CUDA_ERROR_OUT_OF_MEMORY, offset, size);
    if (as_driver && !dm_round_up(end, 64 << 10, &rounded))
        return past_the_end(imported, CUDA_ERROR_UNKNOWN, offset, size);
    if (end > imported->physical->size)
        return past_the_end(imported, CUDA_ERROR_INVALID_VALUE, offset, size);
    return CUDA_SUCCESS;
}

static CUresult check_buffer(const struct em_imported *imported,
                             const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc)
{
    // "flags must be zero"
    if (desc->flags)
        return em_mistake(B03, CUDA_ERROR_INVALID_VALUE, "flags (%#x) must be 0", desc->flags);
    if (!em_all_zero(desc->reserved, sizeof desc->reserved / sizeof *desc->reserved))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "reserved is not all zero; clear the descriptor before you fill it in");
    if (!desc->size)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "size (0) must be greater than 0");
    // A dedicated allocation holds one resource, which is bound at its start.
    if (imported->dedicated && desc->offset)
        return em_mistake(M06, CUDA_ERROR_INVALID_VALUE,
                          "offset (%llu) must be 0 in memory that was imported with "
                          "CUDA_EXTERNAL_MEMORY_DEDICATED",
                          desc->offset);
    CUresult r = check_range(imported, desc->offset, desc->size);
    if (r)
        return r;
    // "The offset and size have to be suitably aligned to match the requirements of the external
    // API"; no API requires less than this.
    const unsigned least_alignment = 16;
    if (desc->offset % least_alignment)
        em_mistake(
            B04, CUDA_SUCCESS,
            "offset (%llu) is not a multiple of %u, so no external API places a buffer there",
            desc->offset, least_alignment);
    return CUDA_SUCCESS;
}

CUresult em_external_map_buffer(CUexternalMemory handle,
                                const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc, CUdeviceptr *out)
{
    struct em_external *e;
    em_lock();
    CUresult r = em_external_get(handle, &e);
    if (!r)
        r = check_buffer(e->imported, desc);
    if (r)
        goto unlock;
    em_owned_fd_check(&e->imported->owned);
    // "Mapping two buffers whose ranges overlap may or may not result in the same virtual address
    // being returned for the overlapped portion."
    if (em_config()->overlap == EM_OVERLAP_SAME) {
        uint64_t address = 0;
        r = em_external_map_shared(e->object.context, e->imported, desc->offset, desc->size,
                                   &address);
        if (!r)
            *out = address;
        goto unlock;
    }
    struct em_external_mapping *m = dm_calloc(1, sizeof *m);
    if (!m) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a mapping");
        goto unlock;
    }
    m->imported = e->imported;
    m->offset = desc->offset;
    m->allocation = (struct em_allocation){
        .size = desc->size,
        .kind = EM_MEMORY_IMPORTED,
        .context = e->object.context,
        .device = e->object.context->device->ordinal,
        .physical = e->imported->physical,
        .physical_offset = desc->offset,
        .owner = m,
        .release = mapping_release,
    };
    r = em_imported_map(e->imported, desc->offset, desc->size, &m->allocation.base);
    if (r)
        goto free_mapping;
    r = em_memory_enter(&m->allocation);
    if (r)
        goto unmap;
    em_imported_ref(e->imported);
    em_external_watch(m);
    char resource[256] = "";
    if (em_config()->report)
        em_exporter_text(e->imported, desc->offset, desc->size, resource, sizeof resource);
    m->journal = em_journal_begin(
        EM_JOURNAL_BUFFER, "buffer of CUexternalMemory #%u: offset %llu, %llu bytes at %#llx%s",
        e->object.number, desc->offset, desc->size, (unsigned long long)m->allocation.base,
        resource);
    *out = m->allocation.base;
    goto unlock;
unmap:
    em_file_unmap(e->imported->file, m->allocation.base);
free_mapping:
    dm_free(m);
unlock:
    em_unlock();
    return r;
}
