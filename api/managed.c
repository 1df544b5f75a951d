// SPDX-License-Identifier: MIT
// The manual's chapters "Memory Management" and "Unified Addressing": managed memory, advice and
// prefetches. Pageable host memory is not managed, because
// CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS is 0 on all devices.
#include "api_bodies.h"
#include "call.h"
#include "device.h"
#include "managed.h"
#include "pointer_check.h"
#include "quirk.h"
#include "stream.h"

// "flags … must be one of CU_MEM_ATTACH_GLOBAL or CU_MEM_ATTACH_HOST"; "If bytesize is 0,
// cuMemAllocManaged returns CUDA_ERROR_INVALID_VALUE."
CUresult api_cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    uint64_t address = 0;
    CUresult r;
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "flags (%#x) must be CU_MEM_ATTACH_GLOBAL or CU_MEM_ATTACH_HOST", flags);
    else if (!bytesize)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "bytesize must not be 0");
    else
        r = em_managed_alloc(bytesize, flags, &address);
    *dptr = address;
    return r;
}

// Checks a location of pages. `no_device` is the code for a device that does not exist.
static CUresult check_location(CUmemLocation l, CUresult no_device)
{
    switch ((int)l.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        if ((unsigned)l.id < (unsigned)em_device_count)
            return CUDA_SUCCESS;
        return em_fail(no_device, "location.id (%d) is not a device: the process has %d devices",
                       l.id, em_device_count);
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return l.id ? em_fail(CUDA_ERROR_INVALID_VALUE,
                              "location.id (%d) must be 0: the host has one NUMA node", l.id)
                    : CUDA_SUCCESS;
    default:
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "location.type (%d) is not a place for managed memory", (int)l.type);
    }
}

static bool is_numa(CUmemLocation l)
{
    return l.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
           l.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

// The forms before CUDA 12.2 and 13.0 name a device, or CU_DEVICE_CPU.
static CUmemLocation of_ordinal(CUdevice device)
{
    if (device == (CUdevice)CU_DEVICE_CPU)
        return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST};
    return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

// ---- advice

// Whether the advice has a location; other advice ignores the argument.
static bool has_location(CUmem_advise advice)
{
    return advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
           advice == CU_MEM_ADVISE_SET_ACCESSED_BY || advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

static CUresult advise(CUdeviceptr address, size_t count, CUmem_advise advice,
                       CUmemLocation location, CUresult no_device)
{
    bool access =
        advice == CU_MEM_ADVISE_SET_ACCESSED_BY || advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
    bool lenient = is_numa(location) && em_quirk(ADVISE_NUMA_UNCHECKED);
    CUresult r;
    if ((unsigned)advice < CU_MEM_ADVISE_SET_READ_MOSTLY ||
        (unsigned)advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "advice (%d) is not a CUmem_advise", (int)advice);
    // "CU_MEM_ADVISE_SET_ACCESSED_BY: … the location type must be CU_MEM_LOCATION_TYPE_DEVICE or
    // CU_MEM_LOCATION_TYPE_HOST".
    if (access && is_numa(location))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "location.type (%d) is a NUMA node, which cannot be set as an accessor; use "
                       "a device or "
                       "CU_MEM_LOCATION_TYPE_HOST",
                       (int)location.type);
    if (!lenient && (!address || !count))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "devPtr (%#llx) and count (%zu) must not be 0",
                       address, count);
    if (!lenient && has_location(advice)) {
        r = check_location(location, no_device);
        if (r)
            return r;
    }
    return em_managed_advise(address, count, advice, location, lenient);
}

CUresult api_cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                            CUmemLocation location)
{
    return advise(devPtr, count, advice, location, CUDA_ERROR_INVALID_VALUE);
}

CUresult api_cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
    return advise(devPtr, count, advice, of_ordinal(device), CUDA_ERROR_INVALID_DEVICE);
}

// ---- prefetches and discards

static CUresult prefetch(CUdeviceptr address, size_t count, CUmemLocation location, unsigned flags,
                         struct em_stream *hStream)
{
    if (flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags (%#x) must be 0", flags);
    CUresult r = check_location(location, CUDA_ERROR_INVALID_DEVICE);
    return r ? r : em_managed_prefetch(address, count, location, hStream);
}

CUresult api_cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                                   unsigned int flags, struct em_stream *hStream)
{
    return prefetch(devPtr, count, location, flags, hStream);
}

CUresult api_cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                                struct em_stream *hStream)
{
    return prefetch(devPtr, count, of_ordinal(dstDevice), 0, hStream);
}

