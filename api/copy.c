// SPDX-License-Identifier: MIT
// The manual's chapter "Memory Management": copies, in all their forms.
#include "copy.h"

#include "api_bodies.h"
#include "call.h"
#include "context.h"
#include "copy_box.h"

// Field by field: the compiler clears a whole struct of this size with a slow string instruction.
static void set_end(struct em_end *out, const struct em_end *end)
{
    out->kind = end->kind;
    out->address = end->address;
    out->array = end->array;
    out->x_B = end->x_B;
    out->pitch_B = out->rows = out->y = out->z = 0;
    out->type = 0;
}

static CUresult run_of_bytes(struct em_end dst, struct em_end src, size_t bytes,
                             struct em_stream *stream, bool async)
{
    struct em_copy copy;
    set_end(&copy.dst, &dst);
    set_end(&copy.src, &src);
    copy.width_B = bytes;
    copy.height = copy.depth = 1;
    return em_copy(&copy, stream, async);
}

// ---- runs of bytes

CUresult api_cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount,
                      struct em_stream *default_stream)
{
    return run_of_bytes(em_end_any(dst), em_end_any(src), ByteCount, default_stream, false);
}

CUresult api_cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount,
                           struct em_stream *hStream)
{
    return run_of_bytes(em_end_any(dst), em_end_any(src), ByteCount, hStream, true);
}

CUresult api_cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
                             struct em_stream *default_stream)
{
    return run_of_bytes(em_end_device(dstDevice), em_end_host(srcHost), ByteCount, default_stream,
                        false);
}

CUresult api_cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
                                  struct em_stream *hStream)
{
    return run_of_bytes(em_end_device(dstDevice), em_end_host(srcHost), ByteCount, hStream, true);
}

CUresult api_cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                             struct em_stream *default_stream)
{
    return run_of_bytes(em_end_host(dstHost), em_end_device(srcDevice), ByteCount, default_stream,
                        false);
}

CUresult api_cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                                  struct em_stream *hStream)
{
    return run_of_bytes(em_end_host(dstHost), em_end_device(srcDevice), ByteCount, hStream, true);
}

CUresult api_cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                             struct em_stream *default_stream)
{
    return run_of_bytes(em_end_device(dstDevice), em_end_device(srcDevice), ByteCount,
                        default_stream, false);
}

CUresult api_cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                                  struct em_stream *hStream)
{
    return run_of_bytes(em_end_device(dstDevice), em_end_device(srcDevice), ByteCount, hStream,
                        true);
}

// ---- arrays and runs of bytes; a run is in the first row of the array

CUresult api_cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice,
                             size_t ByteCount, struct em_stream *default_stream)
{
    return run_of_bytes(em_end_array(dstArray, dstOffset), em_end_device(srcDevice), ByteCount,
                        default_stream, false);
}

CUresult api_cuMemcpyAtoD_v2(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset,
                             size_t ByteCount, struct em_stream *default_stream)
{
    return run_of_bytes(em_end_device(dstDevice), em_end_array(srcArray, srcOffset), ByteCount,
                        default_stream, false);
}

CUresult api_cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void *srcHost,
                             size_t ByteCount, struct em_stream *default_stream)
{
    return run_of_bytes(em_end_array(dstArray, dstOffset), em_end_host(srcHost), ByteCount,
                        default_stream, false);
}

CUresult api_cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void *srcHost,
                                  size_t ByteCount, struct em_stream *hStream)
{
    return run_of_bytes(em_end_array(dstArray, dstOffset), em_end_host(srcHost), ByteCount, hStream,
                        true);
}

CUresult api_cuMemcpyAtoH_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount,
                             struct em_stream *default_stream)
{
    return run_of_bytes(em_end_host(dstHost), em_end_array(srcArray, srcOffset), ByteCount,
                        default_stream, false);
}

CUresult api_cuMemcpyAtoHAsync_v2(void *dstHost, CUarray srcArray, size_t srcOffset,
                                  size_t ByteCount, struct em_stream *hStream)
{
    return run_of_bytes(em_end_host(dstHost), em_end_array(srcArray, srcOffset), ByteCount, hStream,
                        true);
}

CUresult api_cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
                             size_t ByteCount, struct em_stream *default_stream)
{
    return run_of_bytes(em_end_array(dstArray, dstOffset), em_end_array(srcArray, srcOffset),
                        ByteCount, default_stream, false);
}

// ---- boxes

static inline __attribute__((always_inline)) CUresult copy_box(const struct em_copy_box *box,
                                                               struct em_stream *stream, bool async)
{
    struct em_copy copy;
    CUresult r = em_copy_from_box(box, &copy);
    return r ? r : em_copy(&copy, stream, async);
}

static CUresult copy_2d(const CUDA_MEMCPY2D *p, struct em_stream *stream, bool async)
{
    const struct em_copy_box box = {
        .width_B = p->WidthInBytes,
        .height = p->Height,
        .depth = 1,
        .dst = {EM_COPY_END_2D(p, dst)},
        .src = {EM_COPY_END_2D(p, src)},
    };
    return copy_box(&box, stream, async);
}

static CUresult copy_3d(const CUDA_MEMCPY3D *p, struct em_stream *stream, bool async)
{
    const struct em_copy_box box = EM_COPY_BOX_3D(p);
    return copy_box(&box, stream, async);
}

CUresult api_cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy, struct em_stream *default_stream)
{
    return copy_2d(pCopy, default_stream, false);
}

// "cuMemcpy2D may fail for pitches that were not computed by cuMemAllocPitch; cuMemcpy2DUnaligned
// does not have this restriction". Neither has it here.
CUresult api_cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy, struct em_stream *default_stream)
{
    return copy_2d(pCopy, default_stream, false);
}

CUresult api_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, struct em_stream *hStream)
{
    return copy_2d(pCopy, hStream, true);
}

CUresult api_cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy, struct em_stream *default_stream)
{
    return copy_3d(pCopy, default_stream, false);
}

CUresult api_cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, struct em_stream *hStream)
{
    return copy_3d(pCopy, hStream, true);
}

// ---- between contexts

// NULL stands for the current context.
static CUresult check_context(CUcontext context)
{
    struct em_context *c;
    if (!context)
        return CUDA_SUCCESS;
    CUresult r = em_context_get(context, CUDA_ERROR_INVALID_CONTEXT, &c);
    if (!r)
        em_context_put(c);
    return r;
}

static CUresult between(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src,
                        CUcontext src_context, size_t bytes, struct em_stream *stream, bool async)
{
    CUresult r = check_context(dst_context);
    if (!r)
        r = check_context(src_context);
    if (r)
        return r;
    return run_of_bytes(em_end_device(dst), em_end_device(src), bytes, stream, async);
}

CUresult api_cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                          CUcontext srcContext, size_t ByteCount, struct em_stream *default_stream)
{
    return between(dstDevice, dstContext, srcDevice, srcContext, ByteCount, default_stream, false);
}

CUresult api_cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                               CUcontext srcContext, size_t ByteCount, struct em_stream *hStream)
{
    return between(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream, true);
}

static CUresult box_between(const CUDA_MEMCPY3D_PEER *p, struct em_stream *stream, bool async)
{
    CUresult r = check_context(p->dstContext);
    if (!r)
        r = check_context(p->srcContext);
    if (r)
        return r;
    const struct em_copy_box box = EM_COPY_BOX_3D(p);
    return copy_box(&box, stream, async);
}

CUresult api_cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy, struct em_stream *default_stream)
{
    return box_between(pCopy, default_stream, false);
}

CUresult api_cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, struct em_stream *hStream)
{
    return box_between(pCopy, hStream, true);
}
