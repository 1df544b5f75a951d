// SPDX-License-Identifier: MIT
// What differs from type to type of node: the copy of its parameters, and its command.
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "call.h"
#include "command.h"
#include "context.h"
#include "copy.h"
#include "copy_box.h"
#include "error.h"
#include "event.h"
#include "fill.h"
#include "graph_memory.h"
#include "graph_node.h"
#include "host_function.h"
#include "lock.h"
#include "memory_operation.h"
#include "semaphore_command.h"

// The parameters of each type, as nodes keep them.
struct batch {
    CUcontext context;
    unsigned count, flags;
    CUstreamBatchMemOpParams list[];
};

struct type {
    const char *name;
    // Makes the node's copy. On failure nothing is left to free.
    CUresult (*make)(const CUgraphNodeParams *given, const struct em_graph *graph, void **out);
    CUresult (*copy)(const void *params, void **out);
    void (*free)(void *params);
    void (*get)(const void *params, CUgraphNodeParams *out);
    CUresult (*prepare)(const void *params, struct em_command **out); // NULL: no lasting command
    // Whether an instantiated node may change so. NULL: in any way.
    const char *(*objection)(const void *from, const void *to);
};

static CUresult duplicate(const void *data, size_t size, void **out)
{
    *out = dm_alloc(size);
    if (!*out)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a node's parameters");
    memcpy(*out, data, size);
    return CUDA_SUCCESS;
}

// Tests that the parameters give a command. `make` stores them only then.
static CUresult try_command(CUresult (*prepare)(const void *, struct em_command **),
                            const void *params)
{
    struct em_command *command = NULL;
    CUresult r = prepare(params, &command);
    if (command)
        em_command_free(command);
    return r;
}

// NULL is the current context (recorded: graph_build/memset-node-errors).
static CUresult find_context(CUcontext handle, struct em_context **out)
{
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

static CUcontext named_context(CUcontext given)
{
    return given ? given : em_context_handle(em_self.current);
}

// ---- memset ----

static CUresult prepare_memset(const void *params, struct em_command **out)
{
    const CUDA_MEMSET_NODE_PARAMS_v2 *p = params;
    struct em_context *context;
    const struct em_fill fill = {.address = p->dst,
                                 .pitch_B = p->pitch,
                                 .width = p->width,
                                 .height = p->height,
                                 .value = p->value,
                                 .value_B = p->elementSize};
    CUresult r = find_context(p->ctx, &context);
    return r ? r : em_fill_prepare(&fill, context, out);
}

static CUresult make_memset(const CUgraphNodeParams *given, const struct em_graph *graph,
                            void **out)
{
    (void)graph;
    CUDA_MEMSET_NODE_PARAMS_v2 p = given->memset;
    // "elementSize: Size of each element in bytes. Must be 1, 2, or 4."
    if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "elementSize (%u) must be 1, 2 or 4",
                       p.elementSize);
    if (!p.width || !p.height)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%s is 0: a memset node must fill something",
                       p.width ? "height" : "width");
    p.ctx = named_context(p.ctx);
    CUresult r = try_command(prepare_memset, &p);
    return r ? r : duplicate(&p, sizeof p, out);
}

static CUresult copy_memset(const void *params, void **out)
{
    return duplicate(params, sizeof(CUDA_MEMSET_NODE_PARAMS_v2), out);
}

static void get_memset(const void *params, CUgraphNodeParams *out)
{
    out->memset = *(const CUDA_MEMSET_NODE_PARAMS_v2 *)params;
}

// "CUDA_ERROR_INVALID_VALUE will be returned … if either the original or new memory operand are
// multidimensional."
static const char *object_memset(const void *from, const void *to)
{
    const CUDA_MEMSET_NODE_PARAMS_v2 *a = from, *b = to;
    if (a->ctx != b->ctx)
        return "the context of a memset must stay the same";
    if (!memcmp(a, b, sizeof *a) || (a->height == 1 && b->height == 1))
        return NULL;
    return "a memset of several rows cannot be changed, and cannot replace one of one row";
}

// ---- memcpy ----

