// SPDX-License-Identifier: MIT
// The manual's chapter "Graph Management": nodes and their parameters. The calls for one type of
// node pass its parameters in the form for all types.
#include <string.h>

#include "api_bodies.h"
#include "conditional.h"
#include "error.h"
#include "graph.h"
#include "graph_memory.h"
#include "pointer_check.h"

// Copies a struct into the member of the parameters that has the same fields at its beginning.
#define PARAMS(node_type, member, pointer)                                                         \
    ({                                                                                             \
        CUgraphNodeParams p_ = {.type = (node_type)};                                              \
        memcpy(&p_.member, (pointer), sizeof *(pointer));                                          \
        p_;                                                                                        \
    })

static CUresult add(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                    const CUgraphNodeParams *params)
{
    return em_graph_add(graph, &(struct em_dependencies){dependencies, NULL, count}, params, out);
}

// "dptr: out: address of the allocation"
static CUresult get_address(CUgraphNode node, CUdeviceptr *out)
{
    CUgraphNodeParams p;
    CUresult r = em_graph_node_get(node, CU_GRAPH_NODE_TYPE_MEM_ALLOC, &p);
    if (!r)
        *out = p.alloc.dptr;
    return r;
}

// "phGraph_out: CUDA-owned array populated with conditional node child graphs during creation of
// the node. Valid for the lifetime of the conditional node."
static CUresult get_bodies(CUgraphNode node, CUgraph **out)
{
    CUgraphNodeParams p;
    CUresult r = em_graph_node_get(node, CU_GRAPH_NODE_TYPE_CONDITIONAL, &p);
    if (!r)
        *out = p.conditional.phGraph_out;
    return r;
}

// ---- any type ----

CUresult api_cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
                               const CUgraphNode *dependencies,
                               const CUgraphEdgeData *dependencyData, size_t numDependencies,
                               CUgraphNodeParams *nodeParams)
{
    const struct em_dependencies d = {dependencies, dependencyData, numDependencies};
    CUresult r = em_graph_add(hGraph, &d, nodeParams, phGraphNode);
    if (!r && nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        r = get_address(*phGraphNode, &nodeParams->alloc.dptr);
    if (!r && nodeParams->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        r = get_bodies(*phGraphNode, &nodeParams->conditional.phGraph_out);
    return r;
}

CUresult api_cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                            const CUgraphNode *dependencies, size_t numDependencies,
                            CUgraphNodeParams *nodeParams)
{
    return api_cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, NULL, numDependencies,
                                 nodeParams);
}

CUresult api_cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    return em_graph_node_set(hNode, nodeParams);
}

CUresult api_cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
    return em_graph_node_type(hNode, type);
}

CUresult api_cuGraphDestroyNode(CUgraphNode hNode)
{
    return em_graph_node_destroy(hNode);
}

CUresult api_cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out, CUgraph hGraph,
                                            CUcontext ctx, unsigned int defaultLaunchValue,
                                            unsigned int flags)
{
    return em_conditional_create(hGraph, ctx, defaultLaunchValue, flags, pHandle_out);
}

CUresult api_cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                 const CUgraphNode *dependencies, size_t numDependencies)
{
    const CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    return add(phGraphNode, hGraph, dependencies, numDependencies, &p);
}

// ---- copies ----

CUresult api_cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                  const CUgraphNode *dependencies, size_t numDependencies,
                                  const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    CUgraphNodeParams p = PARAMS(CU_GRAPH_NODE_TYPE_MEMCPY, memcpy.copyParams, copyParams);
    p.memcpy.copyCtx = ctx;
    return add(phGraphNode, hGraph, dependencies, numDependencies, &p);
}

CUresult api_cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams)
{
    CUgraphNodeParams p;
    CUresult r = em_graph_node_get(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, &p);
    if (!r)
        *nodeParams = p.memcpy.copyParams;
    return r;
}

// The context stays the same.
CUresult api_cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams)
{
    CUgraphNodeParams p;
    CUresult r = em_graph_node_get(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, &p);
    if (r)
        return r;
    p.memcpy.copyParams = *nodeParams;
    return em_graph_node_set(hNode, &p);
}

// ---- fills ----

