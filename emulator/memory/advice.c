// SPDX-License-Identifier: MIT
// Advice for pages of managed memory, as a sorted list of runs.
#include "advice.h"

#include <string.h>

#include "alloc.h"
#include "error.h"
#include "lock.h"
#include "memory.h"

enum { PAGE = 4096 };

struct advice {
    bool read_mostly;
    CUmemLocation preferred, prefetched; // CU_MEM_LOCATION_TYPE_INVALID if unset
    uint64_t accessed_by;                // one bit per device
    bool accessed_by_host;
};

// A run of pages with the same advice. It begins at the end of the run before it.
struct run {
    uint64_t end; // offset in the allocation
    struct advice advice;
};

struct em_advice_map {
    uint32_t count, capacity;
    struct run *runs; // the last one ends at the end of the allocation
};

static const struct advice no_advice;

void em_advice_free(struct em_advice_map *map)
{
    if (!map)
        return;
    dm_free(map->runs);
    dm_free(map);
}

// Returns the map of `a`, with capacity for two more runs. Creates it at the first use.
static CUresult map_of(struct em_allocation *a, struct em_advice_map **out)
{
    struct em_advice_map *m = a->advice;
    if (!m) {
        m = dm_calloc(1, sizeof *m);
        if (m)
            m->runs = dm_calloc(4, sizeof *m->runs);
        if (!m || !m->runs) {
            dm_free(m);
            return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while recording advice");
        }
        m->capacity = 4;
        m->count = 1;
        m->runs[0].end = a->size;
        a->advice = m;
    }
    // A change adds at most two runs.
    if (m->count + 2 > m->capacity) {
        struct run *more = dm_realloc(m->runs, (size_t)m->capacity * 2 * sizeof *more);
        if (!more)
            return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while recording advice");
        m->runs = more;
        m->capacity *= 2;
    }
    *out = m;
    return CUDA_SUCCESS;
}

// Splits the run that contains `offset`, so that a run ends there. Precondition: capacity for one
// more run.
static void split(struct em_advice_map *m, uint64_t offset)
{
    uint32_t i = 0;
    while (m->runs[i].end < offset)
        i++;
    if (m->runs[i].end == offset || !offset)
        return;
    memmove(&m->runs[i + 1], &m->runs[i], (m->count - i) * sizeof *m->runs);
    m->runs[i].end = offset;
    m->count++;
}

// Joins adjacent runs whose advice has become equal.
static void join(struct em_advice_map *m)
{
    uint32_t kept = 0;
    for (uint32_t i = 1; i < m->count; i++) {
        if (!memcmp(&m->runs[kept].advice, &m->runs[i].advice, sizeof m->runs[i].advice))
            m->runs[kept].end = m->runs[i].end;
        else
            m->runs[++kept] = m->runs[i];
    }
    m->count = kept + 1;
}

static void apply(struct advice *a, CUmem_advise advice, CUmemLocation l)
{
    bool device = l.type == CU_MEM_LOCATION_TYPE_DEVICE;
    // Advice without a location ignores the id, so it may be any number here.
    uint64_t bit = device && (unsigned)l.id < 64 ? UINT64_C(1) << l.id : 0;
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
        a->read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
        break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        a->preferred = l;
        break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        a->preferred = no_advice.preferred;
        break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
        a->accessed_by |= bit;
        a->accessed_by_host |= !device;
        break;
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        a->accessed_by &= ~bit;
        a->accessed_by_host &= device;
        break;
    }
}

