// SPDX-License-Identifier: MIT
// The manual's chapter "EGL Interoperability", streams half.
#include "egl_stream.h"

#include <string.h>

#include "api_bodies.h"
#include "call.h"

_Static_assert(sizeof(CUeglFrame) == sizeof(struct em_egl_frame), "a frame has one form");

// No stream is the default one.
static CUstream stream_of(const CUstream *stream)
{
    return stream ? *stream : NULL;
}

static CUresult connect(CUeglStreamConnection *conn, EGLStreamKHR stream, enum em_egl_role role)
{
    uint64_t handle = 0;
    CUresult r = em_egl_connect(stream, role, &handle);
    if (handle)
        *conn = (CUeglStreamConnection)(uintptr_t)handle;
    return r;
}

CUresult api_cuEGLStreamConsumerConnect(CUeglStreamConnection *conn, EGLStreamKHR stream)
{
    return connect(conn, stream, EM_EGL_CONSUMER);
}

CUresult api_cuEGLStreamConsumerConnectWithFlags(CUeglStreamConnection *conn, EGLStreamKHR stream,
                                                 unsigned int flags)
{
    // CU_EGL_RESOURCE_LOCATION_SYSMEM and _VIDMEM
    if (flags > 1)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x are no CUeglResourceLocationFlags",
                       flags);
    return connect(conn, stream, EM_EGL_CONSUMER);
}

CUresult api_cuEGLStreamProducerConnect(CUeglStreamConnection *conn, EGLStreamKHR stream,
                                        EGLint width, EGLint height)
{
    (void)width, (void)height; // silicon: they may be any, and frames may have others
    return connect(conn, stream, EM_EGL_PRODUCER);
}

// Silicon looks at the connection before it looks for a context.
static CUresult need(const CUeglStreamConnection *conn, uint64_t *handle)
{
    *handle = (uint64_t)(uintptr_t)*conn;
    if (!*handle)
        return em_null_handle("conn");
    CUresult r = em_need_init();
    return r ? r : em_need_context();
}

CUresult api_cuEGLStreamConsumerDisconnect(CUeglStreamConnection *conn)
{
    uint64_t handle;
    CUresult r = need(conn, &handle);
    return r ? r : em_egl_disconnect(handle, EM_EGL_CONSUMER);
}

CUresult api_cuEGLStreamProducerDisconnect(CUeglStreamConnection *conn)
{
    uint64_t handle;
    CUresult r = need(conn, &handle);
    return r ? r : em_egl_disconnect(handle, EM_EGL_PRODUCER);
}

CUresult api_cuEGLStreamConsumerAcquireFrame(CUeglStreamConnection *conn,
                                             CUgraphicsResource *pCudaResource, CUstream *pStream,
                                             unsigned int timeout)
{
    uint64_t handle;
    CUresult r = need(conn, &handle);
    return r ? r : em_egl_acquire(handle, pCudaResource, stream_of(pStream), timeout);
}

CUresult api_cuEGLStreamConsumerReleaseFrame(CUeglStreamConnection *conn,
                                             CUgraphicsResource pCudaResource, CUstream *pStream)
{
    uint64_t handle;
    CUresult r = need(conn, &handle);
    return r ? r : em_egl_release(handle, pCudaResource, stream_of(pStream));
}

CUresult api_cuEGLStreamProducerPresentFrame(CUeglStreamConnection *conn, CUeglFrame eglframe,
                                             CUstream *pStream)
{
    struct em_egl_frame frame;
    uint64_t handle;
    memcpy(&frame, &eglframe, sizeof frame);
    CUresult r = need(conn, &handle);
    return r ? r : em_egl_present(handle, &frame, stream_of(pStream));
}

CUresult api_cuEGLStreamProducerReturnFrame(CUeglStreamConnection *conn, CUeglFrame *eglframe,
                                            CUstream *pStream)
{
    struct em_egl_frame frame;
    uint64_t handle;
    CUresult r = need(conn, &handle);
    if (!r && !(r = em_egl_return(handle, &frame, stream_of(pStream))))
        memcpy(eglframe, &frame, sizeof frame);
    return r;
}
