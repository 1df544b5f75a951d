// SPDX-License-Identifier: MIT
// The manual's chapter "VDPAU Interoperability". No VdpDevice belongs to a software card, so all
// calls return the error for that.
#include "api_bodies.h"
#include "call.h"
#include "device.h"

// The codes were recorded on a card whose machine has no VDPAU device.
static CUresult no_device(CUresult code)
{
    return em_fail(code, "no VDPAU device belongs to this card");
}

CUresult api_cuVDPAUGetDevice(CUdevice *pDevice, VdpDevice vdpDevice,
                              VdpGetProcAddress *vdpGetProcAddress)
{
    return no_device(CUDA_ERROR_INVALID_VALUE);
}

CUresult api_cuVDPAUCtxCreate_v2(CUcontext *pCtx, unsigned int flags, CUdevice device,
                                 VdpDevice vdpDevice, VdpGetProcAddress *vdpGetProcAddress)
{
    struct em_device *d;
    CUresult r = em_device_get(device, &d);
    return r ? r : no_device(CUDA_ERROR_INVALID_VALUE);
}

// No context is one that cuVDPAUCtxCreate made.
CUresult api_cuGraphicsVDPAURegisterVideoSurface(CUgraphicsResource *pCudaResource,
                                                 VdpVideoSurface vdpSurface, unsigned int flags)
{
    return no_device(CUDA_ERROR_INVALID_CONTEXT);
}

CUresult api_cuGraphicsVDPAURegisterOutputSurface(CUgraphicsResource *pCudaResource,
                                                  VdpOutputSurface vdpSurface, unsigned int flags)
{
    return no_device(CUDA_ERROR_INVALID_CONTEXT);
}
