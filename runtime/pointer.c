// SPDX-License-Identifier: MIT
// The manual's chapter "Unified Addressing".
#include "rt.h"

// Reads the attributes of a pointer. If CUDA does not know it, they do not change.
static CUresult pointer_read(const void *ptr, CUmemorytype *type, unsigned int *managed,
                             int *device, CUdeviceptr *device_pointer, void **host_pointer)
{
    CUpointer_attribute attributes[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,    CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_HOST_POINTER,
    };
    void *values[] = {type, managed, device, device_pointer, host_pointer};
    return rt_cu.cuPointerGetAttributes(sizeof(values) / sizeof(values[0]), attributes, values,
                                        (CUdeviceptr)(uintptr_t)ptr);
}

// Manual: cudaMemoryTypeUnregistered for "unregistered host memory", whose device is
// cudaInvalidDeviceId and whose pointer for the host is the pointer itself.
cudaError_t rt_cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr)
{
    CUmemorytype type = 0;
    unsigned int managed = 0;
    int device = cudaInvalidDeviceId;
    CUdeviceptr device_pointer = 0;
    void *host_pointer = NULL;
    CUresult r = ptr ? pointer_read(ptr, &type, &managed, &device, &device_pointer, &host_pointer)
                     : CUDA_SUCCESS;
    if (r && r != CUDA_ERROR_INVALID_VALUE)
        return rt_error(r);
    if (r || !type) {
        attributes->type = cudaMemoryTypeUnregistered;
        attributes->device = cudaInvalidDeviceId;
        attributes->devicePointer = NULL;
        attributes->hostPointer = (void *)ptr;
        return cudaSuccess;
    }
    if (managed)
        attributes->type = cudaMemoryTypeManaged;
    else if (type == CU_MEMORYTYPE_HOST)
        attributes->type = cudaMemoryTypeHost;
    else
        attributes->type = cudaMemoryTypeDevice;
    attributes->device = device;
    attributes->devicePointer = (void *)(uintptr_t)device_pointer;
    attributes->hostPointer = host_pointer;
    return cudaSuccess;
}
