// SPDX-License-Identifier: MIT
// Physical memory and addresses for tests of virtual memory management.
#pragma once
#include "../harness.h"

#define MIB (UINT64_C(1) << 20)
#define G (2 * MIB)

static inline CUmemAllocationProp device_memory(unsigned handle_types)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .requestedHandleTypes = (CUmemAllocationHandleType)handle_types,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
}

static inline CUmemGenericAllocationHandle create(uint64_t size, unsigned handle_types)
{
    CUmemGenericAllocationHandle h;
    CUmemAllocationProp p = device_memory(handle_types);
    MUST(cuMemCreate(&h, size, &p, 0));
    return h;
}

static inline CUdeviceptr reserve(uint64_t size)
{
    CUdeviceptr va;
    MUST(cuMemAddressReserve(&va, size, 0, 0, 0));
    return va;
}

static inline CUresult allow(CUdeviceptr va, uint64_t size, int flags)
{
    CUmemAccessDesc d = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                         .flags = (CUmemAccess_flags)flags};
    return cuMemSetAccess(va, size, &d, 1);
}
