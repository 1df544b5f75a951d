// SPDX-License-Identifier: MIT
// The ordering checker: order through semaphores, graphs, graphics resources and pools; and what a
// report does to the process.
#include "../mistakes/virtual.h"
#include "../order.h"
#include "../semaphore.h"

// ---- semaphores ----

TEST(timeline_semaphore)
{
    order_begin();
    struct both s = timeline(0);
    order_write(order_a);
    EXPECT_OK(cu_signal(s.cuda, 1, order_a));
    EXPECT_OK(cu_wait(s.cuda, 1, order_b));
    order_read(order_b);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(semaphore_awaited_first)
{
    order_begin();
    struct both s = timeline(0);
    EXPECT_OK(cu_wait(s.cuda, 1, order_b));
    order_read(order_b);
    order_write(order_a);
    EXPECT_OK(cu_signal(s.cuda, 1, order_a));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_NO_DIAGNOSTIC();
}

// Both values have come already, but the wait is for the first one.
TEST(semaphore_value_too_low)
{
    order_begin();
    struct both s = timeline(0);
    EXPECT_OK(cu_signal(s.cuda, 1, order_a));
    unsigned older = order_write(order_a);
    EXPECT_OK(cu_signal(s.cuda, 2, order_a));
    EXPECT_OK(cu_wait(s.cuda, 1, order_b));
    unsigned newer = order_read(order_b);
    EXPECT_UNORDERED(O01, older, newer);
}

TEST(binary_semaphore)
{
    order_begin();
    struct both s = binary();
    order_write(order_a);
    EXPECT_OK(cu_signal(s.cuda, 0, order_a));
    EXPECT_OK(cu_wait(s.cuda, 0, order_b));
    order_read(order_b);
    EXPECT_NO_DIAGNOSTIC();
    unsigned newer = order_write(order_a);
    EXPECT_UNORDERED(O01, newer - 2, newer);
}

// ---- graphs ----

struct nodes {
    CUgraph graph;
    CUgraphNode write, read;
};

static CUgraphNode add_read(CUgraph g, CUgraphNode after, CUcontext c)
{
    CUgraphNode n;
    const CUDA_MEMCPY3D p = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                             .srcDevice = order_p,
                             .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                             .dstDevice = order_q,
                             .WidthInBytes = ORDER_B,
                             .Height = 1,
                             .Depth = 1};
    MUST(cuGraphAddMemcpyNode(&n, g, after ? &after : NULL, after != NULL, &p, c));
    return n;
}

static struct nodes two_nodes(CUcontext c, bool edge)
{
    struct nodes n;
    CUDA_MEMSET_NODE_PARAMS p = {
        .dst = order_p, .value = 1, .elementSize = 1, .width = ORDER_B, .height = 1};
    MUST(cuGraphCreate(&n.graph, 0));
    MUST(cuGraphAddMemsetNode(&n.write, n.graph, NULL, 0, &p, c));
    CUgraphNode between = NULL;
    if (edge)
        MUST(cuGraphAddEmptyNode(&between, n.graph, &n.write, 1));
    n.read = add_read(n.graph, between, c);
    return n;
}

static CUgraphExec instance(CUgraph g)
{
    CUgraphExec x;
    MUST(cuGraphInstantiate(&x, g, 0));
    return x;
}

TEST(edges_of_a_graph)
{
    CUgraphExec x = instance(two_nodes(order_begin(), true).graph);
    EXPECT_OK(cuGraphLaunch(x, order_a));
    order_write(order_a);
    EXPECT_OK(cuGraphLaunch(x, order_a));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_NO_DIAGNOSTIC();
}

TEST(missing_edge_of_a_graph)
{
    CUgraphExec x = instance(two_nodes(order_begin(), false).graph);
    unsigned launch = order_next();
    EXPECT_OK(cuGraphLaunch(x, order_a));
    EXPECT_UNORDERED(O01, launch, launch);
    EXPECT(strstr(order_line("O01"),
                  "nothing orders the two; add an edge between the two nodes of the graph"));
}

// "Each launch is ordered behind both any previous work in hStream and any previous launches".
TEST(launches_of_one_graph)
{
    CUgraphExec x = instance(two_nodes(order_begin(), true).graph);
    EXPECT_OK(cuGraphLaunch(x, order_a));
    EXPECT_OK(cuGraphLaunch(x, order_b));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_NO_DIAGNOSTIC();
}

