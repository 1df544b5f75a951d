// SPDX-License-Identifier: MIT
// Graphs with conditional nodes for tests.
#pragma once
#include <cardless.h>
#include <pthread.h>

#include "../harness.h"

static CUcontext context;
static CUstream s;
static CUdeviceptr device; // 64 KiB
static CUgraphConditionalHandle handle;

// Each case should begin with this.
static inline void start(void)
{
    context = test_context();
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&device, 65536));
    MUST(cuMemsetD8(device, 0, 65536));
}

static inline CUgraph new_graph(void)
{
    CUgraph g;
    MUST(cuGraphCreate(&g, 0));
    return g;
}

static inline CUgraphConditionalHandle new_handle(CUgraph g, unsigned value, unsigned flags)
{
    CUgraphConditionalHandle h;
    MUST(cuGraphConditionalHandleCreate(&h, g, context, value, flags));
    return h;
}

static inline CUgraphNodeParams params_of(CUgraphConditionalHandle h,
                                          CUgraphConditionalNodeType type, unsigned size)
{
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    p.conditional.handle = h;
    p.conditional.type = type;
    p.conditional.size = size;
    p.conditional.ctx = context;
    return p;
}

// Adds a conditional node for a new handle, whose default value is `value`. Returns its bodies.
static inline CUgraph *add_conditional(CUgraph g, CUgraphConditionalNodeType type, unsigned size,
                                       unsigned value, CUgraphNode *out)
{
    CUgraphNode n;
    handle = new_handle(g, value, CU_GRAPH_COND_ASSIGN_DEFAULT);
    CUgraphNodeParams p = params_of(handle, type, size);
    MUST(cuGraphAddNode(out ? out : &n, g, NULL, NULL, 0, &p));
    return p.conditional.phGraph_out;
}

static inline CUgraphNode add_fill(CUgraph g, unsigned word, unsigned value)
{
    CUgraphNode n;
    CUDA_MEMSET_NODE_PARAMS p = {
        .dst = device + 4 * word, .value = value, .elementSize = 4, .width = 1, .height = 1};
    MUST(cuGraphAddMemsetNode(&n, g, NULL, 0, &p, context));
    return n;
}

static inline CUgraphExec instantiate(CUgraph g)
{
    CUgraphExec x;
    MUST(cuGraphInstantiate(&x, g, 0));
    return x;
}

static inline unsigned word(unsigned at)
{
    unsigned v = 0;
    MUST(cuMemcpyDtoH(&v, device + 4 * at, 4));
    return v;
}

// Launches, and returns the words 0 to 3 as digits.
static inline unsigned run(CUgraphExec x)
{
    MUST(cuMemsetD8(device, 0, 64));
    MUST(cuCtxSynchronize());
    EXPECT_OK(cuGraphLaunch(x, s));
    EXPECT_OK(cuStreamSynchronize(s));
    return word(0) * 1000 + word(1) * 100 + word(2) * 10 + word(3);
}

static inline void CUDA_CB set_value(void *value)
{
    EXPECT_OK(cardlessGraphSetConditional(handle, (unsigned)(uintptr_t)value));
}

static inline CUgraphNode add_set_value(CUgraph g, unsigned value)
{
    CUgraphNode n;
    CUDA_HOST_NODE_PARAMS p = {.fn = set_value, .userData = (void *)(uintptr_t)value};
    MUST(cuGraphAddHostNode(&n, g, NULL, 0, &p));
    return n;
}
