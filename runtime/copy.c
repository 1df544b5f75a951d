// SPDX-License-Identifier: MIT
// The manual's chapter "Memory Management": copies of bytes, also between devices.
#include "copy.h"

#include "driver_twins.h"

static CUdeviceptr device_address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

// A copy between host pointers may be one between any pointers (recorded:
// copy_kinds/kind0-device2-to-pageable).
cudaError_t rt_cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                          cudaStream_t stream)
{
    if (!count)
        return cudaSuccess;
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return rt_error(RT_DEFAULT(stream, cuMemcpyHtoD_v2)(device_address(dst), src, count));
    case cudaMemcpyDeviceToHost:
        return rt_error(RT_DEFAULT(stream, cuMemcpyDtoH_v2)(dst, device_address(src), count));
    case cudaMemcpyDeviceToDevice:
        return rt_error(
            RT_DEFAULT(stream, cuMemcpyDtoD_v2)(device_address(dst), device_address(src), count));
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return rt_error(
            RT_DEFAULT(stream, cuMemcpy)(device_address(dst), device_address(src), count));
    default:
        return rt_copy_direction_fail(kind);
    }
}

cudaError_t rt_cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                               cudaStream_t stream)
{
    if (!count)
        return cudaSuccess;
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return rt_error(rt_cu.cuMemcpyHtoDAsync(device_address(dst), src, count, stream));
    case cudaMemcpyDeviceToHost:
        return rt_error(rt_cu.cuMemcpyDtoHAsync(dst, device_address(src), count, stream));
    case cudaMemcpyDeviceToDevice:
        return rt_error(
            rt_cu.cuMemcpyDtoDAsync(device_address(dst), device_address(src), count, stream));
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return rt_error(
            rt_cu.cuMemcpyAsync(device_address(dst), device_address(src), count, stream));
    default:
        return rt_copy_direction_fail(kind);
    }
}

// ---- between devices

cudaError_t rt_peers_enter(struct rt_peers *peers, int dst_device, int src_device)
{
    cudaError_t found = rt_device_check("dstDevice", dst_device);
    found = found ? found : rt_device_check("srcDevice", src_device);
    if (found)
        return found;
    CUdevice dst, src;
    RT_TRY(rt_cu.cuDeviceGet(&dst, dst_device));
    RT_TRY(rt_cu.cuDeviceGet(&src, src_device));
    RT_TRY(rt_cu.cuDevicePrimaryCtxRetain(&peers->dst, dst));
    CUresult r = rt_cu.cuDevicePrimaryCtxRetain(&peers->src, src);
    if (r) {
        rt_cu.cuDevicePrimaryCtxRelease(dst);
        return rt_error(r);
    }
    peers->dst_device = dst;
    peers->src_device = src;
    return cudaSuccess;
}

cudaError_t rt_peers_leave(const struct rt_peers *peers, CUresult result)
{
    rt_cu.cuDevicePrimaryCtxRelease(peers->src_device);
    rt_cu.cuDevicePrimaryCtxRelease(peers->dst_device);
    return rt_error(result);
}

cudaError_t rt_cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice,
                              size_t count)
{
    struct rt_peers peers;
    cudaError_t r = rt_peers_enter(&peers, dstDevice, srcDevice);
    if (r)
        return r;
    return rt_peers_leave(&peers, count ? rt_cu.cuMemcpyPeer(device_address(dst), peers.dst,
                                                             device_address(src), peers.src, count)
                                        : CUDA_SUCCESS);
}

cudaError_t rt_cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice,
                                   size_t count, cudaStream_t stream)
{
    struct rt_peers peers;
    cudaError_t r = rt_peers_enter(&peers, dstDevice, srcDevice);
    if (r)
        return r;
    return rt_peers_leave(&peers, count ? rt_cu.cuMemcpyPeerAsync(device_address(dst), peers.dst,
                                                                  device_address(src), peers.src,
                                                                  count, stream)
                                        : CUDA_SUCCESS);
}