TEST(launch_and_another_stream)
{
    CUgraphExec x = instance(two_nodes(order_begin(), true).graph);
    unsigned older = order_next();
    EXPECT_OK(cuGraphLaunch(x, order_a));
    unsigned newer = order_read(order_b);
    EXPECT_STR(test_reported(), "O01 O01"); // it reads p, and writes q
    EXPECT(older < newer);
}

// A record in the middle of a graph is ordered after the nodes before it, and no others.
TEST(event_in_a_graph)
{
    CUcontext c = order_begin();
    CUevent e = order_event();
    struct nodes n = two_nodes(c, true);
    CUgraphNode record;
    MUST(cuGraphAddEventRecordNode(&record, n.graph, &n.write, 1, e));
    EXPECT_OK(cuGraphLaunch(instance(n.graph), order_a));
    EXPECT_OK(cuStreamWaitEvent(order_b, e, 0));
    EXPECT_OK(cuMemcpyDtoDAsync(order_memory(ORDER_B), order_p, ORDER_B, order_b));
    EXPECT_NO_DIAGNOSTIC();
    EXPECT_OK(cuMemsetD8Async(order_q, 2, 1, order_b)); // the copy of the graph writes it
    EXPECT_DIAGNOSTIC(O01);
}

TEST(event_awaited_in_a_graph)
{
    CUcontext c = order_begin();
    CUevent e = order_event();
    CUgraph g;
    CUgraphNode await;
    MUST(cuGraphCreate(&g, 0));
    MUST(cuGraphAddEventWaitNode(&await, g, NULL, 0, e));
    add_read(g, await, c);
    CUgraphExec x = instance(g);
    atomic_uint *word = test_hold(order_a);
    order_write(order_a);
    EXPECT_OK(cuEventRecord(e, order_a));
    EXPECT_OK(cuGraphLaunch(x, order_b));
    *word = 1;
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_NO_DIAGNOSTIC();
}

TEST(captured_work)
{
    CUgraph g;
    order_begin();
    EXPECT_OK(cuStreamBeginCapture(order_a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EXPECT_OK(cuMemsetD8Async(order_p, 1, ORDER_B, order_a));
    EXPECT_OK(cuMemcpyDtoDAsync(order_q, order_p, ORDER_B, order_a));
    EXPECT_OK(cuStreamEndCapture(order_a, &g));
    EXPECT_OK(cuGraphLaunch(instance(g), order_b));
    EXPECT_OK(cuStreamSynchronize(order_b));
    order_write(order_a);
    EXPECT_NO_DIAGNOSTIC();
}

// ---- graphics ----

static CUdeviceptr mapped_in(CUgraphicsResource r, CUstream s)
{
    CUdeviceptr p;
    MUST(cuGraphicsMapResources(1, &r, s));
    MUST(cuGraphicsResourceGetMappedPointer(&p, NULL, r));
    return p;
}

TEST(graphics)
{
    order_begin();
    CUgraphicsResource r = registered(virtual_buffer(ORDER_B), 0);
    EXPECT_OK(cuMemsetD8Async(mapped_in(r, order_a), 1, ORDER_B, order_a));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, order_a));
    EXPECT_OK(cuMemsetD8Async(mapped_in(r, order_b), 1, ORDER_B, order_b));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, order_b));
    EXPECT_NO_DIAGNOSTIC();
}

TEST(unmapped_in_another_stream)
{
    order_begin();
    CUgraphicsResource r = registered(virtual_buffer(ORDER_B), 0);
    CUdeviceptr p = mapped_in(r, order_a);
    unsigned older = order_next();
    EXPECT_OK(cuMemsetD8Async(p, 1, ORDER_B, order_a));
    unsigned newer = order_next();
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, order_b));
    EXPECT_UNORDERED(O01, older, newer);
}

TEST(mapped_in_another_stream)
{
    order_begin();
    CUgraphicsResource r = registered(virtual_buffer(ORDER_B), 0);
    unsigned older = order_next();
    CUdeviceptr p = mapped_in(r, order_a);
    unsigned newer = order_next();
    EXPECT_OK(cuMemsetD8Async(p, 1, ORDER_B, order_b));
    EXPECT_UNORDERED(O01, older, newer);
}

// ---- the process ----

static int fails_with(const char *check)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        test_setting("CARDLESS_CHECK", check);
        order_begin_here();
        order_write(order_a);
        order_read(order_b);
        printf("# %s: written before the end\n", check);
        exit(3);
    }
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
}

