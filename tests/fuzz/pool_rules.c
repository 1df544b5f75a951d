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
// prefer no location. maxSize must be within the address space (recorded: pool/create-*).
CUresult pl_judge_props(const CUmemPoolProps *p)
{
    const unsigned shareable = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC;
    const bool managed = p->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
    const enum place place = pl_place_of(&p->location);
    for (unsigned i = 0; i < sizeof p->reserved; i++) {
        if (p->reserved[i])
            return REFUSED;
    }
    if (managed) {
        const bool somewhere = place != NOWHERE || p->location.type == CU_MEM_LOCATION_TYPE_NONE;
        return somewhere && !p->handleTypes && !p->maxSize && !p->usage ? CUDA_SUCCESS : REFUSED;
    }
    if (p->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || place == NOWHERE ||
        (unsigned)p->handleTypes & ~shareable || (p->handleTypes && place == HOST))
        return CUDA_ERROR_INVALID_VALUE;
    return p->maxSize >= UINT64_C(1) << 47 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
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
// supported"; the device of a pool keeps its access (recorded: pool/access-*). Others are only
// known to be refused.
CUresult pl_judge_access(const struct pool *p, const CUmemAccessDesc *d)
{
    const bool device = d->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    const unsigned flags = d->flags;
    if (device && !d->location.id) {
        switch (flags) {
        case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
            return CUDA_SUCCESS;
        case CU_MEM_ACCESS_FLAGS_PROT_NONE:
            return p->place == DEVICE ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
        case CU_MEM_ACCESS_FLAGS_PROT_READ:
            return CUDA_ERROR_NOT_SUPPORTED;
        default:
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return REFUSED;
    if (device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (p->place == DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    return pl_place_of(&d->location) == HOST || d->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA
               ? CUDA_SUCCESS
               : REFUSED;
}
