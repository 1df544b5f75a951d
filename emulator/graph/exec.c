// SPDX-License-Identifier: MIT
// Instantiated graphs as objects, and changes of single nodes.
#include "alloc.h"
#include "error.h"
#include "graph_exec.h"
#include "graph_memory.h"
#include "graph_node.h"
#include "lock.h"
#include "order_clock.h"
#include "memory.h"
#include "node_kernel.h"
#include "node_updatable.h"
#include "stream.h"
#include "user_object.h"
#include "wording.h"

// Ends the claims of the first `count` steps to their memory.
static void release_memory(const struct em_plan *p, uint32_t count)
{
    for (uint32_t i = 0; p->memory_steps && i < count; i++)
        if (p->steps[i].type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            em_graph_memory_end_instance(p->steps[i].params);
}

static CUresult claim_memory(struct em_graph_exec *x)
{
    const struct em_plan *p = x->plan;
    for (uint32_t i = 0; p->memory_steps && i < p->count; i++) {
        if (p->steps[i].type != CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            continue;
        CUresult r = em_graph_memory_instantiate(p->steps[i].params);
        if (r) {
            release_memory(p, i);
            return r;
        }
    }
    x->has_memory = true;
    return CUDA_SUCCESS;
}

static void finish_exec(struct em_object *object)
{
    struct em_graph_exec *x = (struct em_graph_exec *)object;
    em_assert_locked();
    struct em_graph *g = (struct em_graph *)em_object_peek(EM_GRAPH, x->graph);
    if (g) {
        g->instances--;
        g->updatable_instances -= x->is_updatable;
    }
    if (x->has_memory)
        release_memory(x->plan, x->plan->count);
    if (x->plan)
        em_plan_unref(x->plan);
    em_handle_map_finish(&x->step_of);
    em_user_objects_release_all(&x->held);
    dm_free(x->spare);
    em_clock_unref(x->order);
    dm_free(x);
}

CUresult em_graph_exec_find(CUgraphExec handle, struct em_graph_exec **out)
{
    em_assert_locked();
    return em_object_get(EM_GRAPH_EXEC, handle, CUDA_ERROR_INVALID_VALUE, out);
}

// ---- graphs for launches by kernels ----

// Memory of the host must be pinned, because the device reads and writes it.
static bool is_pageable(CUmemorytype type, const void *host)
{
    return type == CU_MEMORYTYPE_HOST && !em_memory_find((uint64_t)(uintptr_t)host, 0);
}

static bool device_can_run(const struct em_graph_node *n)
{
    if (n->type == CU_GRAPH_NODE_TYPE_MEMCPY) {
        CUgraphNodeParams p;
        em_node_params_get(n->type, n->params, &p);
        const CUDA_MEMCPY3D *c = &p.memcpy.copyParams;
        return !is_pageable(c->srcMemoryType, c->srcHost) &&
               !is_pageable(c->dstMemoryType, c->dstHost);
    }
    return n->type <= CU_GRAPH_NODE_TYPE_MEMSET;
}

// "CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH: … The graph's nodes must … be kernel, memcpy, memset
// or child graph nodes". Counts the nodes that are not child graphs.
static CUresult check_device_nodes(const struct em_graph *g, uint64_t *count,
                                   struct em_plan_problem *problem)
{
    CUresult r = CUDA_SUCCESS;
    for (const struct em_graph_node *n = g->first; n && !r; n = n->next) {
        if (em_node_child(n)) {
            r = check_device_nodes(em_node_child(n), count, problem);
            continue;
        }
        ++*count;
        if (device_can_run(n))
            continue;
        problem->result = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
        problem->node = em_graph_node_handle(n);
        r = em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "a kernel cannot launch a graph with %s %s node; it may have kernel, memset and "
            "child graph nodes, and memcpy nodes of device memory, arrays and pinned memory",
            em_wording_article(em_node_type_name(n->type)), em_node_type_name(n->type));
    }
    return r;
}

// (recorded: graph_rules, device)
static CUresult check_device_launch(const struct em_graph *g, cuuint64_t flags,
                                    struct em_plan_problem *problem)
{
    uint64_t count = 0;
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "flags (%#llx) combine CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH (0x4) with "
                       "AUTO_FREE_ON_LAUNCH (0x1); a graph for the device has no memory nodes",
                       (unsigned long long)flags);
    CUresult r = check_device_nodes(g, &count, problem);
    if (!r && !count)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "a graph that kernels launch must have a node");
    return r;
}