TEST(exit_code)
{
    int status = fails_with("order,exit");
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 66);
    status = fails_with("order");
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

// The line at the end of a process that makes mistakes, and writes columns of the same rows before
// it writes a part of all of them.
static const char *last_line(unsigned mistakes, unsigned columns)
{
    static char line[256];
    int ends[2];
    MUST(pipe(ends) ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        order_begin();
        for (unsigned i = 0; i < mistakes; i++) {
            MUST(cuMemsetD8Async(order_p + i, 1, 1, order_a));
            MUST(cuMemcpyDtoDAsync(order_q + i, order_p + i, 1,
                                   i ? order_stream(CU_STREAM_NON_BLOCKING) : order_b));
        }
        CUdeviceptr rows = order_memory(1024);
        for (unsigned i = 0; i < columns; i++)
            MUST(cuMemsetD2D8Async(rows + i, 128, 1, 1, 8, order_a));
        MUST(cuMemsetD2D8Async(rows, 128, 1, 100, 4, order_a));
        exit(0);
    }
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    *line = 0;
    while (f && fgets(line, sizeof line, f))
        ;
    fclose(f);
    EXPECT_EQ(waitpid(child, NULL, 0), child);
    return line;
}

TEST(line_at_the_end)
{
    EXPECT(strstr(last_line(0, 0), ": no access without order was found\n"));
    EXPECT(strstr(last_line(1, 0), ": 1 access without order was found\n"));
    EXPECT(strstr(last_line(2, 0), ": 2 accesses without order were found\n"));
    // As many older accesses as one access compares, and one more.
    EXPECT(strstr(last_line(0, 64), ": no access without order was found\n"));
    EXPECT(
        strstr(last_line(0, 65), "found; there were too many accesses to compare all of them\n"));
}

TEST(abort_at_the_call)
{
    int status = fails_with("order,abort");
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

// A forked child cannot use the card, and ends without a report of the parent's mistakes.
TEST(forked_child)
{
    test_setting("CARDLESS_CHECK", "order,exit");
    order_begin_here();
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        exit(cuStreamSynchronize(order_a) == CUDA_ERROR_NOT_INITIALIZED ? 5 : 6);
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

// A program in which allocation `n` fails: 0 if no call failed, 1 if a call failed because it needs
// memory itself, and 66 if the checker has reported an order that the program has.
static int with_failing_allocation(unsigned n)
{
    int status = 0;
    char number[16];
    snprintf(number, sizeof number, "%u", n);
    pid_t child = fork();
    if (child == 0) {
        test_setting("CARDLESS_CHECK", "order,exit");
        test_setting("CARDLESS_FAIL_ALLOC", number);
        if (n && !freopen("/dev/null", "w", stdout)) // calls that need memory say that they fail
            exit(2);
        CUcontext c = order_begin_here();
        CUevent e = order_event();
        CUgraphExec x = instance(two_nodes(c, true).graph);
        for (unsigned i = 0; i < 4; i++) {
            MUST(cuMemsetD8Async(order_p, 1, ORDER_B, order_a));
            MUST(cuEventRecord(e, order_a));
            MUST(cuStreamWaitEvent(order_b, e, 0));
            MUST(cuMemcpyDtoDAsync(order_q, order_p, ORDER_B, order_b));
            MUST(cuGraphLaunch(x, order_b));
            MUST(cuStreamSynchronize(order_b));
        }
        exit(0);
    }
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Without memory the checker stops. It reports nothing wrong, and no call fails because of it.
TEST(failing_allocations)
{
    unsigned survived = 0;
    EXPECT_EQ(with_failing_allocation(0), 0);
    for (unsigned n = 1; n <= 120; n++) {
        int code = with_failing_allocation(n);
        EXPECT(code == 0 || code == 1);
        survived += code == 0;
    }
    EXPECT(survived > 20);
}

TESTS(CASE(timeline_semaphore), CASE(semaphore_awaited_first), CASE(semaphore_value_too_low),
      CASE(binary_semaphore), CASE(edges_of_a_graph), CASE(missing_edge_of_a_graph),
      CASE(launches_of_one_graph), CASE(launch_and_another_stream), CASE(event_in_a_graph),
      CASE(event_awaited_in_a_graph), CASE(captured_work), CASE(graphics),
      CASE(unmapped_in_another_stream), CASE(mapped_in_another_stream), CASE(exit_code),
      CASE(line_at_the_end), CASE(abort_at_the_call), CASE(forked_child), CASE(failing_allocations))
