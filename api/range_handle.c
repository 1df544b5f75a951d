// SPDX-License-Identifier: MIT
// The manual's chapter "Virtual Memory Management": cuMemGetHandleForAddressRange.
#include "range_handle.h"

#include <unistd.h>

#include "api_bodies.h"
#include "call.h"
#include "record_content.h"

CUresult api_cuMemGetHandleForAddressRange(void *handle, CUdeviceptr dptr, size_t size,
                                           CUmemRangeHandleType handleType,
                                           unsigned long long flags)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (handleType != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "handleType (%d) must be CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD",
                       (int)handleType);
    if (!dptr || !size)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%s (0) must not be 0", dptr ? "size" : "dptr");
    // "dptr and size must be aligned to the host page size"
    if (dptr % page || size % page)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%s (%#llx) must be a multiple of the host's page size (%#llx)",
                       dptr % page ? "dptr" : "size",
                       (unsigned long long)(dptr % page ? dptr : size), (unsigned long long)page);
    // The driver checks the one flag that has a name before the others.
    if (flags & CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE) {
        *(int *)handle = -1; // no descriptor, so that a program that closes it closes no other file
        return em_fail(
            CUDA_ERROR_NOT_SUPPORTED,
            "CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE: this device has no mapping through PCIe");
    }
    if (flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags (%#llx) must be 0 on this device", flags);
    const CUresult r = em_range_dma_buf(dptr, size, handle);
    if (!r && em_recording_contents)
        em_record_fd(*(const int *)handle, false);
    return r;
}
