// SPDX-License-Identifier: MIT
// The manual's chapter "Stream Management". capture.c has the calls about capture.
#include "api_bodies.h"
#include "call.h"
#include "capture.h"
#include "context.h"
#include "device.h"
#include "host_function.h"
#include "managed.h"
#include "stream.h"
#include "stream_attribute.h"

static bool is_default_handle(CUstream stream)
{
    return !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

static CUresult create(CUstream *out, unsigned flags, int priority)
{
    if (flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "unknown flags (%#x); the only valid flag is CU_STREAM_NON_BLOCKING (0x1)",
                       flags);
    CUresult r = em_need_init();
    if (!r)
        r = em_need_context();
    return r ? r : em_stream_create(em_self.current, flags, priority, out);
}

CUresult api_cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
    return create(phStream, Flags, 0);
}

// "If the specified priority is outside the numerical range returned by
// cuCtxGetStreamPriorityRange, it will automatically be clamped".
CUresult api_cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    return create(phStream, flags, priority);
}

// Takes the handle, not the stream: destroying ends the handle and asks nothing of the stream.
CUresult api_cuStreamDestroy_v2(CUstream hStream)
{
    struct em_stream *s;
    if (!is_default_handle(hStream))
        return em_stream_destroy(hStream);
    CUresult r = em_stream_get(hStream, &s);
    if (r)
        return r;
    em_stream_put(s);
    return em_fail(CUDA_ERROR_INVALID_HANDLE, "a default stream cannot be destroyed");
}

CUresult api_cuStreamQuery(struct em_stream *hStream)
{
    return em_stream_query(hStream);
}

CUresult api_cuStreamSynchronize(struct em_stream *hStream)
{
    return em_stream_synchronize(hStream);
}

// ---- properties ----

CUresult api_cuStreamGetPriority(struct em_stream *hStream, int *priority)
{
    *priority = hStream->priority;
    return CUDA_SUCCESS;
}

CUresult api_cuStreamGetFlags(struct em_stream *hStream, unsigned int *flags)
{
    *flags = hStream->flags;
    return CUDA_SUCCESS;
}

CUresult api_cuStreamGetId(struct em_stream *hStream, unsigned long long *streamId)
{
    *streamId = hStream->id;
    return CUDA_SUCCESS;
}

CUresult api_cuStreamGetDevice(struct em_stream *hStream, CUdevice *device)
{
    *device = hStream->object.context->device->ordinal;
    return CUDA_SUCCESS;
}

CUresult api_cuStreamGetCtx(struct em_stream *hStream, CUcontext *pctx)
{
    *pctx = em_context_handle(hStream->object.context);
    return CUDA_SUCCESS;
}

// Either output may be NULL. No stream belongs to a green context, because green
// contexts cannot be created.
CUresult api_cuStreamGetCtx_v2(struct em_stream *hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx)
{
    if (pCtx)
        *pCtx = em_context_handle(hStream->object.context);
    if (pGreenCtx)
        *pGreenCtx = NULL;
    return CUDA_SUCCESS;
}

// "*phCtx is set to NULL if the stream is not associated with a green context".
CUresult api_cuStreamGetGreenCtx(struct em_stream *hStream, CUgreenCtx *phCtx)
{
    *phCtx = NULL;
    return CUDA_SUCCESS;
}

// ---- attributes ----

CUresult api_cuStreamGetAttribute(struct em_stream *hStream, CUstreamAttrID attr,
                                  CUstreamAttrValue *value_out)
{
    return em_stream_get_attribute(hStream, attr, value_out);
}

CUresult api_cuStreamSetAttribute(struct em_stream *hStream, CUstreamAttrID attr,
                                  const CUstreamAttrValue *value)
{
    return em_stream_set_attribute(hStream, attr, value);
}

CUresult api_cuStreamCopyAttributes(struct em_stream *dst, struct em_stream *src)
{
    // (recorded: graph_rules, failing/invalid-102)
    CUresult r = em_capture_check_valid(dst);
    return r ? r : em_stream_copy_attributes(dst, src);
}

// ---- functions of the program ----

CUresult api_cuLaunchHostFunc(struct em_stream *hStream, CUhostFn fn, void *userData)
{
    return em_host_function(hStream, fn, userData);
}

// The callback receives the handle that the program passed, so this body takes it beside the
// stream.
CUresult api_cuStreamAddCallback(struct em_stream *hStream, CUstream hStream_handle,
                                 CUstreamCallback callback, void *userData, unsigned int flags)
{
    // "flags: Reserved for future use, must be 0"
    if (flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags (%#x) of a callback must be 0", flags);
    return em_stream_callback(hStream, hStream_handle, callback, userData);
}

// ---- managed memory ----

CUresult api_cuStreamAttachMemAsync(struct em_stream *hStream, CUdeviceptr dptr, size_t length,
                                    unsigned int flags)
{
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
        flags != CU_MEM_ATTACH_SINGLE)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "flags (%#x) must be CU_MEM_ATTACH_GLOBAL, _HOST or _SINGLE", flags);
    return em_managed_attach(dptr, length, flags, hStream);
}
