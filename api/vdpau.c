// SPDX-License-Identifier: MIT
// The manual's chapter "VDPAU Interoperability": no VdpDevice belongs to a software card, so that these calls only say so.
#include "api_bodies.h"
#include "call.h"

// "VDPAU device": libvdpau's drivers are those of real cards.
static CUresult no_device(CUresult code)
{
    return em_fail(code, "no VDPAU device belongs to this card");
}

CUresult api_cuVDPAUGetDevice(CUdevice *pDevice, VdpDevice vdpDevice, VdpGetProcAddress *vdpGetProcAddress)
{
    return no_device(CUDA_ERROR_INVALID_VALUE);
}

CUresult api_cuVDPAUCtxCreate_v2(CUcontext *pCtx, unsigned int flags, CUdevice device, VdpDevice vdpDevice, VdpGetProcAddress *vdpGetProcAddress)
{
    return no_device(CUDA_ERROR_INVALID_VALUE);
}

CUresult api_cuGraphicsVDPAURegisterVideoSurface(CUgraphicsResource *pCudaResource, VdpVideoSurface vdpSurface, unsigned int flags)
{
    return no_device(CUDA_ERROR_INVALID_VALUE);
}

CUresult api_cuGraphicsVDPAURegisterOutputSurface(CUgraphicsResource *pCudaResource, VdpOutputSurface vdpSurface, unsigned int flags)
{
    return no_device(CUDA_ERROR_INVALID_VALUE);
}
