// SPDX-License-Identifier: MIT
// The table of node types, and the functions that their files share.
#include "node_type.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "call.h"
#include "command.h"
#include "context.h"
#include "error.h"
#include "lock.h"
#include "node_conditional.h"

CUresult em_node_duplicate(const void *data, size_t size, void **out)
{
    em_assert_locked();
    *out = dm_alloc(size);
    if (!*out)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a node's parameters");
    memcpy(*out, data, size);
    return CUDA_SUCCESS;
}

CUresult em_node_try_command(CUresult (*prepare)(const void *, struct em_command **),
                             const void *params)
{
    em_assert_locked();
    struct em_command *command = NULL;
    CUresult r = prepare(params, &command);
    if (command)
        em_command_free(command);
    return r;
}

CUresult em_node_context(CUcontext handle, struct em_context **out)
{
    em_assert_locked();
    struct em_object *object;
    if (!handle) {
        CUresult r = em_need_context();
        *out = em_self.current;
        return r;
    }
    CUresult r = em_object_get(EM_CONTEXT, handle, CUDA_ERROR_INVALID_VALUE, &object);
    if (r)
        return r;
    *out = (struct em_context *)object;
    if (em_context_error_state(*out) == EM_DESTROYED)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "the context of the node was destroyed");
    return CUDA_SUCCESS;
}

CUcontext em_node_context_handle(CUcontext given)
{
    em_assert_locked();
    return given ? given : em_context_handle(em_self.current);
}

// ---- empty nodes ----

static CUresult make_nothing(const CUgraphNodeParams *given, const struct em_graph *graph,
                             void **out)
{
    (void)given;
    (void)graph;
    *out = NULL;
    return CUDA_SUCCESS;
}

static CUresult copy_nothing(const void *params, void **out)
{
    (void)params;
    *out = NULL;
    return CUDA_SUCCESS;
}

static void get_nothing(const void *params, CUgraphNodeParams *out)
{
    (void)params;
    (void)out;
}

static const struct em_node_type empty_node = {
    .name = "empty",
    .make = make_nothing,
    .copy = copy_nothing,
    .free = dm_free,
    .get = get_nothing,
};

// ---- the table ----

static const struct em_node_type *const types[] = {
    [CU_GRAPH_NODE_TYPE_KERNEL] = &em_kernel_node,
    [CU_GRAPH_NODE_TYPE_MEMCPY] = &em_memcpy_node,
    [CU_GRAPH_NODE_TYPE_MEMSET] = &em_memset_node,
    [CU_GRAPH_NODE_TYPE_HOST] = &em_host_node,
    [CU_GRAPH_NODE_TYPE_GRAPH] = &em_child_node,
    [CU_GRAPH_NODE_TYPE_EMPTY] = &empty_node,
    [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = &em_wait_node,
    [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = &em_record_node,
    [CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL] = &em_signal_node,
    [CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT] = &em_semaphore_wait_node,
    [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = &em_alloc_node,
    [CU_GRAPH_NODE_TYPE_MEM_FREE] = &em_free_node,
    [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = &em_operation_node,
    [CU_GRAPH_NODE_TYPE_CONDITIONAL] = &em_conditional_node,
};
enum { TYPES = sizeof types / sizeof *types };

const char *em_node_type_name(CUgraphNodeType type)
{
    return (unsigned)type < TYPES ? types[type]->name : "unknown";
}

CUresult em_node_params_new(const CUgraphNodeParams *given, const struct em_graph *graph,
                            void **out)
{
    em_assert_locked();
    if ((unsigned)given->type >= TYPES)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "type (%d) is not a CUgraphNodeType",
                       (int)given->type);
    for (size_t i = 0; i < sizeof given->reserved0 / sizeof *given->reserved0; i++)
        if (given->reserved0[i])
            return em_fail(CUDA_ERROR_INVALID_VALUE, "reserved0[%zu] (%d) must be 0", i,
                           given->reserved0[i]);
    if (given->reserved2)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "reserved2 (%lld) must be 0", given->reserved2);
    if (!types[given->type]->make)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED, "%s nodes are not supported yet",
                       types[given->type]->name);
    return types[given->type]->make(given, graph, out);
}

CUresult em_node_params_captured(const CUgraphNodeParams *given, const struct em_graph *graph,
                                 void **out)
{
    em_assert_locked();
    const struct em_node_type *type = types[given->type];
    return type->make_captured ? type->make_captured(given, out)
                               : em_node_params_new(given, graph, out);
}

CUresult em_node_params_copy(CUgraphNodeType type, const void *params, void **out)
{
    em_assert_locked();
    return types[type]->copy(params, out);
}

void em_node_params_free(CUgraphNodeType type, void *params)
{
    em_assert_locked();
    if (params)
        types[type]->free(params);
}

void em_node_params_get(CUgraphNodeType type, const void *params, CUgraphNodeParams *out)
{
    em_assert_locked();
    *out = (CUgraphNodeParams){.type = type};
    types[type]->get(params, out);
}

CUresult em_node_prepare(CUgraphNodeType type, const void *params, struct em_command **out)
{
    em_assert_locked();
    *out = NULL;
    return types[type]->prepare ? types[type]->prepare(params, out) : CUDA_SUCCESS;
}

struct em_event *em_node_event(CUgraphNodeType type, const void *params)
{
    return type == CU_GRAPH_NODE_TYPE_EVENT_RECORD || type == CU_GRAPH_NODE_TYPE_WAIT_EVENT
               ? (struct em_event *)params
               : NULL;
}

struct em_graph_memory *em_node_memory(CUgraphNodeType type, const void *params)
{
    return type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE
               ? (struct em_graph_memory *)params
               : NULL;
}

struct em_graph *em_node_child(const struct em_graph_node *node)
{
    return node->type == CU_GRAPH_NODE_TYPE_GRAPH ? node->params : NULL;
}

struct em_graph *em_node_graph(const struct em_graph_node *node, unsigned i)
{
    const struct em_condition_params *c = em_node_condition(node);
    if (c)
        return i < c->count ? c->bodies[i] : NULL;
    return i ? NULL : em_node_child(node);
}

bool em_node_may_change(CUgraphNodeType type, const void *from, const void *to, char *why,
                        size_t size)
{
    const char *objection = types[type]->objection ? types[type]->objection(from, to) : NULL;
    if (objection)
        snprintf(why, size, "%s", objection);
    return !objection;
}