CUresult api_cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                  const CUgraphNode *dependencies, size_t numDependencies,
                                  const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
    CUgraphNodeParams p = PARAMS(CU_GRAPH_NODE_TYPE_MEMSET, memset, memsetParams);
    p.memset.ctx = ctx;
    return add(phGraphNode, hGraph, dependencies, numDependencies, &p);
}

CUresult api_cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    CUgraphNodeParams p;
    CUresult r = em_graph_node_get(hNode, CU_GRAPH_NODE_TYPE_MEMSET, &p);
    if (!r)
        memcpy(nodeParams, &p.memset, sizeof *nodeParams);
    return r;
}

CUresult api_cuGraphMemsetNodeSetParams(CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    CUgraphNodeParams p;
    CUresult r = em_graph_node_get(hNode, CU_GRAPH_NODE_TYPE_MEMSET, &p);
    if (r)
        return r;
    memcpy(&p.memset, nodeParams, sizeof *nodeParams);
    return em_graph_node_set(hNode, &p);
}

// ---- functions of the host ----

CUresult api_cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                const CUgraphNode *dependencies, size_t numDependencies,
                                const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    const CUgraphNodeParams p = PARAMS(CU_GRAPH_NODE_TYPE_HOST, host, nodeParams);
    return add(phGraphNode, hGraph, dependencies, numDependencies, &p);
}

CUresult api_cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *nodeParams)
{
    CUgraphNodeParams p;
    CUresult r = em_graph_node_get(hNode, CU_GRAPH_NODE_TYPE_HOST, &p);
    if (!r)
        *nodeParams = (CUDA_HOST_NODE_PARAMS){p.host.fn, p.host.userData};
    return r;
}

CUresult api_cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    const CUgraphNodeParams p = PARAMS(CU_GRAPH_NODE_TYPE_HOST, host, nodeParams);
    return em_graph_node_set(hNode, &p);
}

// ---- child graphs ----

CUresult api_cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                      const CUgraphNode *dependencies, size_t numDependencies,
                                      CUgraph childGraph)
{
    const CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {.graph = childGraph}};
    return add(phGraphNode, hGraph, dependencies, numDependencies, &p);
}

CUresult api_cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)
{
    CUgraphNodeParams p;
    CUresult r = em_graph_node_get(hNode, CU_GRAPH_NODE_TYPE_GRAPH, &p);
    if (!r)
        *phGraph = p.graph.graph;
    return r;
}

// ---- events ----

CUresult api_cuGraphAddEventRecordNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                       const CUgraphNode *dependencies, size_t numDependencies,
                                       CUevent event)
{
    const CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .eventRecord = {event}};
    return add(phGraphNode, hGraph, dependencies, numDependencies, &p);
}

CUresult api_cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent *event_out)
{
    CUgraphNodeParams p;
    CUresult r = em_graph_node_get(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &p);
    if (!r)
        *event_out = p.eventRecord.event;
    return r;
}

CUresult api_cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event)
{
    const CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .eventRecord = {event}};
    return em_graph_node_set(hNode, &p);
}

CUresult api_cuGraphAddEventWaitNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                     const CUgraphNode *dependencies, size_t numDependencies,
                                     CUevent event)
{
    const CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .eventWait = {event}};
    return add(phGraphNode, hGraph, dependencies, numDependencies, &p);
}

CUresult api_cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent *event_out)
{
    CUgraphNodeParams p;
    CUresult r = em_graph_node_get(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &p);
    if (!r)
        *event_out = p.eventWait.event;
    return r;
}

CUresult api_cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event)
{
    const CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .eventWait = {event}};
    return em_graph_node_set(hNode, &p);
}

// ---- batches of memory operations ----

CUresult api_cuGraphAddBatchMemOpNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                      const CUgraphNode *dependencies, size_t numDependencies,
                                      const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    const CUgraphNodeParams p = PARAMS(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, memOp, nodeParams);
    return add(phGraphNode, hGraph, dependencies, numDependencies, &p);
}

CUresult api_cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode,
                                            CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams_out)
{
    CUgraphNodeParams p;
    CUresult r = em_graph_node_get(hNode, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &p);
    if (!r)
        memcpy(nodeParams_out, &p.memOp, sizeof *nodeParams_out);
    return r;
}

