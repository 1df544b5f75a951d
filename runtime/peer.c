// SPDX-License-Identifier: MIT
// Links between devices, and atomic operations over them.
#include "rt.h"

cudaError_t rt_cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice)
{
    return rt_error(rt_cu.cuDeviceCanAccessPeer(canAccessPeer, device, peerDevice));
}

cudaError_t rt_cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int srcDevice,
                                         int dstDevice)
{
    return rt_error(
        rt_cu.cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attr, srcDevice, dstDevice));
}

// The driver names the peer by a context: here, by its primary one.
cudaError_t rt_cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
    CUcontext peer;
    cudaError_t r = rt_device_check("peerDevice", peerDevice);
    if (!r && flags)
        r = rt_fail(cudaErrorInvalidValue, "flags (0x%x) must be 0", flags);
    if (!r)
        r = rt_context_primary(peerDevice, &peer);
    // A device is not its own peer (recorded: device/peer-enable-0-flags-0).
    if (!r && peerDevice == rt_current_device())
        r = rt_fail(cudaErrorPeerAccessUnsupported,
                    "peerDevice (%d) is the current device, which is not its own peer", peerDevice);
    return r ? r : rt_error(rt_cu.cuCtxEnablePeerAccess(peer, flags));
}

cudaError_t rt_cudaDeviceDisablePeerAccess(int peerDevice)
{
    CUcontext peer;
    cudaError_t r = rt_device_check("peerDevice", peerDevice);
    if (!r && peerDevice == rt_current_device())
        r = rt_fail(cudaErrorPeerAccessNotEnabled,
                    "peerDevice (%d) is the current device, which is not its own peer", peerDevice);
    if (!r)
        r = rt_context_primary(peerDevice, &peer);
    return r ? r : rt_error(rt_cu.cuCtxDisablePeerAccess(peer));
}

cudaError_t rt_cudaDeviceGetHostAtomicCapabilities(unsigned int *capabilities,
                                                   const enum cudaAtomicOperation *operations,
                                                   unsigned int count, int device)
{
    return rt_error(rt_cu.cuDeviceGetHostAtomicCapabilities(
        capabilities, (const CUatomicOperation *)operations, count, device));
}

cudaError_t rt_cudaDeviceGetP2PAtomicCapabilities(unsigned int *capabilities,
                                                  const enum cudaAtomicOperation *operations,
                                                  unsigned int count, int srcDevice, int dstDevice)
{
    return rt_error(rt_cu.cuDeviceGetP2PAtomicCapabilities(
        capabilities, (const CUatomicOperation *)operations, count, srcDevice, dstDevice));
}
