// SPDX-License-Identifier: MIT
// The manual's chapter "Memory Management": memory of other processes.
#include "api_bodies.h"
#include "ipc_memory.h"

CUresult api_cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
    return em_ipc_get(dptr, pHandle);
}

CUresult api_cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    uint64_t address = 0;
    CUresult r = em_ipc_open(&handle, Flags, &address);
    if (!r)
        *pdptr = address;
    return r;
}

CUresult api_cuIpcCloseMemHandle(CUdeviceptr dptr)
{
    return em_ipc_close(dptr);
}
