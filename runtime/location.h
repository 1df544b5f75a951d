// SPDX-License-Identifier: MIT
// Locations of memory: the runtime's structure is the driver's under another name.
#pragma once
#include "rt.h"

_Static_assert(sizeof(struct cudaMemLocation) == sizeof(CUmemLocation) &&
                   offsetof(struct cudaMemLocation, id) == offsetof(CUmemLocation, id),
               "locations");
_Static_assert(cudaMemLocationTypeDevice == (int)CU_MEM_LOCATION_TYPE_DEVICE &&
                   cudaMemLocationTypeHostNumaCurrent ==
                       (int)CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT,
               "types of locations");

static inline CUmemLocation rt_location(struct cudaMemLocation location)
{
    return (CUmemLocation){(CUmemLocationType)location.type, location.id};
}
