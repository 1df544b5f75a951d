// SPDX-License-Identifier: MIT
// Graphs inside of graphs: how deep they nest, and which nodes they may have.
#include <string.h>

#include "../harness.h"

static CUcontext context;
static CUdeviceptr device;
static CUstream s;
static int logged; // calls of host nodes

static void start(void)
{
    context = test_context();
    MUST(cuMemAlloc(&device, 4096));
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
}

static CUgraph new_graph(void)
{
    CUgraph g;
    MUST(cuGraphCreate(&g, 0));
    return g;
}

static CUgraphExec instantiate(CUgraph g)
{
    CUgraphExec x;
    MUST(cuGraphInstantiate(&x, g, 0));
    return x;
}

static void count(void *unused)
{
    (void)unused;
    logged++;
}

static void add_host(CUgraph g)
{
    CUgraphNode n;
    MUST(cuGraphAddHostNode(&n, g, NULL, 0, &(CUDA_HOST_NODE_PARAMS){.fn = count}));
}

static CUresult add_child(CUgraph g, CUgraph child, CUgraphChildGraphNodeOwnership ownership,
                          CUgraphNode *out)
{
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    p.graph.graph = child;
    p.graph.ownership = ownership;
    return cuGraphAddNode(out, g, NULL, NULL, 0, &p);
}

enum { DEEPEST = 4096 };

// Functions that walk over graphs inside of graphs call themselves, so the depth has a limit.
TEST(nesting_is_limited)
{
    start();
    for (int moved = 0; moved < 2; moved++) {
        const CUgraphChildGraphNodeOwnership ownership =
            moved ? CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE : CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
        CUgraph g = new_graph(), clone, outer;
        CUgraphNode n;
        logged = 0;
        add_host(g);
        const int levels = moved ? DEEPEST : 50; // a clone copies all levels
        for (int i = 0; i < levels; i++) {
            outer = new_graph();
            EXPECT_OK(add_child(outer, g, ownership, &n));
            if (!moved)
                EXPECT_OK(cuGraphDestroy(g));
            g = outer;
        }
        outer = new_graph();
        CUgraphNode deeper = NULL;
        if (moved)
            EXPECT_ONE_SENTENCE(add_child(outer, g, ownership, &deeper), CUDA_ERROR_NOT_SUPPORTED);
        else
            EXPECT_OK(add_child(outer, g, ownership, &deeper));
        EXPECT_OK(cuGraphClone(&clone, g));
        MUST(cuGraphLaunch(instantiate(clone), s));
        EXPECT_OK(cuStreamSynchronize(s));
        EXPECT_EQ(logged, 1);
        EXPECT_OK(cuGraphDestroy(clone));
        // Levels that are gone do not count.
        EXPECT_OK(cuGraphDestroyNode(n));
        EXPECT_OK(add_child(outer, g, ownership, &n));
        EXPECT_OK(cuGraphDestroy(outer));
    }
}

// Memory nodes cannot be added to a child graph, but conditional nodes can.
TEST(nodes_of_child_graphs)
{
    start();
    for (int moved = 0; moved < 2; moved++) {
        CUgraph g = new_graph(), child = new_graph(), embedded, deeper = new_graph();
        CUgraphNode c, n;
        CUgraphConditionalHandle handle;
        CUDA_MEM_ALLOC_NODE_PARAMS alloc = {
            .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                          .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
            .bytesize = 64};
        CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
        add_host(child);
        MUST(add_child(g, child, moved, &c));
        MUST(cuGraphChildGraphNodeGetGraph(c, &embedded));
        MUST(cuGraphConditionalHandleCreate(&handle, g, context, 1, 1));
        p.conditional.handle = handle;
        p.conditional.size = 1;
        p.conditional.ctx = context;
        for (int i = 0; i < 2; i++) { // in the graph of the node, and in one inside of that
            EXPECT_ONE_SENTENCE(cuGraphAddMemAllocNode(&n, embedded, NULL, 0, &alloc),
                                CUDA_ERROR_NOT_SUPPORTED);
            EXPECT_ONE_SENTENCE(cuGraphAddMemFreeNode(&n, embedded, NULL, 0, device),
                                CUDA_ERROR_NOT_SUPPORTED);
            add_host(embedded);
            if (!i) {
                MUST(add_child(embedded, deeper, true, &n));
                embedded = deeper;
            }
        }
        CUgraph clone;
        EXPECT_ERROR(cuGraphClone(&clone, g), CUDA_ERROR_NOT_SUPPORTED); // it has a handle
        EXPECT_OK(cuGraphAddNode(&n, embedded, NULL, NULL, 0, &p));
        EXPECT_ERROR(cuGraphClone(&clone, g), CUDA_ERROR_NOT_SUPPORTED);
        MUST(cuGraphLaunch(instantiate(g), s));
        EXPECT_OK(cuStreamSynchronize(s));
        EXPECT_OK(cuGraphDestroy(g));
    }
}

TESTS(CASE(nesting_is_limited), CASE(nodes_of_child_graphs))