static CUresult check_flags(const struct em_graph *g, cuuint64_t flags,
                            struct em_plan_problem *problem)
{
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        return check_device_launch(g, flags, problem);
    // One instance works (recorded: graph_moved, priorities/make-3-0-8), but not a second one
    // (recorded: graph_rules, conditionals/handle-11).
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY && g->conditional_nodes &&
        g->instances)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY does not support a second "
                       "instance of a graph with conditional nodes");
    return CUDA_SUCCESS;
}

// ---- instantiation ----

static void map_steps(struct em_graph *g, struct em_handle_map *map)
{
    for (struct em_graph_node *n = g->first; n; n = n->next) {
        em_handle_map_add(map, n->object.handle, n->enter);
        struct em_graph *inner;
        for (unsigned i = 0; (inner = em_node_graph(n, i)); i++)
            map_steps(inner, map);
    }
}

static CUresult start_exec(struct em_graph_exec *x, struct em_graph *g,
                           struct em_plan_problem *problem)
{
    CUresult r = em_plan_new(g, &x->plan, problem);
    if (r)
        return r;
    if (!em_handle_map_init(&x->step_of, x->plan->count))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a graph of %u steps",
                       x->plan->count);
    map_steps(g, &x->step_of);
    r = claim_memory(x);
    if (!r)
        r = em_user_objects_of_graph(g, &x->held);
    return r ? r : em_object_start(&x->object, EM_GRAPH_EXEC, NULL, finish_exec);
}

CUresult em_graph_instantiate(CUgraph handle, CUDA_GRAPH_INSTANTIATE_PARAMS *params,
                              CUgraphExec *out)
{
    const cuuint64_t kept =
        CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    struct em_plan_problem problem = {.result = CUDA_GRAPH_INSTANTIATE_ERROR};
    struct em_graph *g;
    struct em_graph_exec *x = dm_calloc(1, sizeof *x);
    if (!x)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for an instantiated graph");
    em_lock();
    CUresult r = em_graph_get(handle, &g);
    // "Cannot be independently instantiated". This is true of clones too (recorded: graph_moved,
    // moved/inside-s-0-0).
    if (!r && em_graph_is_embedded(g))
        r = em_fail(CUDA_ERROR_NOT_SUPPORTED,
                    "the graph belongs to a child graph node; instantiate the graph of the node");
    if (!r)
        r = check_flags(g, params->flags, &problem);
    if (!r)
        r = em_updatable_check_instance(g);
    if (!r)
        r = start_exec(x, g, &problem);
    if (r) {
        finish_exec(&x->object);
    } else {
        g->instances++;
        x->graph = g->object.handle;
        x->is_updatable = em_graph_has_updatable(g);
        g->updatable_instances += x->is_updatable;
        x->uses_priority = params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
        // The other flags do not show (recorded: graph_exec/instantiate-flags-from-8, graph_rules,
        // device).
        x->flags = params->flags & kept;
        *out = (CUgraphExec)(uintptr_t)x->object.handle;
        problem = (struct em_plan_problem){.result = CUDA_GRAPH_INSTANTIATE_SUCCESS};
    }
    params->result_out = problem.result;
    params->hErrNode_out = problem.node;
    em_unlock();
    return r;
}

CUresult em_graph_exec_destroy(CUgraphExec handle)
{
    struct em_graph_exec *x;
    em_lock();
    CUresult r = em_graph_exec_find(handle, &x);
    if (!r)
        em_object_retire(&x->object); // its launches have references
    em_unlock();
    return r;
}

CUresult em_graph_exec_flags(CUgraphExec handle, cuuint64_t *out)
{
    struct em_graph_exec *x;
    em_lock();
    CUresult r = em_graph_exec_find(handle, &x);
    if (!r)
        *out = x->flags;
    em_unlock();
    return r;
}