static CUresult prepare_memcpy(const void *params, struct em_command **out)
{
    const CUDA_MEMCPY3D *p = &((const CUDA_MEMCPY_NODE_PARAMS *)params)->copyParams;
    struct em_copy copy;
    const struct em_copy_box box = EM_COPY_BOX_3D(p);
    CUresult r = em_copy_from_box(&box, &copy);
    return r ? r : em_copy_prepare(&copy, out);
}

static CUresult make_memcpy(const CUgraphNodeParams *given, const struct em_graph *graph,
                            void **out)
{
    (void)graph;
    CUDA_MEMCPY_NODE_PARAMS p = given->memcpy;
    const CUDA_MEMCPY3D *c = &p.copyParams;
    if (p.flags || p.reserved)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags (%#x) and reserved (%#x) must be 0",
                       p.flags, p.reserved);
    if (!c->WidthInBytes || !c->Height || !c->Depth)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%s is 0: a memcpy node must copy something",
                       !c->WidthInBytes ? "WidthInBytes"
                       : !c->Height     ? "Height"
                                        : "Depth");
    p.copyCtx = named_context(p.copyCtx);
    struct em_context *context;
    CUresult r = find_context(p.copyCtx, &context);
    if (!r)
        r = try_command(prepare_memcpy, &p);
    return r ? r : duplicate(&p, sizeof p, out);
}

static CUresult copy_memcpy(const void *params, void **out)
{
    return duplicate(params, sizeof(CUDA_MEMCPY_NODE_PARAMS), out);
}

static void get_memcpy(const void *params, CUgraphNodeParams *out)
{
    out->memcpy = *(const CUDA_MEMCPY_NODE_PARAMS *)params;
}

// "Returns CUDA_ERROR_INVALID_VALUE if the memory operands' mappings changed or either the original
// or new memory operands are multidimensional."
static const char *object_memcpy(const void *from, const void *to)
{
    const CUDA_MEMCPY_NODE_PARAMS *a = from, *b = to;
    const CUDA_MEMCPY3D *p = &a->copyParams, *q = &b->copyParams;
    if (a->copyCtx != b->copyCtx)
        return "the context of a memcpy must stay the same";
    if (!memcmp(p, q, sizeof *p))
        return NULL;
    if (p->srcMemoryType != q->srcMemoryType || p->dstMemoryType != q->dstMemoryType)
        return "the types of memory of a memcpy must stay the same";
    if (p->Height == 1 && p->Depth == 1 && q->Height == 1 && q->Depth == 1)
        return NULL;
    return "a memcpy of several rows cannot be changed, and cannot replace one of one row";
}

// ---- functions of the host ----

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
    return duplicate(&given->host, sizeof given->host, out);
}

static CUresult copy_host(const void *params, void **out)
{
    return duplicate(params, sizeof(CUDA_HOST_NODE_PARAMS_v2), out);
}

static void get_host(const void *params, CUgraphNodeParams *out)
{
    out->host = *(const CUDA_HOST_NODE_PARAMS_v2 *)params;
}

// ---- events: the parameters are the event itself, with a reference ----

static CUresult make_event(CUevent handle, void **out)
{
    struct em_event *e;
    CUresult r = em_object_get(EM_EVENT, handle, CUDA_ERROR_INVALID_VALUE, &e);
    if (r)
        return r;
    em_object_ref(&e->object);
    *out = e;
    return CUDA_SUCCESS;
}

static CUresult make_record(const CUgraphNodeParams *given, const struct em_graph *graph,
                            void **out)
{
    (void)graph;
    return make_event(given->eventRecord.event, out);
}

static CUresult make_wait(const CUgraphNodeParams *given, const struct em_graph *graph, void **out)
{
    (void)graph;
    return make_event(given->eventWait.event, out);
}

static CUresult copy_event(const void *params, void **out)
{
    struct em_event *e = (struct em_event *)params;
    em_object_ref(&e->object);
    *out = e;
    return CUDA_SUCCESS;
}

static void free_event(void *params)
{
    em_object_unref(&((struct em_event *)params)->object);
}

static void get_record(const void *params, CUgraphNodeParams *out)
{
    out->eventRecord.event = (CUevent)(uintptr_t)((const struct em_event *)params)->object.handle;
}

