// SPDX-License-Identifier: MIT
// The manual's chapter "Virtual Memory Management".
#include "physical_object.h"
#include "virtual_memory.h"

#include "api_bodies.h"
#include "call.h"
#include "record_content.h"

// "flags: currently unused, must be zero"
static CUresult no_flags(unsigned long long flags)
{
    return flags ? em_fail(CUDA_ERROR_INVALID_VALUE, "flags (%#llx) must be 0", flags)
                 : CUDA_SUCCESS;
}

CUresult api_cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                                 unsigned long long flags)
{
    uint64_t out = 0;
    CUresult r = no_flags(flags);
    if (!r)
        r = em_virtual_reserve(size, alignment, addr, &out);
    if (!r)
        *ptr = out;
    return r;
}

CUresult api_cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
    return em_virtual_free(ptr, size);
}

CUresult api_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                         const CUmemAllocationProp *prop, unsigned long long flags)
{
    CUresult r = no_flags(flags);
    return r ? r : em_physical_create(size, prop, handle);
}

CUresult api_cuMemRelease(CUmemGenericAllocationHandle handle)
{
    return em_physical_release(handle);
}

CUresult api_cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
                      CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    CUresult r = no_flags(flags);
    return r ? r : em_virtual_map(ptr, size, offset, handle);
}

CUresult api_cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    return em_virtual_unmap(ptr, size);
}

CUresult api_cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
    return em_virtual_set_access(ptr, size, desc, count);
}

CUresult api_cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                            CUdeviceptr ptr)
{
    return em_virtual_get_access(ptr, location, flags);
}

CUresult api_cuMemExportToShareableHandle(void *shareableHandle,
                                          CUmemGenericAllocationHandle handle,
                                          CUmemAllocationHandleType handleType,
                                          unsigned long long flags)
{
    int fd = -1;
    CUresult r = no_flags(flags);
    if (!r)
        r = em_physical_export(handle, handleType, &fd);
    if (!r && em_recording_contents)
        em_record_fd(fd, false);
    if (!r)
        *(int *)shareableHandle = fd;
    return r;
}

CUresult api_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                            CUmemAllocationHandleType shHandleType)
{
    if (!osHandle) // descriptor 0 too, because it looks like NULL
        return em_null("osHandle");
    switch ((int)shHandleType) {
    case CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR: // "osHandle is the file descriptor itself, cast
                                                   // to a pointer"
        if (em_recording_contents)
            em_record_fd((int)(intptr_t)osHandle, true);
        return em_physical_import((int)(intptr_t)osHandle, handle);
    case CU_MEM_HANDLE_TYPE_FABRIC:
        return em_fail(CUDA_ERROR_NOT_SUPPORTED, "this device is not on a fabric");
    case CU_MEM_HANDLE_TYPE_WIN32:
    case CU_MEM_HANDLE_TYPE_WIN32_KMT:
        return em_fail(CUDA_ERROR_NOT_SUPPORTED, "shHandleType (%d) exists on Windows only",
                       (int)shHandleType);
    default:
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "shHandleType (%d) is not a single CUmemAllocationHandleType",
                       (int)shHandleType);
    }
}

CUresult api_cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                           CUmemAllocationGranularity_flags option)
{
    if (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
        option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "option (%d) must be CU_MEM_ALLOC_GRANULARITY_MINIMUM or _RECOMMENDED",
                       (int)option);
    *granularity = EM_VIRTUAL_GRANULE;
    return CUDA_SUCCESS;
}

CUresult api_cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                    CUmemGenericAllocationHandle handle)
{
    return em_physical_properties(handle, prop);
}

CUresult api_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
    return em_physical_retain((uintptr_t)addr, handle);
}