// Memory exists already; only the attributes of cuDeviceGetGraphMemAttribute change.
static void upload_memory(const struct em_plan *p)
{
    const struct em_graph_memory *first = NULL;
    uint64_t needed_B = 0;
    for (uint32_t i = 0; p->memory_steps && i < p->count; i++)
        if (p->steps[i].type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            em_graph_memory_upload(p->steps[i].params, &first, &needed_B);
}

CUresult em_graph_upload(CUgraphExec handle, struct em_stream *stream)
{
    struct em_graph_exec *x;
    (void)stream;
    em_lock();
    CUresult r = em_graph_exec_find(handle, &x);
    if (!r)
        upload_memory(x->plan);
    em_unlock();
    return r;
}

// ---- single nodes ----

CUresult em_graph_exec_own_plan(struct em_graph_exec *x)
{
    em_assert_locked();
    struct em_plan *copy;
    if (x->plan->references == 1)
        return CUDA_SUCCESS;
    CUresult r = em_plan_copy(x->plan, &copy);
    if (r)
        return r;
    em_plan_unref(x->plan);
    x->plan = copy;
    return CUDA_SUCCESS;
}

// Finds an instantiated graph and the step of a node.
static CUresult find_step(CUgraphExec exec, CUgraphNode node, struct em_graph_exec **out,
                          uint32_t *step)
{
    uint64_t at;
    struct em_graph_node *n;
    CUresult r = em_graph_exec_find(exec, out);
    if (!r)
        r = em_graph_node_find(node, &n);
    if (!r && !em_handle_map_find(&(*out)->step_of, n->object.handle, &at))
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "hNode was not in the graph when it was instantiated as hGraphExec");
    if (!r)
        *step = (uint32_t)at;
    return r;
}

CUresult em_graph_exec_step(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type,
                            struct em_graph_exec **out, uint32_t *step)
{
    em_assert_locked();
    CUresult r = find_step(exec, node, out, step);
    if (!r && (*out)->plan->steps[*step].type != type)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "the node's type is %s; this call is for %s nodes",
                    em_node_type_name((*out)->plan->steps[*step].type), em_node_type_name(type));
    return r;
}

CUresult em_graph_exec_get(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type,
                           CUgraphNodeParams *out)
{
    struct em_graph_exec *x;
    uint32_t at;
    em_lock();
    CUresult r = em_graph_exec_step(exec, node, type, &x, &at);
    if (!r)
        em_node_params_get(type, x->plan->steps[at].params, out);
    em_unlock();
    return r;
}

static CUresult set_step(struct em_graph_exec *x, uint32_t at, void *params)
{
    char why[200];
    CUgraphNodeType type = x->plan->steps[at].type;
    CUresult r = CUDA_SUCCESS;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL)
        em_node_kernel_inherit(params, x->plan->steps[at].params);
    if (!em_node_may_change(type, x->plan->steps[at].params, params, why, sizeof why))
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "%s in an instantiated graph", why);
    if (!r)
        r = em_graph_exec_own_plan(x);
    if (r) {
        em_node_params_free(type, params);
        return r;
    }
    return em_plan_set(x->plan, at, params);
}

CUresult em_graph_exec_set(CUgraphExec exec, CUgraphNode node, const CUgraphNodeParams *params)
{
    struct em_graph_exec *x;
    uint32_t at;
    void *copy;
    em_lock();
    CUresult r = em_graph_exec_step(exec, node, params->type, &x, &at);
    if (!r)
        r = em_node_params_new(params, NULL, &copy);
    if (!r)
        r = set_step(x, at, copy);
    em_unlock();
    return r;
}

// "Currently only kernel, memset and memcpy nodes are supported."
static CUresult find_switch(CUgraphExec exec, CUgraphNode node, struct em_graph_exec **out,
                            uint32_t *step)
{
    CUresult r = find_step(exec, node, out, step);
    if (!r && (*out)->plan->steps[*step].kind != EM_STEP_RUN)
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "the node's type is %s; only kernel, memset and memcpy nodes can be disabled",
                    em_node_type_name((*out)->plan->steps[*step].type));
    return r;
}

CUresult em_graph_exec_enable(CUgraphExec exec, CUgraphNode node, bool enabled)
{
    struct em_graph_exec *x;
    uint32_t at;
    em_lock();
    CUresult r = find_switch(exec, node, &x, &at);
    if (!r)
        r = em_graph_exec_own_plan(x);
    if (!r)
        x->plan->steps[at].enabled = enabled;
    em_unlock();
    return r;
}

CUresult em_graph_exec_is_enabled(CUgraphExec exec, CUgraphNode node, unsigned *out)
{
    struct em_graph_exec *x;
    uint32_t at;
    em_lock();
    CUresult r = find_switch(exec, node, &x, &at);
    if (!r)
        *out = x->plan->steps[at].enabled;
    em_unlock();
    return r;
}
