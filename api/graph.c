// SPDX-License-Identifier: MIT
// The manual's chapter "Graph Management": graphs, their edges, clones, and user objects.
#include "graph.h"

#include <limits.h>

#include "api_bodies.h"
#include "error.h"
#include "user_object.h"

// "flags: Graph creation flags, must be 0"
CUresult api_cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    if (flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags (%#x) must be 0", flags);
    return em_graph_create(phGraph);
}

CUresult api_cuGraphDestroy(CUgraph hGraph)
{
    return em_graph_destroy(hGraph);
}

CUresult api_cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
    return em_graph_clone(originalGraph, phGraphClone);
}

CUresult api_cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode,
                                    CUgraph hClonedGraph)
{
    return em_graph_find_in_clone(hOriginalNode, hClonedGraph, phNode);
}

CUresult api_cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags)
{
    return em_graph_print(hGraph, path, flags);
}

// ---- lists ----

CUresult api_cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
    return em_graph_nodes(hGraph, EM_ALL_NODES, nodes, numNodes);
}

CUresult api_cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes)
{
    return em_graph_nodes(hGraph, EM_ROOT_NODES, rootNodes, numRootNodes);
}

CUresult api_cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                                CUgraphEdgeData *edgeData, size_t *numEdges)
{
    return em_graph_edges(hGraph, &(struct em_edge_list){from, to, edgeData, numEdges});
}

CUresult api_cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges)
{
    return em_graph_edges(hGraph, &(struct em_edge_list){from, to, NULL, numEdges});
}

CUresult api_cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies,
                                           CUgraphEdgeData *edgeData, size_t *numDependencies)
{
    return em_graph_node_dependencies(
        hNode, &(struct em_edge_list){dependencies, NULL, edgeData, numDependencies});
}

CUresult api_cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies,
                                        size_t *numDependencies)
{
    return api_cuGraphNodeGetDependencies_v2(hNode, dependencies, NULL, numDependencies);
}

CUresult api_cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                             CUgraphEdgeData *edgeData, size_t *numDependentNodes)
{
    return em_graph_node_dependents(
        hNode, &(struct em_edge_list){NULL, dependentNodes, edgeData, numDependentNodes});
}

CUresult api_cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                          size_t *numDependentNodes)
{
    return api_cuGraphNodeGetDependentNodes_v2(hNode, dependentNodes, NULL, numDependentNodes);
}

CUresult api_cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from,
                                       const CUgraphNode *to, const CUgraphEdgeData *edgeData,
                                       size_t numDependencies)
{
    return em_graph_connect(hGraph, from, to, edgeData, numDependencies);
}

CUresult api_cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                    size_t numDependencies)
{
    return em_graph_connect(hGraph, from, to, NULL, numDependencies);
}

CUresult api_cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode *from,
                                          const CUgraphNode *to, const CUgraphEdgeData *edgeData,
                                          size_t numDependencies)
{
    return em_graph_disconnect(hGraph, from, to, numDependencies);
}

CUresult api_cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from,
                                       const CUgraphNode *to, size_t numDependencies)
{
    return em_graph_disconnect(hGraph, from, to, numDependencies);
}

// ---- user objects ----

CUresult api_cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy,
                                unsigned int initialRefcount, unsigned int flags)
{
    // "flags: Currently it is required to pass CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, which is the only
    // defined flag."
    if (flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "flags (%#x) must be CU_USER_OBJECT_NO_DESTRUCTOR_SYNC (0x1)", flags);
    // "initialRefcount: … must be nonzero and not larger than INT_MAX".
    if (!initialRefcount || initialRefcount > INT_MAX)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "initialRefcount (%u) must be 1 to INT_MAX",
                       initialRefcount);
    return em_user_object_create(ptr, destroy, initialRefcount, object_out);
}

CUresult api_cuUserObjectRetain(CUuserObject object, unsigned int count)
{
    return em_user_object_retain(object, count);
}

CUresult api_cuUserObjectRelease(CUuserObject object, unsigned int count)
{
    return em_user_object_release(object, count);
}

CUresult api_cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count,
                                     unsigned int flags)
{
    if (flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "unknown flags (%#x); the only valid flag is CU_GRAPH_USER_OBJECT_MOVE "
                       "(0x1)",
                       flags);
    return em_graph_retain_object(graph, object, count, flags == CU_GRAPH_USER_OBJECT_MOVE);
}

CUresult api_cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)
{
    return em_graph_release_object(graph, object, count);
}
