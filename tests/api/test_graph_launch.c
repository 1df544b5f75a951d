// SPDX-License-Identifier: MIT
// Launches of graphs: random graphs, launches that wait or overlap, the end of a context, threads,
// and user objects.
#include "graph.h"

static CUgraphNode add_empty(CUgraph g)
{
    CUgraphNode n;
    MUST(cuGraphAddEmptyNode(&n, g, NULL, 0));
    return n;
}

// ---- random graphs ----

enum { NODES = 200 };

// Every node runs once, after all that it depends on.
static void check_order(const bool (*depends)[NODES], unsigned nodes)
{
    unsigned place[NODES];
    memset(place, 0xff, sizeof place);
    EXPECT_EQ(logged, nodes);
    for (unsigned i = 0; i < nodes && i < logged; i++) {
        EXPECT_EQ(place[entries[i]], UINT32_MAX);
        place[entries[i]] = i;
    }
    for (unsigned to = 0; to < nodes; to++)
        for (unsigned from = 0; from < nodes; from++)
            if (depends[to][from])
                EXPECT(place[from] < place[to]);
}

TEST(random_order)
{
    start();
    srand(7);
    for (unsigned round = 0; round < 30; round++) {
        static bool depends[NODES][NODES];
        unsigned nodes = 1 + (unsigned)rand() % NODES, chance = 1 + (unsigned)rand() % 50;
        CUgraphNode node[NODES];
        CUgraph g = new_graph(), clone;
        memset(depends, 0, sizeof depends);
        for (unsigned i = 0; i < nodes; i++)
            node[i] = add_host(g, NULL, i);
        // Edges lead from lower to higher places of a permutation, so that there is no cycle.
        unsigned turn = (unsigned)rand() % nodes;
        for (unsigned i = 0; i < nodes; i++) {
            for (unsigned j = i + 1; j < nodes; j++) {
                unsigned from = (i + turn) % nodes, to = (j + turn) % nodes;
                if ((unsigned)rand() % 100 >= chance)
                    continue;
                MUST(cuGraphAddDependencies(g, &node[from], &node[to], NULL, 1));
                depends[to][from] = true;
            }
        }
        MUST(cuGraphClone(&clone, g));
        for (unsigned which = 0; which < 2; which++) {
            CUgraphExec x = instantiate(which ? clone : g);
            logged = 0;
            MUST(cuGraphLaunch(x, s));
            MUST(cuStreamSynchronize(s));
            check_order(depends, nodes);
            MUST(cuGraphExecDestroy(x));
        }
        MUST(cuGraphDestroy(g));
        MUST(cuGraphDestroy(clone));
    }
}

TEST(cycles)
{
    start();
    CUgraph g = new_graph();
    CUgraphNode a = add_empty(g), b = add_empty(g), c = add_empty(g);
    CUgraphExec x;
    MUST(cuGraphAddDependencies(g, &a, &b, NULL, 1));
    MUST(cuGraphAddDependencies(g, &b, &c, NULL, 1));
    MUST(cuGraphAddDependencies(g, &c, &a, NULL, 1));
    EXPECT_ERROR(cuGraphInstantiate(&x, g, 0), CUDA_ERROR_INVALID_VALUE);
    MUST(cuGraphRemoveDependencies(g, &c, &a, NULL, 1));
    EXPECT_OK(cuGraphInstantiate(&x, g, 0));
}

// ---- launches ----

// A change applies to later launches, and not to one that is pending.
TEST(update_while_pending)
{
    start();
    CUgraph g = new_graph(), h = new_graph();
    CUgraphNode a = add_fill(g, NULL, 0, 1);
    add_fill(g, a, 1, 1);
    CUgraphExec x = instantiate(g);
    MUST(cuStreamWaitValue32(s, mapped, 1, CU_STREAM_WAIT_VALUE_EQ));
    MUST(cuGraphLaunch(x, s));
    CUDA_MEMSET_NODE_PARAMS p = fill_of(2, 2);
    EXPECT_OK(cuGraphExecMemsetNodeSetParams(x, a, &p, context));
    CUgraphNode b = add_fill(h, NULL, 3, 3);
    add_fill(h, b, 4, 4);
    CUgraphExecUpdateResultInfo info;
    MUST(cuGraphLaunch(x, s));
    EXPECT_OK(cuGraphExecUpdate(x, h, &info));
    EXPECT_OK(cuGraphNodeSetEnabled(x, a, 0));
    MUST(cuGraphLaunch(x, s));
    EXPECT_OK(cuGraphExecDestroy(x));
    EXPECT_EQ(word(0), 0);
    set_word(0, 1);
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(word(0), 1);
    EXPECT_EQ(word(1), 1);
    EXPECT_EQ(word(2), 2);
    EXPECT_EQ(word(3), 0); // disabled
    EXPECT_EQ(word(4), 4);
}