static CUresult check_batch(const struct em_managed_batch *b, unsigned long long flags,
                            struct em_stream *hStream)
{
    if (!b->count || !b->dptrs || !b->sizes)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "dptrs, sizes and count must not be 0");
    if (flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags (%#llx) must be 0", flags);
    // "hStream … Cannot be legacy NULL stream."
    if (hStream->kind == EM_STREAM_LEGACY)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "hStream is the legacy default stream, which batches cannot use; create a stream");
    return CUDA_SUCCESS;
}

// "The first entry in prefetchLocIdxs has to be 0 … Each entry must be greater than the previous
// entry and the last entry should be less than count."
static CUresult check_locations(const struct em_managed_batch *b)
{
    if (!b->locations || !b->firsts || !b->location_count || b->location_count > b->count)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "numPrefetchLocs (%zu) must be 1 to count (%zu), and prefetchLocs and "
                       "prefetchLocIdxs must not be NULL",
                       b->location_count, b->count);
    for (size_t i = 0; i < b->location_count; i++) {
        if (i ? b->firsts[i] <= b->firsts[i - 1] : b->firsts[0] != 0)
            return em_fail(
                CUDA_ERROR_INVALID_VALUE,
                "prefetchLocIdxs[%zu] (%zu) is out of order: the first is 0, and they ascend", i,
                b->firsts[i]);
        if (b->firsts[i] >= b->count)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "prefetchLocIdxs[%zu] (%zu) must be less than count (%zu)", i,
                           b->firsts[i], b->count);
        CUresult r = check_location(b->locations[i], CUDA_ERROR_INVALID_VALUE);
        if (r)
            return r;
    }
    return CUDA_SUCCESS;
}

static CUresult prefetch_batch(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                               CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                               size_t numPrefetchLocs, unsigned long long flags,
                               struct em_stream *hStream)
{
    struct em_managed_batch b = {dptrs,        sizes,           count,
                                 prefetchLocs, prefetchLocIdxs, numPrefetchLocs};
    CUresult r = check_batch(&b, flags, hStream);
    if (!r)
        r = check_locations(&b);
    return r ? r : em_managed_run_batch(&b, hStream);
}

CUresult api_cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                     CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                     size_t numPrefetchLocs, unsigned long long flags,
                                     struct em_stream *hStream)
{
    return prefetch_batch(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs,
                          flags, hStream);
}

// "Reading from the discarded range, without a subsequent write or prefetch … returns an
// indeterminate value": here it is the old value.
CUresult api_cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                               CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                               size_t numPrefetchLocs, unsigned long long flags,
                                               struct em_stream *hStream)
{
    return prefetch_batch(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs,
                          flags, hStream);
}

CUresult api_cuMemDiscardBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                    unsigned long long flags, struct em_stream *hStream)
{
    struct em_managed_batch b = {.dptrs = dptrs, .sizes = sizes, .count = count};
    CUresult r = check_batch(&b, flags, hStream);
    return r ? r : em_managed_run_batch(&b, hStream);
}

// ---- attributes of ranges

// "dataSize must be 4 … a non-zero multiple of 4" for CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY.
static CUresult check_attribute(void *data, size_t data_size, CUmem_range_attribute attribute)
{
    if (!data)
        return em_null("data");
    if ((unsigned)attribute < CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ||
        (unsigned)attribute > CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "the attribute %d is not a CUmem_range_attribute",
                       (int)attribute);
    bool list = attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
    if (list ? !data_size || data_size % sizeof(int) : data_size != sizeof(int))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "dataSize (%zu) must be %s", data_size,
                       list ? "a multiple of 4, and not 0" : "4");
    return em_writable("data", data, data_size);
}

CUresult api_cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute,
                                    CUdeviceptr devPtr, size_t count)
{
    return api_cuMemRangeGetAttributes(&data, &dataSize, &attribute, 1, devPtr, count);
}

CUresult api_cuMemRangeGetAttributes(void **data, size_t *dataSizes,
                                     CUmem_range_attribute *attributes, size_t numAttributes,
                                     CUdeviceptr devPtr, size_t count)
{
    CUresult r = CUDA_SUCCESS;
    if (!data)
        return em_null("data");
    if (!numAttributes)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "numAttributes must not be 0");
    for (size_t i = 0; i < numAttributes && !r; i++)
        r = check_attribute(data[i], dataSizes[i], attributes[i]);
    return r ? r : em_managed_attributes(devPtr, count, numAttributes, attributes, data, dataSizes);
}
