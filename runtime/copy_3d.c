// SPDX-License-Identifier: MIT
// The manual's chapter "Memory Management": copies of boxes, also between devices.
#include "copy.h"
#include "driver_twins.h"

static bool box_is_empty(struct cudaExtent extent)
{
    return !extent.width || !extent.height || !extent.depth;
}

cudaError_t rt_cudaMemcpy3D(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    CUDA_MEMCPY3D box;
    if (box_is_empty(p->extent))
        return cudaSuccess;
    cudaError_t r = rt_copy_3d_params(p, &box);
    return r ? r : rt_error(RT_DEFAULT(stream, cuMemcpy3D_v2)(&box));
}

cudaError_t rt_cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    CUDA_MEMCPY3D box;
    if (box_is_empty(p->extent))
        return cudaSuccess;
    cudaError_t r = rt_copy_3d_params(p, &box);
    return r ? r : rt_error(rt_cu.cuMemcpy3DAsync(&box, stream));
}

// ---- between devices

// The parameters of the driver's two functions differ in the contexts only.
static CUDA_MEMCPY3D_PEER box_between(const CUDA_MEMCPY3D *b, const struct rt_peers *peers)
{
    return (CUDA_MEMCPY3D_PEER){
        .srcXInBytes = b->srcXInBytes,
        .srcY = b->srcY,
        .srcZ = b->srcZ,
        .srcMemoryType = b->srcMemoryType,
        .srcHost = b->srcHost,
        .srcDevice = b->srcDevice,
        .srcArray = b->srcArray,
        .srcContext = peers->src,
        .srcPitch = b->srcPitch,
        .srcHeight = b->srcHeight,
        .dstXInBytes = b->dstXInBytes,
        .dstY = b->dstY,
        .dstZ = b->dstZ,
        .dstMemoryType = b->dstMemoryType,
        .dstHost = b->dstHost,
        .dstDevice = b->dstDevice,
        .dstArray = b->dstArray,
        .dstContext = peers->dst,
        .dstPitch = b->dstPitch,
        .dstHeight = b->dstHeight,
        .WidthInBytes = b->WidthInBytes,
        .Height = b->Height,
        .Depth = b->Depth,
    };
}

static cudaError_t box_peer(const struct cudaMemcpy3DPeerParms *p, struct rt_copy_call call)
{
    struct rt_peers peers;
    CUDA_MEMCPY3D box;
    const struct cudaMemcpy3DParms here = {
        .srcArray = p->srcArray,
        .srcPos = p->srcPos,
        .srcPtr = p->srcPtr,
        .dstArray = p->dstArray,
        .dstPos = p->dstPos,
        .dstPtr = p->dstPtr,
        .extent = p->extent,
        .kind = cudaMemcpyDeviceToDevice,
    };
    cudaError_t r = rt_peers_enter(&peers, p->dstDevice, p->srcDevice);
    if (r)
        return r;
    CUresult result = CUDA_SUCCESS;
    if (!box_is_empty(p->extent))
        r = rt_copy_3d_params(&here, &box);
    if (!box_is_empty(p->extent) && !r) {
        const CUDA_MEMCPY3D_PEER between = box_between(&box, &peers);
        result = call.async ? rt_cu.cuMemcpy3DPeerAsync(&between, call.stream)
                            : RT_DEFAULT(call.stream, cuMemcpy3DPeer)(&between);
    }
    const cudaError_t left = rt_peers_leave(&peers, result);
    return r ? r : left;
}

cudaError_t rt_cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    return box_peer(p, (struct rt_copy_call){.stream = stream});
}

cudaError_t rt_cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    return box_peer(p, (struct rt_copy_call){.stream = stream, .async = true});
}
