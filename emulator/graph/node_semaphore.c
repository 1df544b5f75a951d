// SPDX-License-Identifier: MIT
// Nodes that signal external semaphores or wait for them.
#include "node_type.h"

#include <string.h>

#include "alloc.h"
#include "error.h"
#include "pointer_check.h"
#include "semaphore_command.h"

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
    CUresult r = em_readable("extSemArray", list, count, sizeof *list);
    if (!r)
        r = em_readable("paramsArray", params, count, each_B);
    if (r)
        return r;
    struct semaphores *s = dm_alloc(semaphores_size(count, each_B));
    if (!s)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for %u semaphores", count);
    s->context = em_node_context_handle(NULL);
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
    return em_node_duplicate(s, semaphores_size(s->count, s->each_B), out);
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
    CUresult r = s->count ? em_node_context(s->context, &context) : CUDA_SUCCESS;
    if (r || !s->count)
        return r;
    return em_semaphores_signal_prepare(context, s->count, s->list, semaphore_params(s), out);
}

static CUresult prepare_semaphore_wait(const void *params, struct em_command **out)
{
    const struct semaphores *s = params;
    struct em_context *context;
    CUresult r = s->count ? em_node_context(s->context, &context) : CUDA_SUCCESS;
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

const struct em_node_type em_signal_node = {
    .name = "external semaphore signal",
    .make = make_signal,
    .copy = copy_semaphores,
    .free = dm_free,
    .get = get_signal,
    .prepare = prepare_signal,
    .objection = object_semaphores,
};

const struct em_node_type em_semaphore_wait_node = {
    .name = "external semaphore wait",
    .make = make_semaphore_wait,
    .copy = copy_semaphores,
    .free = dm_free,
    .get = get_semaphore_wait,
    .prepare = prepare_semaphore_wait,
    .objection = object_semaphores,
};
