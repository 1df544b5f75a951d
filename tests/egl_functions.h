// SPDX-License-Identifier: MIT
// The functions of cudaEGL.h, declared here because that header needs EGL's headers.
#pragma once
#include <cuda.h>

typedef struct CUeglStreamConnection_st *CUeglStreamConnection;
typedef struct {
    void *plane[3];
    unsigned width, height, depth, pitch, plane_count, channels, type, color, format;
} CUeglFrame;
CUresult cuEGLStreamConsumerConnect(CUeglStreamConnection *, void *);
CUresult cuEGLStreamConsumerConnectWithFlags(CUeglStreamConnection *, void *, unsigned);
CUresult cuEGLStreamConsumerDisconnect(CUeglStreamConnection *);
CUresult cuEGLStreamConsumerAcquireFrame(CUeglStreamConnection *, CUgraphicsResource *, CUstream *,
                                         unsigned);
CUresult cuEGLStreamConsumerReleaseFrame(CUeglStreamConnection *, CUgraphicsResource, CUstream *);
CUresult cuEGLStreamProducerConnect(CUeglStreamConnection *, void *, int, int);
CUresult cuEGLStreamProducerDisconnect(CUeglStreamConnection *);
CUresult cuEGLStreamProducerPresentFrame(CUeglStreamConnection *, CUeglFrame, CUstream *);
CUresult cuEGLStreamProducerReturnFrame(CUeglStreamConnection *, CUeglFrame *, CUstream *);
CUresult cuGraphicsResourceGetMappedEglFrame(CUeglFrame *, CUgraphicsResource, unsigned, unsigned);
