// SPDX-License-Identifier: MIT
// Resources of VDPAU.
#include "gl.h"

cudaError_t rt_cudaVDPAUGetDevice(int *device, VdpDevice vdpDevice,
                                  VdpGetProcAddress *vdpGetProcAddress)
{
    return rt_error(rt_cu.cuVDPAUGetDevice(device, vdpDevice, vdpGetProcAddress));
}

cudaError_t rt_cudaGraphicsVDPAURegisterVideoSurface(struct cudaGraphicsResource **resource,
                                                     VdpVideoSurface vdpSurface, unsigned int flags)
{
    return rt_error(rt_cu.cuGraphicsVDPAURegisterVideoSurface((CUgraphicsResource *)resource,
                                                              vdpSurface, flags));
}

cudaError_t rt_cudaGraphicsVDPAURegisterOutputSurface(struct cudaGraphicsResource **resource,
                                                      VdpOutputSurface vdpSurface,
                                                      unsigned int flags)
{
    return rt_error(rt_cu.cuGraphicsVDPAURegisterOutputSurface((CUgraphicsResource *)resource,
                                                               vdpSurface, flags));
}

cudaError_t rt_cudaVDPAUSetVDPAUDevice(int device, VdpDevice vdpDevice,
                                       VdpGetProcAddress *vdpGetProcAddress)
{
    (void)vdpDevice;
    (void)vdpGetProcAddress;
    return rt_set_first_device(device);
}
