// SPDX-License-Identifier: MIT
// Resources and streams of EGL.
#include "channel.h"

cudaError_t rt_cudaGraphicsEGLRegisterImage(struct cudaGraphicsResource **pCudaResource,
                                            EGLImageKHR image, unsigned int flags)
{
    return rt_error(
        rt_cu.cuGraphicsEGLRegisterImage((CUgraphicsResource *)pCudaResource, image, flags));
}

// ---- frames: the driver describes the first plane, the runtime each

// By how much the planes of colour are smaller than the plane of brightness.
struct egl_subsampling {
    unsigned width, height; // 1 or 2
};

static struct egl_subsampling egl_subsampling_of(cudaEglColorFormat format)
{
    switch (format) {
    case cudaEglColorFormatYUV420Planar:
    case cudaEglColorFormatYUV420SemiPlanar:
    case cudaEglColorFormatYVU420Planar:
    case cudaEglColorFormatYVU420SemiPlanar:
    case cudaEglColorFormatYUV420Planar_ER:
    case cudaEglColorFormatYUV420SemiPlanar_ER:
    case cudaEglColorFormatYVU420Planar_ER:
    case cudaEglColorFormatYVU420SemiPlanar_ER:
    case cudaEglColorFormatYUV420Planar_709:
    case cudaEglColorFormatYUV420SemiPlanar_709:
    case cudaEglColorFormatYVU420Planar_709:
    case cudaEglColorFormatYVU420SemiPlanar_709:
    case cudaEglColorFormatYUV420Planar_2020:
    case cudaEglColorFormatYUV420SemiPlanar_2020:
    case cudaEglColorFormatYVU420Planar_2020:
    case cudaEglColorFormatYVU420SemiPlanar_2020:
    case cudaEglColorFormatY10V10U10_420SemiPlanar:
    case cudaEglColorFormatY10V10U10_420SemiPlanar_709:
    case cudaEglColorFormatY10V10U10_420SemiPlanar_2020:
    case cudaEglColorFormatY10V10U10_420SemiPlanar_ER:
    case cudaEglColorFormatY10V10U10_420SemiPlanar_709_ER:
    case cudaEglColorFormatY12V12U12_420SemiPlanar:
    case cudaEglColorFormatY12V12U12_420SemiPlanar_ER:
    case cudaEglColorFormatY12V12U12_420SemiPlanar_709_ER:
        return (struct egl_subsampling){2, 2};
    case cudaEglColorFormatYUV422Planar:
    case cudaEglColorFormatYUV422SemiPlanar:
    case cudaEglColorFormatYVU422Planar:
    case cudaEglColorFormatYVU422SemiPlanar:
    case cudaEglColorFormatYUV422Planar_ER:
    case cudaEglColorFormatYUV422SemiPlanar_ER:
    case cudaEglColorFormatYVU422Planar_ER:
    case cudaEglColorFormatYVU422SemiPlanar_ER:
    case cudaEglColorFormatY10V10U10_422SemiPlanar:
    case cudaEglColorFormatY10V10U10_422SemiPlanar_709:
    case cudaEglColorFormatY10V10U10_422SemiPlanar_2020:
        return (struct egl_subsampling){2, 1};
    default:
        return (struct egl_subsampling){1, 1};
    }
}

// A frame whose planes cannot be described is cudaErrorInvalidChannelDescriptor (recorded:
// egl/present-null).
static cudaError_t egl_frame_to_driver(const cudaEglFrame *in, CUeglFrame *out)
{
    const cudaEglPlaneDesc *first = &in->planeDesc[0];
    struct rt_element element;
    const cudaError_t error = rt_element_of(&first->channelDesc, &element);
    if (error != cudaSuccess)
        return error;
    *out = (CUeglFrame){
        .width = first->width,
        .height = first->height,
        .depth = first->depth,
        .pitch = first->pitch,
        .planeCount = in->planeCount,
        .numChannels = first->numChannels,
        .frameType = (CUeglFrameType)in->frameType,
        .eglColorFormat = (CUeglColorFormat)in->eglColorFormat,
        .cuFormat = element.format,
    };
    for (unsigned i = 0; i < in->planeCount && i < CUDA_EGL_MAX_PLANES; i++) {
        if (in->frameType == cudaEglFrameTypePitch)
            out->frame.pPitch[i] = in->frame.pPitch[i].ptr;
        else
            out->frame.pArray[i] = (CUarray)in->frame.pArray[i];
    }
    return cudaSuccess;
}

