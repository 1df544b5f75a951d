// SPDX-License-Identifier: MIT
// The manual's chapter "Graph Management": instantiated graphs.
#include <string.h>

#include "api_bodies.h"
#include "call.h"
#include "exec.h"
#include "graph.h"
#include "stream.h"

// ---- instantiation ----

// "flags: … CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD … should only be used with
// cuGraphInstantiateWithParams". The card refuses CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH too if
// the graph has empty nodes (recorded: graph_exec/instantiate-flags-from-0).
static CUresult check_flags(unsigned long long flags, unsigned long long known)
{
    if (flags & ~known)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags (%#llx) contain unknown bits (%#llx)",
                       flags, flags & ~known);
    return CUDA_SUCCESS;
}

CUresult api_cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
                                         unsigned long long flags)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS p = {.flags = flags};
    CUresult r = check_flags(flags, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                        CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                                        CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
    return r ? r : em_graph_instantiate(hGraph, &p, phGraphExec);
}

// "If there are any errors, diagnostic information may be returned in phErrorNode and logBuffer."
CUresult api_cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph,
                                   CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS p = {.flags = 0};
    CUresult r = em_graph_instantiate(hGraph, &p, phGraphExec);
    if (phErrorNode)
        *phErrorNode = p.hErrNode_out;
    if (logBuffer && bufferSize)
        *logBuffer = 0;
    return r;
}

CUresult api_cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                          CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams,
                                          struct em_stream *default_stream)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS *p = instantiateParams;
    CUresult r = check_flags(p->flags, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                           CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                           CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                                           CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
    (void)default_stream; // there is nothing to upload
    if (!r && p->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD && p->hUploadStream) {
        struct em_stream *s;
        r = em_stream_get(p->hUploadStream, &s);
        if (!r)
            em_stream_put(s);
    }
    if (!r)
        return em_graph_instantiate(hGraph, p, phGraphExec);
    p->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    p->hErrNode_out = NULL;
    return r;
}

CUresult api_cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    return em_graph_exec_destroy(hGraphExec);
}

CUresult api_cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags)
{
    return em_graph_exec_flags(hGraphExec, flags);
}

CUresult api_cuGraphLaunch(CUgraphExec hGraphExec, struct em_stream *hStream)
{
    return em_graph_launch(hGraphExec, hStream);
}

CUresult api_cuGraphUpload(CUgraphExec hGraphExec, struct em_stream *hStream)
{
    return em_graph_upload(hGraphExec, hStream);
}

// ---- updates ----

CUresult api_cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                                  CUgraphExecUpdateResultInfo *resultInfo)
{
    CUgraphExecUpdateResultInfo unused;
    return em_graph_exec_update(hGraphExec, hGraph, resultInfo ? resultInfo : &unused);
}

// This form calls a changed topology unsupported (recorded: graph_exec/update-v1).
CUresult api_cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                               CUgraphExecUpdateResult *updateResult_out)
{
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    CUresult r = em_graph_exec_update(hGraphExec, hGraph, &info);
    if (info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED)
        info.result = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    if (hErrorNode_out)
        *hErrorNode_out = info.errorNode;
    if (updateResult_out)
        *updateResult_out = info.result;
    return r;
}

CUresult api_cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                                   unsigned int isEnabled)
{
    return em_graph_exec_enable(hGraphExec, hNode, isEnabled);
}

CUresult api_cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                                   unsigned int *isEnabled)
{
    return em_graph_exec_is_enabled(hGraphExec, hNode, isEnabled);
}

CUresult api_cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      CUgraphNodeParams *nodeParams)
{
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return em_graph_exec_set_child(hGraphExec, hNode, nodeParams->graph.graph);
    return em_graph_exec_set(hGraphExec, hNode, nodeParams);
}

CUresult api_cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    const CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEMCPY,
                                 .memcpy = {.copyCtx = ctx, .copyParams = *copyParams}};
    return em_graph_exec_set(hGraphExec, hNode, &p);
}

// NULL is not the current context here (recorded: graph_exec/exec-memset-params).
CUresult api_cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            const CUDA_MEMSET_NODE_PARAMS *memsetParams,
                                            CUcontext ctx)
{
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    if (!ctx)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "ctx is NULL");
    memcpy(&p.memset, memsetParams, sizeof *memsetParams);
    p.memset.ctx = ctx;
    return em_graph_exec_set(hGraphExec, hNode, &p);
}

CUresult api_cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                          const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    const CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_HOST,
                                 .host = {nodeParams->fn, nodeParams->userData}};
    return em_graph_exec_set(hGraphExec, hNode, &p);
}

CUresult api_cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                CUgraph childGraph)
{
    return em_graph_exec_set_child(hGraphExec, hNode, childGraph);
}

CUresult api_cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                CUevent event)
{
    const CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .eventRecord = {event}};
    return em_graph_exec_set(hGraphExec, hNode, &p);
}

CUresult api_cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
                                              CUevent event)
{
    const CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .eventWait = {event}};
    return em_graph_exec_set(hGraphExec, hNode, &p);
}

CUresult api_cuGraphExecBatchMemOpNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP};
    memcpy(&p.memOp, nodeParams, sizeof *nodeParams);
    return em_graph_exec_set(hGraphExec, hNode, &p);
}

CUresult api_cuGraphExecExternalSemaphoresSignalNodeSetParams(
    CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *nodeParams)
{
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL};
    memcpy(&p.extSemSignal, nodeParams, sizeof *nodeParams);
    return em_graph_exec_set(hGraphExec, hNode, &p);
}

CUresult
api_cuGraphExecExternalSemaphoresWaitNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                   const CUDA_EXT_SEM_WAIT_NODE_PARAMS *nodeParams)
{
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT};
    memcpy(&p.extSemWait, nodeParams, sizeof *nodeParams);
    return em_graph_exec_set(hGraphExec, hNode, &p);
}
