// SPDX-License-Identifier: MIT
// The manual's chapter "EGL Interoperability", streams half.
#include "egl_stream.h"

#include <string.h>

#include "api_bodies.h"
#include "call.h"

_Static_assert(sizeof(CUeglFrame) == sizeof(struct em_egl_frame), "a frame has one form");

static uint64_t handle_of(const CUeglStreamConnection *conn)
{
    return (uint64_t)(uintptr_t)*conn;
}

// No stream is the default one.
static CUstream stream_of(const CUstream *stream)
{
    return stream ? *stream : NULL;
}

static CUresult connect(CUeglStreamConnection *conn, EGLStreamKHR stream, enum em_egl_role role)
{
    uint64_t handle;
    // Silicon looks at the stream first.
    if (!stream)
        return em_null_handle("stream");
    if (!conn)
        return em_null("conn");
    CUresult r = em_egl_connect(stream, role, &handle);
    if (!r)
        *conn = (CUeglStreamConnection)(uintptr_t)handle;
    return r;
}

CUresult api_cuEGLStreamConsumerConnect(CUeglStreamConnection *conn, EGLStreamKHR stream)
{
    return connect(conn, stream, EM_EGL_CONSUMER);
}

CUresult api_cuEGLStreamConsumerConnectWithFlags(CUeglStreamConnection *conn, EGLStreamKHR stream, unsigned int flags)
{
    // CU_EGL_RESOURCE_LOCATION_SYSMEM and _VIDMEM
    if (stream && flags > 1)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x are no CUeglResourceLocationFlags", flags);
    return connect(conn, stream, EM_EGL_CONSUMER);
}

CUresult api_cuEGLStreamProducerConnect(CUeglStreamConnection *conn, EGLStreamKHR stream, EGLint width, EGLint height)
{
    if (width <= 0 || height <= 0)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "frames of %d x %d", (int)width, (int)height);
    return connect(conn, stream, EM_EGL_PRODUCER);
}

static CUresult disconnect(CUeglStreamConnection *conn, enum em_egl_role role)
{
    if (!conn)
        return em_null_handle("conn");
    // A connection that was never made is disconnected.
    return *conn ? em_egl_disconnect(handle_of(conn), role) : CUDA_SUCCESS;
}

CUresult api_cuEGLStreamConsumerDisconnect(CUeglStreamConnection *conn)
{
    return disconnect(conn, EM_EGL_CONSUMER);
}

CUresult api_cuEGLStreamProducerDisconnect(CUeglStreamConnection *conn)
{
    return disconnect(conn, EM_EGL_PRODUCER);
}

CUresult api_cuEGLStreamConsumerAcquireFrame(CUeglStreamConnection *conn, CUgraphicsResource *pCudaResource, CUstream *pStream, unsigned int timeout)
{
    if (!conn || !pCudaResource)
        return em_null_handle(!conn ? "conn" : "pCudaResource");
    return em_egl_acquire(handle_of(conn), pCudaResource, stream_of(pStream), timeout);
}

CUresult api_cuEGLStreamConsumerReleaseFrame(CUeglStreamConnection *conn, CUgraphicsResource pCudaResource, CUstream *pStream)
{
    if (!conn)
        return em_null_handle("conn");
    return em_egl_release(handle_of(conn), pCudaResource, stream_of(pStream));
}

CUresult api_cuEGLStreamProducerPresentFrame(CUeglStreamConnection *conn, CUeglFrame eglframe, CUstream *pStream)
{
    struct em_egl_frame frame;
    if (!conn)
        return em_null_handle("conn");
    memcpy(&frame, &eglframe, sizeof frame);
    return em_egl_present(handle_of(conn), &frame, stream_of(pStream));
}

CUresult api_cuEGLStreamProducerReturnFrame(CUeglStreamConnection *conn, CUeglFrame *eglframe, CUstream *pStream)
{
    struct em_egl_frame frame;
    if (!conn || !eglframe)
        return em_null_handle(!conn ? "conn" : "eglframe");
    CUresult r = em_egl_return(handle_of(conn), &frame, stream_of(pStream));
    if (!r)
        memcpy(eglframe, &frame, sizeof frame);
    return r;
}