// Launches of one graph follow one another, whatever their streams wait for.
TEST(launches_do_not_overlap)
{
    start();
    CUgraph g = new_graph();
    CUgraphNode a = add_host(g, NULL, 1);
    add_host(g, a, 2);
    CUgraphExec x = instantiate(g);
    MUST(cuStreamWaitValue32(s, mapped, 1, CU_STREAM_WAIT_VALUE_EQ));
    for (unsigned i = 0; i < 20; i++)
        MUST(cuGraphLaunch(x, i % 2 ? t : s));
    EXPECT_ERROR(cuStreamQuery(t), CUDA_ERROR_NOT_READY); // behind the first launch, in s
    set_word(0, 1);
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(logged, 40);
    for (unsigned i = 0; i < 40; i++)
        EXPECT_EQ(entries[i], 1 + i % 2);
}

// A context that ends drops the launches that wait in it, and the steps of a launch that has begun.
TEST(context_ends)
{
    CUevent e;
    CUgraphNode n;
    start();
    MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    CUgraph g = new_graph();
    CUgraphNode a = add_operation(g, CU_STREAM_MEM_OP_WAIT_VALUE_32, 0, 1);
    add_host(g, a, 1);
    MUST(cuGraphAddEventRecordNode(&n, g, &a, 1, e));
    CUgraphExec x = instantiate(g);
    MUST(cuGraphLaunch(x, s));
    MUST(cuGraphLaunch(x, t));
    EXPECT_OK(cuDevicePrimaryCtxReset(0));
    EXPECT_EQ(logged, 0);
    EXPECT_OK(cuGraphExecDestroy(x));
    EXPECT_OK(cuGraphDestroy(g));
}

