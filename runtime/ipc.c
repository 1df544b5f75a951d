// SPDX-License-Identifier: MIT
// Memory and events of other processes.
#include "rt.h"

_Static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle) &&
                   sizeof(cudaIpcEventHandle_t) == sizeof(CUipcEventHandle),
               "handles are the driver's bytes");

cudaError_t rt_cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    // The event is checked first (recorded: ipc/event-nulls).
    CUipcEventHandle h;
    RT_TRY(rt_cu.cuIpcGetEventHandle(&h, event));
    if (!handle)
        return rt_fail(cudaErrorInvalidValue, "argument handle is NULL");
    *(CUipcEventHandle *)handle = h;
    return cudaSuccess;
}

cudaError_t rt_cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    return rt_error(rt_cu.cuIpcOpenEventHandle(event, *(CUipcEventHandle *)&handle));
}

cudaError_t rt_cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr)
{
    return rt_error(rt_cu.cuIpcGetMemHandle((CUipcMemHandle *)handle, (CUdeviceptr)devPtr));
}

cudaError_t rt_cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags)
{
    return rt_error(
        rt_cu.cuIpcOpenMemHandle((CUdeviceptr *)devPtr, *(CUipcMemHandle *)&handle, flags));
}

cudaError_t rt_cudaIpcCloseMemHandle(void *devPtr)
{
    return rt_error(rt_cu.cuIpcCloseMemHandle((CUdeviceptr)devPtr));
}