static void get_wait(const void *params, CUgraphNodeParams *out)
{
    out->eventWait.event = (CUevent)(uintptr_t)((const struct em_event *)params)->object.handle;
}

// ---- batches of memory operations ----

static CUresult prepare_batch(const void *params, struct em_command **out)
{
    const struct batch *b = params;
    struct em_context *context;
    CUresult r = find_context(b->context, &context);
    if (r || !b->count)
        return r;
    return em_memory_operations_prepare(context, b->count, b->list, out);
}

static CUresult make_batch(const CUgraphNodeParams *given, const struct em_graph *graph, void **out)
{
    (void)graph;
    const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *p = &given->memOp;
    if (!p->ctx)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "ctx is NULL");
    if (p->flags)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "flags (%#x) must be 0", p->flags);
    if (p->count && !p->paramArray)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "paramArray is NULL, but count is %u", p->count);
    if (p->count > EM_MEMORY_OPERATIONS_MOST)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "count (%u) must be less than 256", p->count);
    struct batch *b = dm_calloc(1, sizeof *b + p->count * sizeof b->list[0]);
    if (!b)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for %u memory operations",
                       p->count);
    b->context = p->ctx;
    b->count = p->count;
    if (p->count)
        memcpy(b->list, p->paramArray, p->count * sizeof b->list[0]);
    CUresult r = try_command(prepare_batch, b);
    if (r)
        dm_free(b);
    else
        *out = b;
    return r;
}

static CUresult copy_batch(const void *params, void **out)
{
    const struct batch *b = params;
    return duplicate(b, sizeof *b + b->count * sizeof b->list[0], out);
}

static void get_batch(const void *params, CUgraphNodeParams *out)
{
    const struct batch *b = params;
    out->memOp = (CUDA_BATCH_MEM_OP_NODE_PARAMS_v2){
        .ctx = b->context,
        .count = b->count,
        .paramArray = (CUstreamBatchMemOpParams *)b->list,
        .flags = b->flags,
    };
}

// "The following fields on operations may be modified on an executable graph: op.waitValue.address,
// op.waitValue.value[64], op.waitValue.flags bits corresponding to wait type …,
// op.writeValue.address, op.writeValue.value[64]. Other fields, such as the context, count or type
// of operations cannot be modified."
static const char *object_batch(const void *from, const void *to)
{
    const struct batch *a = from, *b = to;
    if (a->context != b->context || a->count != b->count)
        return "the context and the count of a batch of memory operations must stay the same";
    for (unsigned i = 0; i < a->count; i++)
        if (a->list[i].operation != b->list[i].operation)
            return "the type of each memory operation must stay the same";
    return NULL;
}

// ---- external semaphores ----

// Signals or waits: CUDA_EXT_SEM_SIGNAL_NODE_PARAMS and _WAIT_ have the same members, and their
// elements have the size `each_B`. The two arrays follow in the same block of memory.
struct semaphores {
    CUcontext context;
    unsigned count;
    size_t each_B;
    CUexternalSemaphore list[];
};

static void *semaphore_params(const struct semaphores *s)
{
    return (void *)&s->list[s->count];
}

static size_t semaphores_size(unsigned count, size_t each_B)
{
    return sizeof(struct semaphores) + count * (sizeof(CUexternalSemaphore) + each_B);
}

// The semaphores are checked when the graph is instantiated (recorded: x_extmem
// sem_args/graph-nodes: signal-null-element).
static CUresult make_semaphores(const CUexternalSemaphore *list, const void *params, unsigned count,
                                size_t each_B, void **out)
{
    if (count && (!list || !params))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL, but numExtSems is %u",
                       list ? "paramsArray" : "extSemArray", count);
    struct semaphores *s = dm_alloc(semaphores_size(count, each_B));
    if (!s)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for %u semaphores", count);
    s->context = named_context(NULL);
    s->count = count;
    s->each_B = each_B;
    if (count) {
        memcpy(s->list, list, count * sizeof *list);
        memcpy(semaphore_params(s), params, count * each_B);
    }
    *out = s;
    return CUDA_SUCCESS;
}

static CUresult make_signal(const CUgraphNodeParams *given, const struct em_graph *graph,
                            void **out)
{
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2 *p = &given->extSemSignal;
    (void)graph;
    return make_semaphores(p->extSemArray, p->paramsArray, p->numExtSems, sizeof *p->paramsArray,
                           out);
}

