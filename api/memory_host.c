// SPDX-License-Identifier: MIT
// The manual's chapter "Memory Management": page-locked host memory.
#include "api_bodies.h"
#include "call.h"
#include "memory_host.h"

static CUresult allocate(void **pp, size_t bytesize, unsigned flags)
{
    uint64_t address = 0;
    const unsigned known =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    CUresult r = flags & ~known
                     ? em_fail(CUDA_ERROR_INVALID_VALUE, "Flags (%#x) contain unknown bits", flags)
                     : em_host_alloc(bytesize, flags, &address);
    *pp = (void *)(uintptr_t)address;
    return r;
}

CUresult api_cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    return allocate(pp, bytesize, Flags);
}

CUresult api_cuMemAllocHost_v2(void **pp, size_t bytesize)
{
    return allocate(pp, bytesize, 0);
}

CUresult api_cuMemFreeHost(void *p)
{
    return em_host_free((uintptr_t)p);
}

CUresult api_cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
    const unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                           CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    if (!bytesize)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "bytesize must not be 0");
    if (Flags & ~known)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "Flags (%#x) contain unknown bits", Flags);
    return em_host_register((uintptr_t)p, bytesize, Flags);
}

// The form of CUDA 4.0 is older than the flags IOMEMORY and READ_ONLY, and ignores them.
CUresult api_cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
{
    return api_cuMemHostRegister_v2(
        p, bytesize, Flags & ~(CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY));
}

CUresult api_cuMemHostUnregister(void *p)
{
    return p ? em_host_unregister((uintptr_t)p) : em_null("p");
}

CUresult api_cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    uint64_t address = 0;
    unsigned flags;
    *pdptr = 0;
    // "Flags provides for future releases. For now, it must be set to 0."
    if (Flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "Flags (%#x) must be 0", Flags);
    CUresult r = em_host_describe((uintptr_t)p, &address, &flags);
    *pdptr = r ? 0 : address;
    return r;
}

CUresult api_cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    uint64_t address;
    unsigned flags;
    CUresult r = em_host_describe((uintptr_t)p, &address, &flags);
    if (!r)
        *pFlags = flags;
    return r;
}
