// SPDX-License-Identifier: MIT
// The manual's chapter "EGL Interoperability", streams half.
#include "egl_stream.h"

#include <string.h>

#include "api_bodies.h"
#include "call.h"

_Static_assert(sizeof(CUeglFrame) == sizeof(struct em_egl_frame), "a frame has one form");

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
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags (%#x) are not a CUeglResourceLocationFlags",
                       flags);
    return connect(conn, stream, EM_EGL_CONSUMER);
}

CUresult api_cuEGLStreamProducerConnect(CUeglStreamConnection *conn, EGLStreamKHR stream,
                                        EGLint width, EGLint height)
{
    (void)width, (void)height; // the driver accepts any, and frames may have other sizes
    return connect(conn, stream, EM_EGL_PRODUCER);
}

static uint64_t connection_of(const CUeglStreamConnection *conn)
{
    return (uint64_t)(uintptr_t)*conn;
}

// The driver checks the connection before it checks for a context.
static CUresult need(const CUeglStreamConnection *conn)
{
    if (!*conn)
        return em_null_handle("conn");
    CUresult r = em_need_init();
    return r ? r : em_need_context();
}

CUresult api_cuEGLStreamConsumerDisconnect(CUeglStreamConnection *conn)
{
    CUresult r = need(conn);
    return r ? r : em_egl_disconnect(connection_of(conn), EM_EGL_CONSUMER);
}

CUresult api_cuEGLStreamProducerDisconnect(CUeglStreamConnection *conn)
{
    CUresult r = need(conn);
    return r ? r : em_egl_disconnect(connection_of(conn), EM_EGL_PRODUCER);
}

CUresult api_check_cuEGLStreamConsumerAcquireFrame(CUeglStreamConnection *conn,
                                                   CUgraphicsResource *pCudaResource,
                                                   unsigned int timeout)
{
    return need(conn);
}

CUresult api_cuEGLStreamConsumerAcquireFrame(CUeglStreamConnection *conn,
                                             CUgraphicsResource *pCudaResource,
                                             struct em_stream *pStream, unsigned int timeout)
{
    return em_egl_acquire(connection_of(conn), pCudaResource, pStream, timeout);
}

CUresult api_check_cuEGLStreamConsumerReleaseFrame(CUeglStreamConnection *conn,
                                                   CUgraphicsResource pCudaResource)
{
    return need(conn);
}

CUresult api_cuEGLStreamConsumerReleaseFrame(CUeglStreamConnection *conn,
                                             CUgraphicsResource pCudaResource,
                                             struct em_stream *pStream)
{
    return em_egl_release(connection_of(conn), pCudaResource, pStream);
}

CUresult api_check_cuEGLStreamProducerPresentFrame(CUeglStreamConnection *conn, CUeglFrame eglframe)
{
    return need(conn);
}

CUresult api_cuEGLStreamProducerPresentFrame(CUeglStreamConnection *conn, CUeglFrame eglframe,
                                             struct em_stream *pStream)
{
    struct em_egl_frame frame;
    memcpy(&frame, &eglframe, sizeof frame);
    return em_egl_present(connection_of(conn), &frame, pStream);
}

CUresult api_check_cuEGLStreamProducerReturnFrame(CUeglStreamConnection *conn, CUeglFrame *eglframe)
{
    return need(conn);
}

CUresult api_cuEGLStreamProducerReturnFrame(CUeglStreamConnection *conn, CUeglFrame *eglframe,
                                            struct em_stream *pStream)
{
    struct em_egl_frame frame;
    CUresult r = em_egl_return(connection_of(conn), &frame, pStream);
    if (!r)
        memcpy(eglframe, &frame, sizeof frame);
    return r;
}
