// SPDX-License-Identifier: MIT
// Conditional handles and their values.
#include "conditional.h"

#include "alloc.h"
#include "context.h"
#include "error.h"
#include "graph_node.h"
#include "lock.h"

static void finish_conditional(struct em_object *object)
{
    dm_free(object);
}

CUresult em_conditional_find(CUgraphConditionalHandle handle, struct em_conditional **out)
{
    em_assert_locked();
    return em_object_get(EM_GRAPH_CONDITIONAL, handle, CUDA_ERROR_INVALID_VALUE, out);
}

void em_conditional_ref(struct em_conditional *c)
{
    em_assert_locked();
    c->uses++;
}

void em_conditional_unref(struct em_conditional *c)
{
    em_assert_locked();
    if (!--c->uses)
        em_object_retire(&c->object);
}

void em_conditionals_leave(struct em_graph *g)
{
    em_assert_locked();
    while (g->conditionals) {
        struct em_conditional *c = g->conditionals;
        g->conditionals = c->next;
        c->graph = NULL;
        em_conditional_unref(c);
    }
}

CUresult em_conditionals_check(const struct em_graph *g)
{
    em_assert_locked();
    for (const struct em_conditional *c = g->conditionals; c; c = c->next)
        if (!c->has_node)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "the graph has a conditional handle (%#llx) that no node uses; add a "
                           "conditional node for it",
                           (unsigned long long)c->object.handle);
    return CUDA_SUCCESS;
}

void em_conditional_launch(struct em_conditional *c)
{
    em_assert_locked();
    if (c->assigns_default)
        __atomic_store_n(&c->value, c->first_value, __ATOMIC_RELEASE);
}

unsigned em_conditional_value(const struct em_conditional *c)
{
    em_assert_locked();
    return __atomic_load_n(&c->value, __ATOMIC_ACQUIRE);
}

// (recorded: graph_build/conditional-errors)
static CUresult check_new(CUgraph graph, CUcontext context, unsigned flags, struct em_graph **out)
{
    struct em_object *found;
    CUresult r = em_graph_get(graph, out);
    if (!r)
        r = em_object_get(EM_CONTEXT, context, CUDA_ERROR_INVALID_CONTEXT, &found);
    if (!r && flags & ~(unsigned)CU_GRAPH_COND_ASSIGN_DEFAULT)
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "unknown flags %#x; the only valid flag is CU_GRAPH_COND_ASSIGN_DEFAULT (0x1)",
                    flags);
    return r;
}

static CUresult create(struct em_graph *g, CUcontext context, unsigned first_value, unsigned flags,
                       CUgraphConditionalHandle *out)
{
    struct em_conditional *c = dm_calloc(1, sizeof *c);
    if (!c)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a conditional handle");
    CUresult r = em_object_start(&c->object, EM_GRAPH_CONDITIONAL, NULL, finish_conditional);
    if (r) {
        dm_free(c);
        return r;
    }
    c->uses = 1;
    c->graph = g;
    c->context = context;
    c->assigns_default = flags & CU_GRAPH_COND_ASSIGN_DEFAULT;
    c->first_value = first_value;
    c->next = g->conditionals;
    g->conditionals = c;
    *out = c->object.handle;
    return CUDA_SUCCESS;
}

CUresult em_conditional_create(CUgraph graph, CUcontext context, unsigned first_value,
                               unsigned flags, CUgraphConditionalHandle *out)
{
    em_assert_unlocked();
    struct em_graph *g;
    em_lock();
    CUresult r = check_new(graph, context, flags, &g);
    if (!r)
        r = create(g, context, first_value, flags, out);
    em_unlock();
    return r;
}

// Takes no lock, because the threads of a kernel call it.
CUresult em_conditional_set(CUgraphConditionalHandle handle, unsigned value)
{
    em_assert_unlocked();
    struct em_conditional *c;
    CUresult r = em_object_pin(EM_GRAPH_CONDITIONAL, handle, CUDA_ERROR_INVALID_VALUE, &c);
    if (r)
        return r;
    __atomic_store_n(&c->value, value, __ATOMIC_RELEASE);
    em_object_unpin(&c->object);
    return CUDA_SUCCESS;
}