// A step that fails ends the launch; the error is sticky, as for the same work in a stream.
TEST(fault)
{
    CUdeviceptr gone;
    start();
    MUST(cuMemAlloc(&gone, 4 << 20));
    CUgraph g = new_graph();
    CUgraphNode a;
    CUDA_MEMSET_NODE_PARAMS p = {
        .dst = gone, .value = 1, .elementSize = 4, .width = 1, .height = 1};
    MUST(cuGraphAddMemsetNode(&a, g, NULL, 0, &p, context));
    add_host(g, a, 1);
    CUgraphExec x = instantiate(g);
    MUST(cuMemFree(gone));
    EXPECT_OK(cuGraphLaunch(x, s));
    EXPECT_ERROR(cuStreamSynchronize(s), CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_EQ(logged, 0);
}

// ---- threads ----

// Each thread fills words of its own.
static void *build_and_launch(void *first_word)
{
    unsigned first = (unsigned)(uintptr_t)first_word;
    CUstream own;
    MUST(cuCtxSetCurrent(context));
    MUST(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < 50; i++) {
        CUgraph g = new_graph();
        CUgraphNode a = add_host(g, NULL, 1);
        add_fill(g, a, first + i, 1);
        CUgraphExec x = instantiate(g);
        for (unsigned k = 0; k < 4; k++)
            MUST(cuGraphLaunch(x, own));
        if (i % 2)
            MUST(cuStreamSynchronize(own));
        MUST(cuGraphExecDestroy(x));
        MUST(cuGraphDestroy(g));
    }
    MUST(cuStreamSynchronize(own));
    return NULL;
}

TEST(threads)
{
    pthread_t thread[4];
    start();
    for (unsigned i = 0; i < 4; i++)
        EXPECT_EQ(pthread_create(&thread[i], NULL, build_and_launch, (void *)(uintptr_t)(50 * i)),
                  0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    EXPECT_EQ(logged, 4 * 50 * 4);
}

// ---- user objects ----

static atomic_int destroyed;
static void CUDA_CB destroy(void *count)
{
    (void)count;
    destroyed++;
}

static void wait_destroyed(int count)
{
    for (int i = 0; i < 2000 && destroyed < count; i++)
        usleep(1000);
    EXPECT_EQ(destroyed, count);
}

TEST(user_objects)
{
    CUuserObject o, refused;
    CUgraph clone;
    start();
    CUgraph g = new_graph();
    add_operation(g, CU_STREAM_MEM_OP_WAIT_VALUE_32, 0, 1);
    MUST(cuUserObjectCreate(&o, NULL, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    MUST(cuGraphRetainUserObject(g, o, 1, CU_GRAPH_USER_OBJECT_MOVE));
    EXPECT_ERROR(cuUserObjectRelease(o, 3), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuUserObjectRetain(o, INT_MAX));
    EXPECT_OK(cuUserObjectRelease(o, INT_MAX));
    EXPECT_ERROR(cuUserObjectRetain(o, INT_MAX + 1u), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphRetainUserObject(g, o, INT_MAX + 1u, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuUserObjectCreate(&refused, NULL, destroy, INT_MAX + 1u,
                                    CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphReleaseUserObject(g, o, 2), CUDA_ERROR_INVALID_VALUE);
    MUST(cuGraphClone(&clone, g));
    CUgraphExec x = instantiate(g);
    MUST(cuGraphDestroy(g));
    MUST(cuGraphDestroy(clone));
    MUST(cuGraphLaunch(x, s));
    MUST(cuGraphExecDestroy(x));
    EXPECT_EQ(destroyed, 0); // the launch still needs it
    set_word(0, 1);
    MUST(cuStreamSynchronize(s));
    wait_destroyed(1);
    EXPECT_ERROR(cuUserObjectRetain(o, 1), CUDA_ERROR_INVALID_VALUE);
}

static CUgraph graph_with_object(void)
{
    CUuserObject o;
    CUgraph g = new_graph();
    add_operation(g, CU_STREAM_MEM_OP_WAIT_VALUE_32, 0, 1);
    MUST(cuUserObjectCreate(&o, NULL, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    MUST(cuGraphRetainUserObject(g, o, 1, CU_GRAPH_USER_OBJECT_MOVE));
    return g;
}

// An update replaces the objects, those of pending launches when these have ended.
TEST(user_objects_of_updates)
{
    CUgraphExecUpdateResultInfo info;
    CUgraphNode child;
    start();
    CUgraph one = graph_with_object(), two = graph_with_object(), three = graph_with_object();
    CUgraphExec x = instantiate(one);
    MUST(cuGraphDestroy(one));
    EXPECT_OK(cuGraphExecUpdate(x, two, &info));
    wait_destroyed(1);
    MUST(cuGraphDestroy(two));
    MUST(cuGraphLaunch(x, s));
    EXPECT_OK(cuGraphExecUpdate(x, three, &info));
    MUST(cuGraphDestroy(three));
    EXPECT_EQ(destroyed, 1); // the launch still needs the second one
    set_word(0, 1);
    MUST(cuStreamSynchronize(s));
    wait_destroyed(2);
    MUST(cuGraphExecDestroy(x));
    wait_destroyed(3);
    // The instantiated graph keeps the objects of graphs in nodes.
    CUgraph outer = new_graph(), inner = graph_with_object();
    MUST(cuGraphAddChildGraphNode(&child, outer, NULL, 0, inner));
    x = instantiate(outer);
    MUST(cuGraphDestroy(inner));
    MUST(cuGraphDestroy(outer));
    EXPECT_OK(cuGraphLaunch(x, s));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(destroyed, 3);
    MUST(cuGraphExecDestroy(x));
    wait_destroyed(4);
}

TESTS(CASE(random_order), CASE(cycles), CASE(update_while_pending), CASE(launches_do_not_overlap),
      CASE(context_ends), CASE(fault), CASE(threads), CASE(user_objects),
      CASE(user_objects_of_updates))
