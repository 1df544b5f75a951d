// SPDX-License-Identifier: MIT
// The manual's chapter "Memory Management": page-locked memory of the host.
#include "rt.h"

_Static_assert(cudaHostAllocPortable == CU_MEMHOSTALLOC_PORTABLE, "flags of allocations");
_Static_assert(cudaHostAllocMapped == CU_MEMHOSTALLOC_DEVICEMAP, "flags of allocations");
_Static_assert(cudaHostAllocWriteCombined == CU_MEMHOSTALLOC_WRITECOMBINED, "flags of allocations");
_Static_assert(cudaHostRegisterPortable == CU_MEMHOSTREGISTER_PORTABLE, "flags of registrations");
_Static_assert(cudaHostRegisterMapped == CU_MEMHOSTREGISTER_DEVICEMAP, "flags of registrations");
_Static_assert(cudaHostRegisterIoMemory == CU_MEMHOSTREGISTER_IOMEMORY, "flags of registrations");
_Static_assert(cudaHostRegisterReadOnly == CU_MEMHOSTREGISTER_READ_ONLY, "flags of registrations");

enum { HOST_FLAGS = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined };

// With unified addressing all host memory is mapped and portable, so the flags only matter if one
// of them is cudaHostAllocWriteCombined (recorded: hostmem/alloc-flags-1, alloc-flags-5).
cudaError_t rt_cudaHostAlloc(void **pHost, size_t size, unsigned int flags)
{
    *pHost = NULL;
    if (!size)
        return cudaSuccess;
    if (flags & ~HOST_FLAGS)
        return rt_fail(cudaErrorInvalidValue,
                       "flags (0x%x) has bits that are not cudaHostAlloc flags", flags);
    if (!(flags & cudaHostAllocWriteCombined))
        return rt_error(rt_cu.cuMemAllocHost(pHost, size));
    return rt_error(rt_cu.cuMemHostAlloc(pHost, size, flags));
}

cudaError_t rt_cudaMallocHost(void **ptr, size_t size)
{
    return rt_cudaHostAlloc(ptr, size, cudaHostAllocDefault);
}

cudaError_t rt_cudaFreeHost(void *ptr)
{
    // NULL is nothing to free, but the rules about capture hold (recorded:
    // capture/free-host-mode0).
    return rt_error(rt_cu.cuMemFreeHost(ptr));
}

cudaError_t rt_cudaHostRegister(void *ptr, size_t size, unsigned int flags)
{
    return rt_error(rt_cu.cuMemHostRegister(ptr, size, flags));
}

cudaError_t rt_cudaHostUnregister(void *ptr)
{
    return rt_error(rt_cu.cuMemHostUnregister(ptr));
}

cudaError_t rt_cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags)
{
    CUdeviceptr address = 0;
    if (!pHost)
        return rt_fail(cudaErrorInvalidValue, "argument pHost is NULL");
    *pDevice = NULL;
    RT_TRY(rt_cu.cuMemHostGetDevicePointer(&address, pHost, flags));
    *pDevice = (void *)(uintptr_t)address;
    return cudaSuccess;
}

cudaError_t rt_cudaHostGetFlags(unsigned int *pFlags, void *pHost)
{
    return rt_error(rt_cu.cuMemHostGetFlags(pFlags, pHost));
}
