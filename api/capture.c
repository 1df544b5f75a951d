// SPDX-License-Identifier: MIT
// The manual's chapter "Stream Management": capture.
#include "capture.h"

#include "api_bodies.h"
#include "call.h"
#include "stream.h"

CUresult api_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    // CU_STREAM_CAPTURE_MODE_GLOBAL, a thread's mode at first, is 0.
    CUstreamCaptureMode before = (CUstreamCaptureMode)em_self.capture_mode;
    if ((unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "*mode (%d) is not a CUstreamCaptureMode",
                       (int)*mode);
    em_self.capture_mode = (int)*mode;
    *mode = before;
    return CUDA_SUCCESS;
}

static CUresult begin(struct em_stream *stream, CUstreamCaptureMode mode, const CUgraph *graph,
                      const struct em_dependencies *dependencies)
{
    return em_capture_begin(stream, mode, graph, dependencies);
}

// Precedes the check of the stream (recorded: random_captures).
CUresult api_check_cuStreamBeginCapture_v2(CUstreamCaptureMode mode)
{
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "mode (%d) is not a CUstreamCaptureMode",
                       (int)mode);
    return CUDA_SUCCESS;
}

CUresult api_check_cuStreamBeginCaptureToGraph(CUgraph hGraph, const CUgraphNode *dependencies,
                                               const CUgraphEdgeData *dependencyData,
                                               size_t numDependencies, CUstreamCaptureMode mode)
{
    (void)hGraph, (void)dependencies, (void)dependencyData, (void)numDependencies;
    return api_check_cuStreamBeginCapture_v2(mode);
}

CUresult api_cuStreamBeginCapture_v2(struct em_stream *hStream, CUstreamCaptureMode mode)
{
    return begin(hStream, mode, NULL, &(struct em_dependencies){.count = 0});
}

// The first form has no modes; it behaves like RELAXED (recorded: capture/begin-v1).
CUresult api_cuStreamBeginCapture(struct em_stream *hStream)
{
    return api_cuStreamBeginCapture_v2(hStream, CU_STREAM_CAPTURE_MODE_RELAXED);
}

CUresult api_cuStreamBeginCaptureToGraph(struct em_stream *hStream, CUgraph hGraph,
                                         const CUgraphNode *dependencies,
                                         const CUgraphEdgeData *dependencyData,
                                         size_t numDependencies, CUstreamCaptureMode mode)
{
    const struct em_dependencies d = {dependencies, dependencyData, numDependencies};
    return begin(hStream, mode, &hGraph, &d);
}

CUresult api_cuStreamEndCapture(struct em_stream *hStream, CUgraph *phGraph)
{
    return em_capture_end(hStream, phGraph);
}

// ---- questions ----

CUresult api_cuStreamIsCapturing(struct em_stream *hStream, CUstreamCaptureStatus *captureStatus)
{
    struct em_capture_info info;
    CUresult r = em_capture_get(hStream, &info);
    if (!r)
        *captureStatus = info.status;
    return r;
}

// All outputs but the status may be NULL. They are set only during a capture that is valid
// (recorded: capture/info, capture/info-while-invalidated).
CUresult api_cuStreamGetCaptureInfo_v3(struct em_stream *hStream,
                                       CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                       CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                       const CUgraphEdgeData **edgeData_out,
                                       size_t *numDependencies_out)
{
    struct em_capture_info info;
    if (edgeData_out && !dependencies_out)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "dependencies_out is NULL, but edgeData_out is not");
    CUresult r = em_capture_get(hStream, &info);
    if (r)
        return r;
    *captureStatus_out = info.status;
    if (info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS;
    if (id_out)
        *id_out = info.id;
    if (graph_out)
        *graph_out = info.graph;
    if (dependencies_out)
        *dependencies_out = info.dependencies;
    if (edgeData_out)
        *edgeData_out = info.data;
    if (numDependencies_out)
        *numDependencies_out = info.count;
    return CUDA_SUCCESS;
}

CUresult api_cuStreamGetCaptureInfo_v2(struct em_stream *hStream,
                                       CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                       CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                       size_t *numDependencies_out)
{
    return api_cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, graph_out,
                                         dependencies_out, NULL, numDependencies_out);
}

CUresult api_cuStreamGetCaptureInfo(struct em_stream *hStream,
                                    CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out)
{
    return api_cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, NULL, NULL, NULL,
                                         NULL);
}

// ---- dependencies ----

CUresult api_cuStreamUpdateCaptureDependencies_v2(struct em_stream *hStream,
                                                  CUgraphNode *dependencies,
                                                  const CUgraphEdgeData *dependencyData,
                                                  size_t numDependencies, unsigned int flags)
{
    CUresult r = em_capture_check_valid(hStream);
    if (r)
        return r;
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "flags (%#x) must be CU_STREAM_ADD_CAPTURE_DEPENDENCIES (0) or "
                       "CU_STREAM_SET_CAPTURE_DEPENDENCIES (1)",
                       flags);
    const struct em_dependencies d = {dependencies, dependencyData, numDependencies};
    return em_capture_update(hStream, &d, flags);
}

CUresult api_cuStreamUpdateCaptureDependencies(struct em_stream *hStream, CUgraphNode *dependencies,
                                               size_t numDependencies, unsigned int flags)
{
    return api_cuStreamUpdateCaptureDependencies_v2(hStream, dependencies, NULL, numDependencies,
                                                    flags);
}
