// SPDX-License-Identifier: MIT
// The fuzz target `pool`: the rules of the manual and of the recordings.
#include "pool_model.h"

bool pl_is_expected(CUresult r, CUresult expected)
{
    return expected == REFUSED ? r != CUDA_SUCCESS : r == expected;
}

// The place of a location; the host's number does not count. The manual and the recordings have one
// device and one NUMA node.
enum place pl_place_of(const CUmemLocation *l)
{
    if (l->type == CU_MEM_LOCATION_TYPE_DEVICE)
        return l->id ? NOWHERE : DEVICE;
    if (l->type == CU_MEM_LOCATION_TYPE_HOST)
        return HOST;
    return l->type == CU_MEM_LOCATION_TYPE_HOST_NUMA && !l->id ? NUMA : NOWHERE;
}

// "handleTypes … POSIX_FILE_DESCRIPTOR or FABRIC"; "IPC is not supported for
// CU_MEM_LOCATION_TYPE_HOST". Managed memory has no handle types, no maximum and no usage, and may
// prefer no location. The blocks of maxSize must be within half of the address space (recorded:
// pool/create-*; pool_edges created/at-most-*).
CUresult pl_judge_props(const CUmemPoolProps *p)
{
    const unsigned shareable = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC;
    const bool managed = p->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
    const enum place place = pl_place_of(&p->location);
    bool reserved = false;
    for (unsigned i = 0; i < sizeof p->reserved; i++)
        reserved |= p->reserved[i];
    if (managed) {
        const bool somewhere = place != NOWHERE || p->location.type == CU_MEM_LOCATION_TYPE_NONE;
        return somewhere && !p->handleTypes && !p->maxSize && !p->usage && !reserved ? CUDA_SUCCESS
                                                                                     : REFUSED;
    }
    if (p->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || place == NOWHERE ||
        (unsigned)p->handleTypes & ~shareable || (p->handleTypes && place == HOST) || reserved)
        return CUDA_ERROR_INVALID_VALUE;
    return p->maxSize > (UINT64_C(1) << 46) - BLOCK_B ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

// The most that a pool holds; without a limit of its own, more than the device has.
uint64_t pl_capacity_B(const struct pool *p)
{
    const uint64_t device_B = UINT64_C(1) << 37;
    return p->props.maxSize && p->props.maxSize < device_B
               ? (p->props.maxSize + BLOCK_B - 1) / BLOCK_B * BLOCK_B
               : device_B;
}

// "Only the flags CU_MEM_ACCESS_FLAGS_PROT_NONE and CU_MEM_ACCESS_FLAGS_PROT_READWRITE are
// supported". The device of a pool keeps its access, and so does the host of a pool of the host;
// the host never has access to a pool of the device (recorded: pool/access-*; pool_edges access).
CUresult pl_judge_access(const struct pool *p, const CUmemAccessDesc *d)
{
    const unsigned flags = d->flags;
    const bool host = d->location.type == CU_MEM_LOCATION_TYPE_HOST ||
                      d->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
    if (flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (d->location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        if (d->location.id)
            return CUDA_ERROR_INVALID_DEVICE;
        if (flags == CU_MEM_ACCESS_FLAGS_PROT_NONE)
            return p->place == DEVICE ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
    } else if (p->place == DEVICE) {
        return CUDA_ERROR_NOT_SUPPORTED;
    } else if (host && flags == CU_MEM_ACCESS_FLAGS_PROT_NONE) {
        return CUDA_ERROR_NOT_SUPPORTED;
    } else if (!host) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