static CUresult make_semaphore_wait(const CUgraphNodeParams *given, const struct em_graph *graph,
                                    void **out)
{
    const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2 *p = &given->extSemWait;
    (void)graph;
    return make_semaphores(p->extSemArray, p->paramsArray, p->numExtSems, sizeof *p->paramsArray,
                           out);
}

static CUresult copy_semaphores(const void *params, void **out)
{
    const struct semaphores *s = params;
    return duplicate(s, semaphores_size(s->count, s->each_B), out);
}

static void get_signal(const void *params, CUgraphNodeParams *out)
{
    const struct semaphores *s = params;
    out->extSemSignal.extSemArray = (CUexternalSemaphore *)s->list;
    out->extSemSignal.paramsArray = semaphore_params(s);
    out->extSemSignal.numExtSems = s->count;
}

static void get_semaphore_wait(const void *params, CUgraphNodeParams *out)
{
    const struct semaphores *s = params;
    out->extSemWait.extSemArray = (CUexternalSemaphore *)s->list;
    out->extSemWait.paramsArray = semaphore_params(s);
    out->extSemWait.numExtSems = s->count;
}

static CUresult prepare_signal(const void *params, struct em_command **out)
{
    const struct semaphores *s = params;
    struct em_context *context;
    CUresult r = s->count ? find_context(s->context, &context) : CUDA_SUCCESS;
    if (r || !s->count)
        return r;
    return em_semaphores_signal_prepare(context, s->count, s->list, semaphore_params(s), out);
}

static CUresult prepare_semaphore_wait(const void *params, struct em_command **out)
{
    const struct semaphores *s = params;
    struct em_context *context;
    CUresult r = s->count ? find_context(s->context, &context) : CUDA_SUCCESS;
    if (r || !s->count)
        return r;
    return em_semaphores_wait_prepare(context, s->count, s->list, semaphore_params(s), out);
}

// "Changing nodeParams->numExtSems is not supported."
static const char *object_semaphores(const void *from, const void *to)
{
    const struct semaphores *a = from, *b = to;
    return a->count == b->count ? NULL : "the number of semaphores must stay the same";
}

// ---- memory: the parameters are the memory, with a reference ----

static CUresult copy_memory(const void *params, void **out)
{
    struct em_graph_memory *m = (struct em_graph_memory *)params;
    em_graph_memory_ref(m);
    *out = m;
    return CUDA_SUCCESS;
}

static CUresult make_alloc(const CUgraphNodeParams *given, const struct em_graph *graph, void **out)
{
    struct em_graph_memory *m;
    if (!graph)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "the parameters of memory nodes cannot be changed");
    CUresult r = em_graph_memory_new(&given->alloc, &m);
    *out = m;
    return r;
}

static CUresult make_free(const CUgraphNodeParams *given, const struct em_graph *graph, void **out)
{
    struct em_graph_memory *m;
    if (!graph)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "the parameters of memory nodes cannot be changed");
    CUresult r = em_graph_memory_find(given->free.dptr, &m);
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

// ---- child graphs: the parameters are the embedded graph ----

// Whether `inner` is `graph` or contains it.
static bool contains(const struct em_graph *inner, const struct em_graph *graph)
{
    while (graph != inner && graph->parent)
        graph = graph->parent->graph;
    return graph == inner;
}

static CUresult make_child(const CUgraphNodeParams *given, const struct em_graph *graph, void **out)
{
    struct em_graph *child, *copy;
    CUresult r = em_graph_get(given->graph.graph, &child);
    if (!r && contains(child, graph))
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "a graph cannot be a child of itself");
    if (r)
        return r;
    if (given->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
        if (child->parent || child->captures)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "a graph that is %s cannot be moved into a node",
                           child->parent ? "embedded in a node" : "being captured");
        *out = child;
        return CUDA_SUCCESS;
    }
    if (given->graph.ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "ownership (%d) is not a CUgraphChildGraphNodeOwnership",
                       (int)given->graph.ownership);
    r = em_graph_copy(child, &copy);
    *out = copy;
    return r;
}

