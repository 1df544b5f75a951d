// SPDX-License-Identifier: MIT
// The ordering checker: work outside a graph that waits for some of its nodes. The graph may have
// any number of nodes that others can wait for.
#include "../order.h"

enum { BRANCHES = 100, LAUNCHES = 3 };

// A graph of branches side by side: each writes its piece of memory, and records its event.
static struct {
    CUdeviceptr pieces, copies; // ORDER_B bytes a branch
    CUevent event[BRANCHES];
    CUgraphExec exec;
} g;

static CUdeviceptr piece(unsigned branch)
{
    return g.pieces + (CUdeviceptr)branch * ORDER_B;
}

static CUgraphExec instance(CUgraph graph)
{
    CUgraphExec x;
    MUST(cuGraphInstantiate(&x, graph, 0));
    return x;
}

static CUgraphNode add_write(CUgraph graph, CUgraphNode after, unsigned branch, CUcontext c)
{
    CUgraphNode n;
    CUDA_MEMSET_NODE_PARAMS p = {
        .dst = piece(branch), .value = 1, .elementSize = 1, .width = ORDER_B, .height = 1};
    MUST(cuGraphAddMemsetNode(&n, graph, after ? &after : NULL, after != NULL, &p, c));
    return n;
}

static void make_branches(void)
{
    CUgraph graph;
    CUcontext c = order_begin();
    g.pieces = order_memory(BRANCHES * ORDER_B);
    g.copies = order_memory(BRANCHES * ORDER_B);
    MUST(cuGraphCreate(&graph, 0));
    for (unsigned i = 0; i < BRANCHES; i++) {
        CUgraphNode record, write = add_write(graph, NULL, i, c);
        g.event[i] = order_event();
        MUST(cuGraphAddEventRecordNode(&record, graph, &write, 1, g.event[i]));
    }
    g.exec = instance(graph);
}

static void read_piece(unsigned branch, CUstream s)
{
    EXPECT_OK(
        cuMemcpyDtoDAsync(g.copies + (CUdeviceptr)branch * ORDER_B, piece(branch), ORDER_B, s));
}

TEST(wait_for_each_branch)
{
    make_branches();
    for (unsigned n = 0; n < LAUNCHES; n++) {
        EXPECT_OK(cuGraphLaunch(g.exec, order_a));
        for (unsigned i = 0; i < BRANCHES; i++) {
            EXPECT_OK(cuStreamWaitEvent(order_b, g.event[i], 0));
            read_piece(i, order_b);
        }
        EXPECT_OK(cuStreamSynchronize(order_b));
    }
    EXPECT_NO_DIAGNOSTIC();
}

TEST(wait_for_another_branch)
{
    make_branches();
    for (unsigned n = 0; n < LAUNCHES; n++)
        EXPECT_OK(cuGraphLaunch(g.exec, order_a));
    EXPECT_OK(cuStreamWaitEvent(order_b, g.event[BRANCHES - 1], 0));
    read_piece(BRANCHES - 1, order_b);
    EXPECT_NO_DIAGNOSTIC();
    for (unsigned i = 0; i < BRANCHES - 1; i++)
        read_piece(i, order_b);
    EXPECT_EQ(strlen(test_reported()), strlen("O01 ") * (BRANCHES - 1) - 1); // one a branch
}

// The branch of an earlier launch is before the next one; the same branch of this one is not.
TEST(wait_for_an_earlier_launch)
{
    make_branches();
    EXPECT_OK(cuGraphLaunch(g.exec, order_a));
    EXPECT_OK(cuStreamWaitEvent(order_b, g.event[0], 0));
    EXPECT_OK(cuGraphLaunch(g.exec, order_a));
    read_piece(0, order_b);
    EXPECT_DIAGNOSTIC(O01);
}

static void CUDA_CB nothing(void *unused)
{
    (void)unused;
}

// A row of writes of the same piece, each followed by a host function and by the record of an
// event.
static CUgraphExec row(unsigned length)
{
    CUgraph graph;
    CUgraphNode last = NULL;
    const CUDA_HOST_NODE_PARAMS p = {.fn = nothing};
    CUcontext c = order_begin();
    g.pieces = order_memory(BRANCHES * ORDER_B);
    g.copies = order_memory(BRANCHES * ORDER_B);
    MUST(cuGraphCreate(&graph, 0));
    for (unsigned i = 0; i < length; i++) {
        CUgraphNode write = add_write(graph, last, i, c), called;
        MUST(cuGraphAddHostNode(&called, graph, &write, 1, &p));
        g.event[i] = order_event();
        MUST(cuGraphAddEventRecordNode(&last, graph, &called, 1, g.event[i]));
    }
    return instance(graph);
}

// Host functions may let the program go on, so all before the last one counts as ordered.
TEST(row_of_host_functions)
{
    CUgraphExec x = row(BRANCHES);
    for (unsigned n = 0; n < LAUNCHES; n++) {
        EXPECT_OK(cuGraphLaunch(x, order_a));
        EXPECT_OK(cuStreamSynchronize(order_a));
        for (unsigned i = 0; i < BRANCHES; i++)
            read_piece(i, order_b);
        EXPECT_OK(cuStreamSynchronize(order_b));
    }
    EXPECT_NO_DIAGNOSTIC();
}

// An event in the middle of a graph is ordered after what its stream did before the launch.
TEST(work_before_the_launch)
{
    make_branches();
    order_write(order_a);
    EXPECT_OK(cuGraphLaunch(g.exec, order_a));
    EXPECT_OK(cuStreamWaitEvent(order_b, g.event[0], 0));
    order_read(order_b);
    EXPECT_NO_DIAGNOSTIC();
    unsigned older = order_next();
    EXPECT_OK(cuMemsetD8Async(order_p, 1, ORDER_B, order_a));
    unsigned newer = order_read(order_b);
    EXPECT_STR(test_reported(), "O01 O01"); // with the read before, and with the next one
    EXPECT(older < newer);
}

// Branches that read the same bytes: a write that waits for some of them is not ordered after the
// others, which have read before.
TEST(reads_of_branches)
{
    enum { READERS = 3 };
    CUgraph graph;
    CUcontext c = order_begin();
    g.copies = order_memory(READERS * ORDER_B);
    MUST(cuGraphCreate(&graph, 0));
    for (unsigned i = 0; i < READERS; i++) {
        CUgraphNode read, record;
        CUDA_MEMCPY3D p = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = order_p,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = g.copies + (CUdeviceptr)i * ORDER_B,
                           .WidthInBytes = ORDER_B,
                           .Height = 1,
                           .Depth = 1};
        MUST(cuGraphAddMemcpyNode(&read, graph, NULL, 0, &p, c));
        g.event[i] = order_event();
        MUST(cuGraphAddEventRecordNode(&record, graph, &read, 1, g.event[i]));
    }
    MUST(cuGraphLaunch(instance(graph), order_a));
    for (unsigned i = READERS; i-- > 1;)
        EXPECT_OK(cuStreamWaitEvent(order_b, g.event[i], 0));
    order_write(order_b);
    EXPECT_STR(test_reported(), "O01");
    EXPECT_OK(cuMemsetD8Async(g.copies + ORDER_B, 1, ORDER_B, order_b)); // this one is
    EXPECT_STR(test_reported(), "O01");
}

TESTS(CASE(wait_for_each_branch), CASE(wait_for_another_branch), CASE(wait_for_an_earlier_launch),
      CASE(row_of_host_functions), CASE(work_before_the_launch), CASE(reads_of_branches))
