// SPDX-License-Identifier: MIT
// The manual's chapter "Error Log Management Functions", and notifications of devices. Callbacks
// and handles are the driver's.
#include "rt.h"

cudaError_t rt_cudaLogsRegisterCallback(cudaLogsCallback_t callbackFunc, void *userData,
                                        cudaLogsCallbackHandle *callback_out)
{
    return rt_error(
        rt_cu.cuLogsRegisterCallback((CUlogsCallback)(void *)callbackFunc, userData, callback_out));
}

cudaError_t rt_cudaLogsUnregisterCallback(cudaLogsCallbackHandle callback)
{
    return rt_error(rt_cu.cuLogsUnregisterCallback(callback));
}

cudaError_t rt_cudaLogsCurrent(cudaLogIterator *iterator_out, unsigned int flags)
{
    return rt_error(rt_cu.cuLogsCurrent((CUlogIterator *)iterator_out, flags));
}

cudaError_t rt_cudaLogsDumpToFile(cudaLogIterator *iterator, const char *pathToFile,
                                  unsigned int flags)
{
    return rt_error(rt_cu.cuLogsDumpToFile((CUlogIterator *)iterator, pathToFile, flags));
}

cudaError_t rt_cudaLogsDumpToMemory(cudaLogIterator *iterator, char *buffer, size_t *size,
                                    unsigned int flags)
{
    return rt_error(rt_cu.cuLogsDumpToMemory((CUlogIterator *)iterator, buffer, size, flags));
}

cudaError_t rt_cudaDeviceRegisterAsyncNotification(int device, cudaAsyncCallback callbackFunc,
                                                   void *userData,
                                                   cudaAsyncCallbackHandle_t *callback)
{
    cudaError_t r = rt_device_check("device", device);
    return r ? r
             : rt_error(rt_cu.cuDeviceRegisterAsyncNotification(
                   device, (CUasyncCallback)(void *)callbackFunc, userData,
                   (CUasyncCallbackHandle *)callback));
}

cudaError_t rt_cudaDeviceUnregisterAsyncNotification(int device, cudaAsyncCallbackHandle_t callback)
{
    cudaError_t r = rt_device_check("device", device);
    return r ? r
             : rt_error(rt_cu.cuDeviceUnregisterAsyncNotification(device,
                                                                  (CUasyncCallbackHandle)callback));
}

cudaError_t rt_cudaDeviceGetNvSciSyncAttributes(void *nvSciSyncAttrList, int device, int flags)
{
    cudaError_t r = rt_device_check("device", device);
    return r ? r : rt_error(rt_cu.cuDeviceGetNvSciSyncAttributes(nvSciSyncAttrList, device, flags));
}
