// SPDX-License-Identifier: MIT
// Nodes that call a function of the host.
#include "node_type.h"

#include "alloc.h"
#include "error.h"
#include "host_function.h"

static CUresult prepare_host(const void *params, struct em_command **out)
{
    const CUDA_HOST_NODE_PARAMS_v2 *p = params;
    return em_host_function_prepare(p->fn, p->userData, out);
}

static CUresult make_host(const CUgraphNodeParams *given, const struct em_graph *graph, void **out)
{
    (void)graph;
    if (!given->host.fn)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "fn is NULL");
    return em_node_duplicate(&given->host, sizeof given->host, out);
}

static CUresult copy_host(const void *params, void **out)
{
    return em_node_duplicate(params, sizeof(CUDA_HOST_NODE_PARAMS_v2), out);
}

static void get_host(const void *params, CUgraphNodeParams *out)
{
    out->host = *(const CUDA_HOST_NODE_PARAMS_v2 *)params;
}

const struct em_node_type em_host_node = {
    .name = "host",
    .make = make_host,
    .copy = copy_host,
    .free = dm_free,
    .get = get_host,
    .prepare = prepare_host,
};