// Two planes are brightness, and colour with two components; three have one component each.
static cudaError_t egl_frame_of_driver(const CUeglFrame *in, cudaEglFrame *out)
{
    *out = (cudaEglFrame){
        .planeCount = in->planeCount,
        .frameType = (cudaEglFrameType)in->frameType,
        .eglColorFormat = (cudaEglColorFormat)in->eglColorFormat,
    };
    const struct egl_subsampling smaller = egl_subsampling_of(out->eglColorFormat);
    for (unsigned i = 0; i < in->planeCount && i < CUDA_EGL_MAX_PLANES; i++) {
        cudaEglPlaneDesc *plane = &out->planeDesc[i];
        plane->width = i ? in->width / smaller.width : in->width;
        plane->height = i ? in->height / smaller.height : in->height;
        plane->depth = in->depth;
        plane->numChannels = i && in->planeCount == 2 ? 2 : in->numChannels;
        plane->pitch = in->pitch;
        const cudaError_t error = rt_channel_of(
            (struct rt_element){in->cuFormat, plane->numChannels}, &plane->channelDesc);
        if (error != cudaSuccess)
            return error;
        if (in->frameType == CU_EGL_FRAME_TYPE_PITCH)
            out->frame.pPitch[i] = (struct cudaPitchedPtr){in->frame.pPitch[i], plane->pitch,
                                                           plane->width, plane->height};
        else
            out->frame.pArray[i] = (cudaArray_t)in->frame.pArray[i];
    }
    return cudaSuccess;
}

cudaError_t rt_cudaGraphicsResourceGetMappedEglFrame(cudaEglFrame *eglFrame,
                                                     cudaGraphicsResource_t resource,
                                                     unsigned int index, unsigned int mipLevel)
{
    CUeglFrame frame;
    RT_TRY(rt_cu.cuGraphicsResourceGetMappedEglFrame(&frame, (CUgraphicsResource)resource, index,
                                                     mipLevel));
    if (!eglFrame)
        return rt_fail(cudaErrorInvalidValue, "argument eglFrame is NULL");
    return egl_frame_of_driver(&frame, eglFrame);
}

// ---- streams

cudaError_t rt_cudaEGLStreamConsumerConnect(cudaEglStreamConnection *conn, EGLStreamKHR eglStream)
{
    return rt_error(rt_cu.cuEGLStreamConsumerConnect(conn, eglStream));
}

cudaError_t rt_cudaEGLStreamConsumerConnectWithFlags(cudaEglStreamConnection *conn,
                                                     EGLStreamKHR eglStream, unsigned int flags)
{
    return rt_error(rt_cu.cuEGLStreamConsumerConnectWithFlags(conn, eglStream, flags));
}

cudaError_t rt_cudaEGLStreamConsumerDisconnect(cudaEglStreamConnection *conn)
{
    return rt_error(rt_cu.cuEGLStreamConsumerDisconnect(conn));
}

cudaError_t rt_cudaEGLStreamConsumerAcquireFrame(cudaEglStreamConnection *conn,
                                                 cudaGraphicsResource_t *pCudaResource,
                                                 cudaStream_t *pStream, unsigned int timeout)
{
    return rt_error(rt_cu.cuEGLStreamConsumerAcquireFrame(conn, (CUgraphicsResource *)pCudaResource,
                                                          pStream, timeout));
}

cudaError_t rt_cudaEGLStreamConsumerReleaseFrame(cudaEglStreamConnection *conn,
                                                 cudaGraphicsResource_t pCudaResource,
                                                 cudaStream_t *pStream)
{
    return rt_error(
        rt_cu.cuEGLStreamConsumerReleaseFrame(conn, (CUgraphicsResource)pCudaResource, pStream));
}

cudaError_t rt_cudaEGLStreamProducerConnect(cudaEglStreamConnection *conn, EGLStreamKHR eglStream,
                                            EGLint width, EGLint height)
{
    return rt_error(rt_cu.cuEGLStreamProducerConnect(conn, eglStream, width, height));
}

cudaError_t rt_cudaEGLStreamProducerDisconnect(cudaEglStreamConnection *conn)
{
    return rt_error(rt_cu.cuEGLStreamProducerDisconnect(conn));
}

cudaError_t rt_cudaEGLStreamProducerPresentFrame(cudaEglStreamConnection *conn,
                                                 cudaEglFrame eglframe, cudaStream_t *pStream)
{
    CUeglFrame frame;
    const cudaError_t error = egl_frame_to_driver(&eglframe, &frame);
    return error != cudaSuccess
               ? error
               : rt_error(rt_cu.cuEGLStreamProducerPresentFrame(conn, frame, pStream));
}

cudaError_t rt_cudaEGLStreamProducerReturnFrame(cudaEglStreamConnection *conn,
                                                cudaEglFrame *eglframe, cudaStream_t *pStream)
{
    CUeglFrame frame;
    RT_TRY(rt_cu.cuEGLStreamProducerReturnFrame(conn, &frame, pStream));
    if (!eglframe)
        return rt_fail(cudaErrorInvalidValue, "argument eglframe is NULL");
    return egl_frame_of_driver(&frame, eglframe);
}

// Only drivers of boards without a card of their own export it. The error does not become the last
// one (recorded: egl/event-null-sync).
cudaError_t rt_cudaEventCreateFromEGLSync(cudaEvent_t *phEvent, EGLSyncKHR eglSync,
                                          unsigned int flags)
{
    typedef CUresult create_from_sync(CUevent *, EGLSyncKHR, unsigned);
    create_from_sync *create = (create_from_sync *)rt_driver_symbol("cuEventCreateFromEGLSync");
    if (!create)
        return rt_fail(cudaErrorNotSupported, "the driver makes no events of EGLSync objects");
    return rt_error(create(phEvent, eglSync, flags));
}
