// SPDX-License-Identifier: MIT
// Nodes that allocate or free memory. Their parameters are the memory, with a reference.
#include "node_type.h"

#include "error.h"
#include "graph_memory.h"

static CUresult copy_memory(const void *params, void **out)
{
    struct em_graph_memory *m = (struct em_graph_memory *)params;
    em_graph_memory_ref(m);
    *out = m;
    return CUDA_SUCCESS;
}

// cuGraphChildGraphNodeGetGraph: "Allocation and free nodes cannot be added to the returned graph."
static CUresult check_place(const struct em_graph *graph)
{
    return em_graph_is_embedded(graph)
               ? em_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "nodes that allocate or free memory cannot be added to the graph of a "
                         "child graph node; add them before, and move the graph into the node")
               : CUDA_SUCCESS;
}

static CUresult make_alloc(const CUgraphNodeParams *given, const struct em_graph *graph, void **out)
{
    struct em_graph_memory *m;
    if (!graph)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "the parameters of memory nodes cannot be changed");
    CUresult r = check_place(graph);
    if (!r)
        r = em_graph_memory_new(&given->alloc, &m);
    if (!r)
        *out = m;
    return r;
}

static CUresult make_free(const CUgraphNodeParams *given, const struct em_graph *graph, void **out)
{
    struct em_graph_memory *m;
    if (!graph)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "the parameters of memory nodes cannot be changed");
    CUresult r = check_place(graph);
    if (!r)
        r = em_graph_memory_find(given->free.dptr, &m);
    if (!r)
        r = em_graph_memory_add_free(m);
    return r ? r : copy_memory(m, out);
}

static void free_memory(void *params)
{
    em_graph_memory_unref(params);
}

static void get_alloc(const void *params, CUgraphNodeParams *out)
{
    out->alloc = *em_graph_memory_params(params);
}

static void get_free(const void *params, CUgraphNodeParams *out)
{
    out->free.dptr = em_graph_memory_params(params)->dptr;
}

static const char *object_memory(const void *from, const void *to)
{
    return from == to ? NULL : "memory nodes cannot be changed";
}

const struct em_node_type em_alloc_node = {
    .name = "memory allocation",
    .make = make_alloc,
    .copy = copy_memory,
    .free = free_memory,
    .get = get_alloc,
    .objection = object_memory,
};

const struct em_node_type em_free_node = {
    .name = "memory free",
    .make = make_free,
    .copy = copy_memory,
    .free = free_memory,
    .get = get_free,
    .objection = object_memory,
};
