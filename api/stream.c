// SPDX-License-Identifier: MIT
// The manual's chapter "Stream Management", without capture. A stream argument is resolved by
// em_stream_get: only the default streams need a current context, so that what takes a created
// stream works in a thread without one, as on the card.
#include "api_bodies.h"
#include "call.h"
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
                       "stream flags %#x: only CU_STREAM_NON_BLOCKING (0x1) is one", flags);
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

CUresult api_cuStreamQuery(CUstream hStream)
{
    struct em_stream *s;
    CUresult r = em_stream_get(hStream, &s);
    if (r)
        return r;
    r = em_stream_query(s);
    em_stream_put(s);
    return r;
}

CUresult api_cuStreamSynchronize(CUstream hStream)
{
    struct em_stream *s;
    CUresult r = em_stream_get(hStream, &s);
    if (r)
        return r;
    r = em_stream_synchronize(s);
    em_stream_put(s);
    return r;
}

// ---- properties ----

CUresult api_cuStreamGetPriority(CUstream hStream, int *priority)
{
    struct em_stream_facts f;
    CUresult r = em_stream_facts(hStream, &f);
    if (r)
        return r;
    *priority = f.priority;
    return CUDA_SUCCESS;
}

CUresult api_cuStreamGetFlags(CUstream hStream, unsigned int *flags)
{
    struct em_stream_facts f;
    CUresult r = em_stream_facts(hStream, &f);
    if (r)
        return r;
    *flags = f.flags;
    return CUDA_SUCCESS;
}

CUresult api_cuStreamGetId(CUstream hStream, unsigned long long *streamId)
{
    struct em_stream_facts f;
    CUresult r = em_stream_facts(hStream, &f);
    if (r)
        return r;
    *streamId = f.id;
    return CUDA_SUCCESS;
}

CUresult api_cuStreamGetDevice(CUstream hStream, CUdevice *device)
{
    struct em_stream_facts f;
    CUresult r = em_stream_facts(hStream, &f);
    if (r)
        return r;
    *device = f.device;
    return CUDA_SUCCESS;
}

CUresult api_cuStreamGetCtx(CUstream hStream, CUcontext *pctx)
{
    struct em_stream_facts f;
    CUresult r = em_stream_facts(hStream, &f);
    if (r)
        return r;
    *pctx = f.context;
    return CUDA_SUCCESS;
}

// Either result may be left out. There are no green contexts, which no stream then belongs to.
CUresult api_cuStreamGetCtx_v2(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx)
{
    struct em_stream_facts f;
    CUresult r = em_stream_facts(hStream, &f);
    if (r)
        return r;
    if (pCtx)
        *pCtx = f.context;
    if (pGreenCtx)
        *pGreenCtx = NULL;
    return CUDA_SUCCESS;
}

// "*phCtx is set to NULL if the stream is not associated with a green context".
CUresult api_cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx *phCtx)
{
    struct em_stream_facts f;
    CUresult r = em_stream_facts(hStream, &f);
    if (r)
        return r;
    *phCtx = NULL;
    return CUDA_SUCCESS;
}

// ---- attributes ----

CUresult api_cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr,
                                  CUstreamAttrValue *value_out)
{
    struct em_stream *s;
    CUresult r = em_stream_get(hStream, &s);
    if (r)
        return r;
    r = em_stream_get_attribute(s, attr, value_out);
    em_stream_put(s);
    return r;
}

CUresult api_cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr,
                                  const CUstreamAttrValue *value)
{
    struct em_stream *s;
    CUresult r = em_stream_get(hStream, &s);
    if (r)
        return r;
    r = em_stream_set_attribute(s, attr, value);
    em_stream_put(s);
    return r;
}

CUresult api_cuStreamCopyAttributes(CUstream dst, CUstream src)
{
    struct em_stream *to, *from;
    CUresult r = em_stream_get(dst, &to);
    if (r)
        return r;
    r = em_stream_get(src, &from);
    if (!r) {
        r = em_stream_copy_attributes(to, from);
        em_stream_put(from);
    }
    em_stream_put(to);
    return r;
}

// ---- functions of the program ----

CUresult api_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    struct em_stream *s;
    CUresult r = em_stream_get(hStream, &s);
    if (r)
        return r;
    r = em_host_function(s, fn, userData);
    em_stream_put(s);
    return r;
}

CUresult api_cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData,
                                 unsigned int flags)
{
    struct em_stream *s;
    CUresult r = em_stream_get(hStream, &s);
    if (r)
        return r;
    // "flags: Reserved for future use, must be 0"
    if (flags)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x of a callback must be 0", flags);
    else
        r = em_stream_callback(s, hStream, callback, userData);
    em_stream_put(s);
    return r;
}

// ---- managed memory ----

CUresult api_cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length,
                                    unsigned int flags)
{
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
        flags != CU_MEM_ATTACH_SINGLE)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "flags %#x: exactly one of CU_MEM_ATTACH_GLOBAL, _HOST and _SINGLE is needed", flags);
    return em_managed_attach(dptr, length, flags, hStream);
}

// ---- capture: there is none yet ----

static __thread CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

CUresult api_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    CUstreamCaptureMode before = capture_mode;
    if ((unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%d is no capture mode", (int)*mode);
    capture_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

// As no capture can be begun, no stream is capturing.
CUresult api_cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    struct em_stream_facts f;
    CUresult r = em_stream_facts(hStream, &f);
    if (r)
        return r;
    *captureStatus = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}
