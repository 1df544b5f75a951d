// SPDX-License-Identifier: MIT
// Nodes with batches of memory operations.
#include "node_type.h"

#include <string.h>

#include "alloc.h"
#include "error.h"
#include "memory_operation.h"
#include "pointer_check.h"

// The parameters, as nodes keep them.
struct batch {
    CUcontext context;
    unsigned count, flags;
    CUstreamBatchMemOpParams list[];
};

static CUresult prepare_batch(const void *params, struct em_command **out)
{
    const struct batch *b = params;
    struct em_context *context;
    CUresult r = em_node_context(b->context, &context);
    if (r || !b->count)
        return r;
    return em_memory_operations_prepare(context, b->count, b->list, out);
}

static CUresult new_batch(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *p, void **out)
{
    struct batch *b = dm_calloc(1, sizeof *b + p->count * sizeof b->list[0]);
    *out = b;
    if (!b)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for %u memory operations",
                       p->count);
    b->context = p->ctx;
    b->count = p->count;
    if (p->count)
        memcpy(b->list, p->paramArray, p->count * sizeof b->list[0]);
    return CUDA_SUCCESS;
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
    CUresult r = em_readable("paramArray", p->paramArray, p->count, sizeof *p->paramArray);
    if (r)
        return r;
    r = new_batch(p, out);
    if (!r)
        r = em_node_try_command(prepare_batch, *out);
    if (r)
        dm_free(*out);
    return r;
}

static CUresult make_captured_batch(const CUgraphNodeParams *given, void **out)
{
    const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *p = &given->memOp;
    struct em_context *context;
    CUresult r = em_node_context(p->ctx, &context);
    if (!r)
        r = em_memory_operations_check(context, p->count, p->paramArray);
    return r ? r : new_batch(p, out);
}

static CUresult copy_batch(const void *params, void **out)
{
    const struct batch *b = params;
    return em_node_duplicate(b, sizeof *b + b->count * sizeof b->list[0], out);
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

const struct em_node_type em_operation_node = {
    .name = "memory operation",
    .make = make_batch,
    .make_captured = make_captured_batch,
    .copy = copy_batch,
    .free = dm_free,
    .get = get_batch,
    .prepare = prepare_batch,
    .objection = object_batch,
};