// "The start address and end address of the memory range will be rounded down and rounded up
// respectively to be aligned to CPU page size".
static void pages(const struct em_allocation *a, uint64_t address, uint64_t size, uint64_t *from,
                  uint64_t *to)
{
    uint64_t skew = a->base % PAGE; // pages are aligned in addresses, not in the allocation
    uint64_t first = address - a->base + skew, last = first + size;
    first &= ~(uint64_t)(PAGE - 1);
    last = (last + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    *from = first < skew ? 0 : first - skew;
    *to = last - skew < a->size ? last - skew : a->size;
}

static CUresult change(struct em_allocation *a, uint64_t address, uint64_t size,
                       CUmemLocation location, const CUmem_advise *advice)
{
    struct em_advice_map *m;
    uint64_t from, to, start = 0;
    CUresult r = map_of(a, &m);
    if (r)
        return r;
    pages(a, address, size, &from, &to);
    split(m, from);
    split(m, to);
    for (uint32_t i = 0; i < m->count; start = m->runs[i++].end) {
        if (start < from || start >= to)
            continue;
        if (advice)
            apply(&m->runs[i].advice, *advice, location);
        else
            m->runs[i].advice.prefetched = location;
    }
    join(m);
    return CUDA_SUCCESS;
}

CUresult em_advice_set(struct em_allocation *a, uint64_t address, uint64_t size,
                       CUmem_advise advice, CUmemLocation location)
{
    em_assert_locked();
    return change(a, address, size, location, &advice);
}

CUresult em_advice_prefetched(struct em_allocation *a, uint64_t address, uint64_t size,
                              CUmemLocation location)
{
    em_assert_locked();
    return change(a, address, size, location, NULL);
}

// The advice that all pages of [from, to) share. A field is unset if pages differ in it.
static struct advice common(const struct em_advice_map *m, uint64_t from, uint64_t to)
{
    struct advice all = no_advice;
    uint64_t start = 0;
    bool first = true;
    for (uint32_t i = 0; i < m->count; start = m->runs[i++].end) {
        const struct advice *a = &m->runs[i].advice;
        if (m->runs[i].end <= from || start >= to)
            continue;
        if (first) {
            all = *a;
            first = false;
            continue;
        }
        all.read_mostly &= a->read_mostly;
        all.accessed_by &= a->accessed_by;
        all.accessed_by_host &= a->accessed_by_host;
        if (memcmp(&all.preferred, &a->preferred, sizeof a->preferred))
            all.preferred = no_advice.preferred;
        if (memcmp(&all.prefetched, &a->prefetched, sizeof a->prefetched))
            all.prefetched = no_advice.prefetched;
    }
    return all;
}

// "a valid device ordinal … CU_DEVICE_CPU … or CU_DEVICE_INVALID if all the pages don't have the
// same … location, or it was not set at all".
static int ordinal_of(CUmemLocation l)
{
    if (l.type == CU_MEM_LOCATION_TYPE_DEVICE)
        return l.id;
    return l.type == CU_MEM_LOCATION_TYPE_INVALID ? (int)CU_DEVICE_INVALID : (int)CU_DEVICE_CPU;
}

// "…the accessed-by devices … if the number of devices is less than the array holds, the rest is
// CU_DEVICE_INVALID". The CPU is after the devices, whatever the order of the advice (an H200).
static void put_accessed_by(const struct advice *a, int *out, uint64_t count)
{
    uint64_t n = 0;
    for (int i = 0; i < 64 && n < count; i++)
        if (a->accessed_by >> i & 1)
            out[n++] = i;
    if (a->accessed_by_host && n < count)
        out[n++] = (int)CU_DEVICE_CPU;
    while (n < count)
        out[n++] = (int)CU_DEVICE_INVALID;
}

void em_advice_attribute(const struct em_allocation *a, uint64_t address, uint64_t size,
                         CUmem_range_attribute attribute, void *data, uint64_t size_B)
{
    uint64_t from, to;
    pages(a, address, size, &from, &to);
    struct advice all = a->advice ? common(a->advice, from, to) : no_advice;
    int *out = data;
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        *out = all.read_mostly;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        *out = ordinal_of(all.preferred);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        *out = ordinal_of(all.prefetched);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
        put_accessed_by(&all, out, size_B / sizeof *out);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        *out = (int)all.preferred.type;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
        *out = all.preferred.id;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        *out = (int)all.prefetched.type;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
        *out = all.prefetched.id;
        break;
    default:
        break;
    }
}