static CUresult copy_child(const void *params, void **out)
{
    struct em_graph *copy;
    CUresult r = em_graph_copy(params, &copy);
    *out = copy;
    return r;
}

static void free_child(void *params)
{
    em_graph_drop(params);
}

static void get_child(const void *params, CUgraphNodeParams *out)
{
    out->graph.graph = em_graph_handle(params);
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

// ---- the table ----

static const struct type types[] = {
    [CU_GRAPH_NODE_TYPE_KERNEL] = {.name = "kernel"},
    [CU_GRAPH_NODE_TYPE_MEMCPY] = {"memcpy", make_memcpy, copy_memcpy, dm_free, get_memcpy,
                                   prepare_memcpy, object_memcpy},
    [CU_GRAPH_NODE_TYPE_MEMSET] = {"memset", make_memset, copy_memset, dm_free, get_memset,
                                   prepare_memset, object_memset},
    [CU_GRAPH_NODE_TYPE_HOST] = {"host", make_host, copy_host, dm_free, get_host, prepare_host,
                                 NULL},
    [CU_GRAPH_NODE_TYPE_GRAPH] = {"child graph", make_child, copy_child, free_child, get_child,
                                  NULL, NULL},
    [CU_GRAPH_NODE_TYPE_EMPTY] = {"empty", make_nothing, copy_nothing, dm_free, get_nothing, NULL,
                                  NULL},
    [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = {"event wait", make_wait, copy_event, free_event, get_wait,
                                       NULL, NULL},
    [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = {"event record", make_record, copy_event, free_event,
                                         get_record, NULL, NULL},
    [CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL] = {"external semaphore signal", make_signal,
                                             copy_semaphores, dm_free, get_signal, prepare_signal,
                                             object_semaphores},
    [CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT] = {"external semaphore wait", make_semaphore_wait,
                                           copy_semaphores, dm_free, get_semaphore_wait,
                                           prepare_semaphore_wait, object_semaphores},
    [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = {"memory allocation", make_alloc, copy_memory, free_memory,
                                      get_alloc, NULL, object_memory},
    [CU_GRAPH_NODE_TYPE_MEM_FREE] = {"memory free", make_free, copy_memory, free_memory, get_free,
                                     NULL, object_memory},
    [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = {"memory operation", make_batch, copy_batch, dm_free,
                                         get_batch, prepare_batch, object_batch},
    [CU_GRAPH_NODE_TYPE_CONDITIONAL] = {.name = "conditional"},
};
enum { TYPES = sizeof types / sizeof *types };

const char *em_node_type_name(CUgraphNodeType type)
{
    return (unsigned)type < TYPES ? types[type].name : "unknown";
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
    if (!types[given->type].make)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED, "%s nodes are not supported yet",
                       types[given->type].name);
    return types[given->type].make(given, graph, out);
}

CUresult em_node_params_captured(const CUgraphNodeParams *given, const struct em_graph *graph,
                                 void **out)
{
    em_assert_locked();
    if (given->type == CU_GRAPH_NODE_TYPE_MEMSET)
        return duplicate(&given->memset, sizeof given->memset, out);
    return em_node_params_new(given, graph, out);
}

CUresult em_node_params_copy(CUgraphNodeType type, const void *params, void **out)
{
    em_assert_locked();
    return types[type].copy(params, out);
}

void em_node_params_free(CUgraphNodeType type, void *params)
{
    em_assert_locked();
    if (params)
        types[type].free(params);
}

void em_node_params_get(CUgraphNodeType type, const void *params, CUgraphNodeParams *out)
{
    em_assert_locked();
    *out = (CUgraphNodeParams){.type = type};
    types[type].get(params, out);
}

CUresult em_node_prepare(CUgraphNodeType type, const void *params, struct em_command **out)
{
    em_assert_locked();
    *out = NULL;
    return types[type].prepare ? types[type].prepare(params, out) : CUDA_SUCCESS;
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

bool em_node_may_change(CUgraphNodeType type, const void *from, const void *to, char *why,
                        size_t size)
{
    const char *objection = types[type].objection ? types[type].objection(from, to) : NULL;
    if (objection)
        snprintf(why, size, "%s", objection);
    return !objection;
}