CUresult api_cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    const CUgraphNodeParams p = PARAMS(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, memOp, nodeParams);
    return em_graph_node_set(hNode, &p);
}

// ---- external semaphores ----

CUresult
api_cuGraphAddExternalSemaphoresSignalNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                           const CUgraphNode *dependencies, size_t numDependencies,
                                           const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *nodeParams)
{
    const CUgraphNodeParams p =
        PARAMS(CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, extSemSignal, nodeParams);
    return add(phGraphNode, hGraph, dependencies, numDependencies, &p);
}

CUresult
api_cuGraphExternalSemaphoresSignalNodeGetParams(CUgraphNode hNode,
                                                 CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *params_out)
{
    CUgraphNodeParams p;
    CUresult r = em_graph_node_get(hNode, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, &p);
    if (!r)
        memcpy(params_out, &p.extSemSignal, sizeof *params_out);
    return r;
}

CUresult
api_cuGraphExternalSemaphoresSignalNodeSetParams(CUgraphNode hNode,
                                                 const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *nodeParams)
{
    const CUgraphNodeParams p =
        PARAMS(CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, extSemSignal, nodeParams);
    return em_graph_node_set(hNode, &p);
}

CUresult api_cuGraphAddExternalSemaphoresWaitNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                                  const CUgraphNode *dependencies,
                                                  size_t numDependencies,
                                                  const CUDA_EXT_SEM_WAIT_NODE_PARAMS *nodeParams)
{
    const CUgraphNodeParams p = PARAMS(CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, extSemWait, nodeParams);
    return add(phGraphNode, hGraph, dependencies, numDependencies, &p);
}

CUresult api_cuGraphExternalSemaphoresWaitNodeGetParams(CUgraphNode hNode,
                                                        CUDA_EXT_SEM_WAIT_NODE_PARAMS *params_out)
{
    CUgraphNodeParams p;
    CUresult r = em_graph_node_get(hNode, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, &p);
    if (!r)
        memcpy(params_out, &p.extSemWait, sizeof *params_out);
    return r;
}

CUresult
api_cuGraphExternalSemaphoresWaitNodeSetParams(CUgraphNode hNode,
                                               const CUDA_EXT_SEM_WAIT_NODE_PARAMS *nodeParams)
{
    const CUgraphNodeParams p = PARAMS(CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, extSemWait, nodeParams);
    return em_graph_node_set(hNode, &p);
}

// ---- memory ----

CUresult api_cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                    const CUgraphNode *dependencies, size_t numDependencies,
                                    CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
    const CUgraphNodeParams p = PARAMS(CU_GRAPH_NODE_TYPE_MEM_ALLOC, alloc, nodeParams);
    CUresult r = add(phGraphNode, hGraph, dependencies, numDependencies, &p);
    return r ? r : get_address(*phGraphNode, &nodeParams->dptr);
}

CUresult api_cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS *params_out)
{
    CUgraphNodeParams p;
    CUresult r = em_graph_node_get(hNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC, &p);
    if (!r)
        memcpy(params_out, &p.alloc, sizeof *params_out);
    return r;
}

CUresult api_cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                   const CUgraphNode *dependencies, size_t numDependencies,
                                   CUdeviceptr dptr)
{
    const CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free = {dptr}};
    return add(phGraphNode, hGraph, dependencies, numDependencies, &p);
}

CUresult api_cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr *dptr_out)
{
    CUgraphNodeParams p;
    CUresult r = em_graph_node_get(hNode, CU_GRAPH_NODE_TYPE_MEM_FREE, &p);
    if (!r)
        *dptr_out = p.free.dptr;
    return r;
}

CUresult api_cuDeviceGraphMemTrim(CUdevice device)
{
    return em_graph_memory_trim(device);
}

CUresult api_cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
{
    CUresult r = em_writable_object("value", value, sizeof(cuuint64_t));
    return r ? r : em_graph_memory_get(device, attr, value);
}

CUresult api_cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
{
    CUresult r = em_readable_object("value", value, sizeof(cuuint64_t));
    return r ? r : em_graph_memory_set(device, attr, *(const cuuint64_t *)value);
}
