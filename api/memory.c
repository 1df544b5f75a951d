// SPDX-License-Identifier: MIT
// The manual's chapter "Memory Management": device memory.
#include "api_bodies.h"
#include "arithmetic.h"
#include "call.h"
#include "memory_device.h"
#include "quirk.h"

// "Allocates bytesize bytes of linear memory on the device … If bytesize is 0, cuMemAlloc() returns
// CUDA_ERROR_INVALID_VALUE."
CUresult api_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    uint64_t address;
    CUresult r = em_memory_alloc(bytesize, &address);
    *dptr = address;
    return r;
}

// Rows begin at multiples of this, because the card's copy engine and its pitched textures need it.
enum { PITCH_ALIGN = 512 };

CUresult api_cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes,
                                size_t Height, unsigned int ElementSizeBytes)
{
    uint64_t pitch, size, address;
    *dptr = 0;
    *pPitch = 0;
    // "ElementSizeBytes specifies the size in bytes of the largest reads and writes … may be either
    // 4, 8 or 16 … If ElementSizeBytes is smaller than the actual read/write size …"
    if (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "ElementSizeBytes (%u) must be 4, 8 or 16",
                       ElementSizeBytes);
    if (!WidthInBytes || !Height)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "WidthInBytes (%zu) and Height (%zu) must not be 0", WidthInBytes, Height);
    if (!dm_round_up(WidthInBytes, PITCH_ALIGN, &pitch))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "WidthInBytes (%zu) cannot be rounded up to a multiple of %d", WidthInBytes,
                       PITCH_ALIGN);
    *pPitch = pitch;
    bool wraps = !dm_mul(pitch, Height, &size);
    if (wraps && !em_quirk(PITCH_SIZE_WRAPS))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "Height (%zu) rows of %llu bytes each have a size that exceeds 64 bits",
                       Height, (unsigned long long)pitch);
    if (wraps && !size)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "Height (%zu) rows of %llu bytes each have a size that wraps to 0, as the "
                       "driver computes it in 64 bits",
                       Height, (unsigned long long)pitch);
    CUresult r = em_memory_alloc(size, &address);
    *dptr = address;
    return r;
}

CUresult api_cuMemFree_v2(CUdeviceptr dptr)
{
    return em_memory_free(dptr);
}

CUresult api_cuMemGetInfo_v2(size_t *free, size_t *total)
{
    uint64_t free_B, total_B;
    CUresult r = em_memory_info(&free_B, &total_B);
    if (r)
        return r;
    if (free)
        *free = free_B;
    if (total)
        *total = total_B;
    return CUDA_SUCCESS;
}

// "Both parameters pbase and psize are optional. If one of them is NULL, it is ignored." If both
// are NULL, the driver checks neither the address nor whether it is initialised.
CUresult api_cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    uint64_t base, size;
    if (!pbase && !psize)
        return CUDA_SUCCESS;
    CUresult r = em_need_init();
    if (!r)
        r = em_need_context();
    if (r)
        return r;
    r = em_memory_range(dptr, &base, &size);
    if (pbase)
        *pbase = base;
    if (psize)
        *psize = size;
    return r;
}
