// SPDX-License-Identifier: MIT
// Graphs: each type of node, and lists of nodes.
#include "graph.h"

// ---- each type of node ----

TEST(copies_and_fills)
{
    start();
    CUgraph g = new_graph();
    CUgraphNode a = add_fill(g, NULL, 0, 7), b;
    CUDA_MEMCPY3D p = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = device,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = words,
                       .WidthInBytes = 4,
                       .Height = 1,
                       .Depth = 1};
    MUST(cuGraphAddMemcpyNode(&b, g, &a, 1, &p, context));
    CUgraphExec x = instantiate(g);
    EXPECT_EQ(words[0], 0);
    EXPECT_OK(cuGraphLaunch(x, s));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(words[0], 7);
    CUDA_MEMSET_NODE_PARAMS f = fill_of(0, 9), got;
    EXPECT_OK(cuGraphExecMemsetNodeSetParams(x, a, &f, context));
    EXPECT_OK(cuGraphMemsetNodeGetParams(a, &got));
    EXPECT_EQ(got.value, 7); // the graph itself stays the same
    EXPECT_OK(cuGraphLaunch(x, s));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(words[0], 9);
    EXPECT_OK(cuGraphExecDestroy(x));
    EXPECT_OK(cuGraphDestroy(g));
    EXPECT_ERROR(cuGraphLaunch(x, s), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphDestroyNode(a), CUDA_ERROR_INVALID_VALUE);
}

// A branch that waits does not stop the branch that ends the wait.
TEST(branches_wait_for_each_other)
{
    start();
    CUgraph g = new_graph();
    add_operation(g, CU_STREAM_MEM_OP_WAIT_VALUE_32, 0, 5);
    add_operation(g, CU_STREAM_MEM_OP_WRITE_VALUE_32, 0, 5);
    CUgraphExec x = instantiate(g);
    EXPECT_OK(cuGraphLaunch(x, s));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(words[0], 5);
}

TEST(waits_for_the_program)
{
    start();
    CUgraph g = new_graph();
    CUgraphNode a = add_operation(g, CU_STREAM_MEM_OP_WAIT_VALUE_32, 0, 1);
    add_host(g, a, 1);
    CUgraphExec x = instantiate(g);
    MUST(cuGraphLaunch(x, s));
    EXPECT_ERROR(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(logged, 0);
    set_word(0, 1);
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(logged, 1);
    MUST(cuGraphLaunch(x, s)); // starts with the first operation again
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(logged, 2);
}

TEST(events)
{
    CUevent e, f;
    CUgraphNode n, m;
    start();
    MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&f, CU_EVENT_DISABLE_TIMING));
    // The graph waits for e, which the stream t records, and records f.
    CUgraph g = new_graph();
    MUST(cuGraphAddEventWaitNode(&n, g, NULL, 0, e));
    CUgraphNode h = add_host(g, n, 1);
    MUST(cuGraphAddEventRecordNode(&m, g, &h, 1, f));
    CUgraphExec x = instantiate(g);
    MUST(cuStreamWaitValue32(t, mapped, 1, CU_STREAM_WAIT_VALUE_EQ));
    MUST(cuEventRecord(e, t));
    MUST(cuGraphLaunch(x, s));
    EXPECT_ERROR(cuEventQuery(f), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(logged, 0);
    set_word(0, 1);
    EXPECT_OK(cuEventSynchronize(f));
    EXPECT_EQ(logged, 1);
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_OK(cuEventDestroy(e)); // the nodes keep them
    EXPECT_OK(cuEventDestroy(f));
    MUST(cuGraphLaunch(x, s));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(logged, 2);
}

// cuCtxWaitEvent holds back later work only, not the nodes of a graph that was launched before.
TEST(barrier_after_launch)
{
    CUevent e;
    start();
    MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    CUgraph g = new_graph();
    CUgraphNode a = add_operation(g, CU_STREAM_MEM_OP_WAIT_VALUE_32, 0, 1);
    add_host(g, a, 1);
    CUgraphExec x = instantiate(g);
    MUST(cuGraphLaunch(x, s));
    MUST(cuEventRecord(e, s));
    MUST(cuCtxWaitEvent(context, e));
    set_word(0, 1);
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(logged, 1);
}

static CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal_of(uint64_t value)
{
    return (CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS){.params.fence.value = value};
}

static CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait_of(uint64_t value)
{
    return (CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS){.params.fence.value = value};
}

// A wait for two semaphores, and a signal after it, built by calls and by capture.
TEST(semaphores)
{
    start();
    struct both a = timeline(0), b = timeline(0), c = timeline(0);
    CUexternalSemaphore waited[2] = {a.cuda, b.cuda};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS waits[2] = {wait_of(3), wait_of(4)};
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = signal_of(7);
    CUDA_EXT_SEM_WAIT_NODE_PARAMS w = {waited, waits, 2}, got;
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS g = {&c.cuda, &signal, 1};
    CUgraphNode n, m;
    CUgraph built = new_graph(), captured;
    uint64_t value = 0;
    MUST(cuGraphAddExternalSemaphoresWaitNode(&n, built, NULL, 0, &w));
    MUST(cuGraphAddExternalSemaphoresSignalNode(&m, built, &n, 1, &g));
    EXPECT_OK(cuGraphExternalSemaphoresWaitNodeGetParams(n, &got));
    EXPECT_EQ(got.numExtSems, 2);
    EXPECT_EQ(got.paramsArray[1].params.fence.value, 4);
    CUgraphExec x = instantiate(built);
    MUST(cuGraphLaunch(x, s));
    EXPECT_ERROR(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    MUST(cardlessSemaphoreSignal(a.host, 3));
    EXPECT_ERROR(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    MUST(cardlessSemaphoreSignal(b.host, 4));
    EXPECT_OK(cuStreamSynchronize(s));
    MUST(cardlessSemaphoreGetValue(c.host, &value));
    EXPECT_EQ(value, 7);
    signal = signal_of(9);
    EXPECT_OK(cuGraphExecExternalSemaphoresSignalNodeSetParams(x, m, &g));
    w.numExtSems = 1;
    EXPECT_ERROR(cuGraphExecExternalSemaphoresWaitNodeSetParams(x, n, &w),
                 CUDA_ERROR_INVALID_VALUE);
    MUST(cuGraphLaunch(x, s));
    EXPECT_OK(cuStreamSynchronize(s));
    MUST(cardlessSemaphoreGetValue(c.host, &value));
    EXPECT_EQ(value, 9);
    MUST(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    waits[0] = wait_of(9);
    signal = signal_of(11);
    MUST(cuWaitExternalSemaphoresAsync(&c.cuda, waits, 1, s));
    MUST(cuSignalExternalSemaphoresAsync(&c.cuda, &signal, 1, s));
    MUST(cuStreamEndCapture(s, &captured));
    MUST(cuGraphLaunch(instantiate(captured), s));
    EXPECT_OK(cuStreamSynchronize(s));
    MUST(cardlessSemaphoreGetValue(c.host, &value));
    EXPECT_EQ(value, 11);
}

static CUgraphNode add_alloc(CUgraph g, CUgraphNode after, size_t bytes, CUdeviceptr *out)
{
    CUgraphNode n;
    CUDA_MEM_ALLOC_NODE_PARAMS p = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}},
        .bytesize = bytes};
    MUST(cuGraphAddMemAllocNode(&n, g, after ? &after : NULL, after != NULL, &p));
    *out = p.dptr;
    return n;
}

// In blocks of 32 MiB. As on an H200, all reserved memory is used.
static cuuint64_t used_by_graphs(void)
{
    cuuint64_t used, reserved;
    MUST(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
    MUST(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved));
    EXPECT_EQ(used, reserved);
    EXPECT_EQ(used % (32 << 20), 0);
    return used >> 25;
}

TEST(memory)
{
    CUdeviceptr p, q;
    CUgraphNode n, f;
    CUgraphExec x, y;
    uint32_t value = 0;
    start();
    EXPECT_EQ(used_by_graphs(), 0);
    // p lives inside a launch, q until the program frees it.
    CUgraph g = new_graph(), clone;
    n = add_alloc(g, NULL, 1000, &p);
    n = add_alloc(g, n, 1000, &q);
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = p, .value = 5, .elementSize = 4, .width = 250, .height = 1};
    MUST(cuGraphAddMemsetNode(&n, g, &n, 1, &fill, context));
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = p,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = q,
                          .WidthInBytes = 1000,
                          .Height = 1,
                          .Depth = 1};
    MUST(cuGraphAddMemcpyNode(&n, g, &n, 1, &copy, context));
    MUST(cuGraphAddMemFreeNode(&f, g, &n, 1, p));
    EXPECT_ERROR(cuGraphAddMemFreeNode(&f, g, &n, 1, p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphAddMemFreeNode(&f, g, &n, 1, device), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphDestroyNode(f), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_ERROR(cuGraphClone(&clone, g), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(used_by_graphs(), 0); // before a launch
    x = instantiate(g);
    EXPECT_ERROR(cuGraphInstantiate(&y, g, 0), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_ERROR(cuMemFree(q), CUDA_ERROR_INVALID_VALUE); // no launch has allocated it
    EXPECT_OK(cuGraphLaunch(x, s));
    EXPECT_ERROR(cuGraphLaunch(x, s), CUDA_ERROR_INVALID_VALUE); // q is not free
    EXPECT_EQ(used_by_graphs(), 1);
    EXPECT_OK(cuStreamSynchronize(s));
    MUST(cuMemcpyDtoH(&value, q + 996, 4));
    EXPECT_EQ(value, 5);
    EXPECT_ERROR(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuMemFree(q));
    EXPECT_OK(cuGraphLaunch(x, s));
    EXPECT_OK(cuMemFreeAsync(q, s));
    EXPECT_OK(cuGraphLaunch(x, s));
    EXPECT_OK(cuStreamSynchronize(s));
    MUST(cuGraphExecDestroy(x));
    MUST(cuGraphDestroy(g));
    EXPECT_OK(cuDeviceGraphMemTrim(0));
    EXPECT_EQ(used_by_graphs(), 1); // q outlives the graph
    EXPECT_OK(cuMemsetD8(q, 1, 1000));
    EXPECT_OK(cuMemFree(q));
    EXPECT_EQ(used_by_graphs(), 1); // until a trim
    EXPECT_OK(cuDeviceGraphMemTrim(0));
    EXPECT_EQ(used_by_graphs(), 0);
}

// A graph with one allocation, which a node frees if `freed`.
static CUgraphExec graph_with_memory(size_t bytes, bool freed, CUdeviceptr *out)
{
    CUgraph g = new_graph();
    CUgraphNode n = add_alloc(g, NULL, bytes, out);
    if (freed)
        MUST(cuGraphAddMemFreeNode(&n, g, &n, 1, *out));
    return instantiate(g);
}

static cuuint64_t high(CUgraphMem_attribute attribute)
{
    cuuint64_t bytes;
    MUST(cuDeviceGetGraphMemAttribute(0, attribute, &bytes));
    return bytes >> 25;
}

// Each number is that of an H200 after the same calls.
TEST(blocks_of_memory)
{
    CUdeviceptr a, b;
    cuuint64_t zero = 0;
    start();
    CUgraphExec x = graph_with_memory(1, true, &a), y = graph_with_memory(1, true, &b);
    EXPECT_EQ(used_by_graphs(), 0);
    MUST(cuGraphLaunch(x, s));
    EXPECT_EQ(used_by_graphs(), 1);
    MUST(cuGraphLaunch(y, s)); // in the block that is idle again
    EXPECT_EQ(used_by_graphs(), 1);
    EXPECT_OK(cuDeviceGraphMemTrim(0)); // of graphs that can be launched again
    EXPECT_EQ(used_by_graphs(), 0);
    x = graph_with_memory(1, false, &a);
    y = graph_with_memory(1, false, &b);
    MUST(cuGraphLaunch(x, s));
    MUST(cuGraphLaunch(y, s));
    EXPECT_OK(cuDeviceGraphMemTrim(0));
    EXPECT_EQ(used_by_graphs(), 2);
    EXPECT_OK(cuMemFree(a));
    EXPECT_EQ(used_by_graphs(), 2);
    EXPECT_OK(cuDeviceGraphMemTrim(0));
    EXPECT_EQ(used_by_graphs(), 1);
    EXPECT_OK(cuMemFree(b));
    EXPECT_OK(cuDeviceGraphMemTrim(0));
    EXPECT_EQ(used_by_graphs(), 0);
    EXPECT_EQ(high(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 2);
    EXPECT_EQ(high(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), 2);
    MUST(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
    EXPECT_EQ(high(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 0);
    EXPECT_EQ(high(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), 2);
    MUST(cuGraphLaunch(graph_with_memory(40 << 20, true, &a), s));
    EXPECT_EQ(used_by_graphs(), 2);
    x = graph_with_memory(100 << 20, true, &b);
    EXPECT_OK(cuGraphUpload(x, s));
    EXPECT_EQ(used_by_graphs(), 4);
    MUST(cuGraphLaunch(x, s));
    EXPECT_EQ(used_by_graphs(), 4);
    MUST(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
    EXPECT_EQ(high(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 4);
}

TEST(captured_memory)
{
    CUdeviceptr p = 0;
    CUgraph g;
    CUgraphExec x;
    start();
    MUST(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EXPECT_OK(cuMemAllocAsync(&p, 64, s));
    EXPECT_OK(cuMemsetD32Async(p, 9, 16, s));
    EXPECT_OK(cuMemcpyDtoHAsync(words, p, 64, s));
    EXPECT_OK(cuMemFreeAsync(p, s));
    MUST(cuStreamEndCapture(s, &g));
    MUST(cuGraphInstantiate(&x, g, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    for (int i = 0; i < 3; i++) {
        words[15] = 0;
        EXPECT_OK(cuGraphLaunch(x, s));
        EXPECT_OK(cuStreamSynchronize(s));
        EXPECT_EQ(words[15], 9);
    }
}

TEST(child_graphs)
{
    start();
    CUgraph outer = new_graph(), inner = new_graph(), other = new_graph(), embedded;
    CUgraphNode n, a = add_host(inner, NULL, 2);
    add_host(inner, a, 3);
    a = add_host(outer, NULL, 1);
    MUST(cuGraphAddChildGraphNode(&n, outer, &a, 1, inner));
    add_host(outer, n, 4);
    add_host(inner, NULL, 99); // not part of the copy
    CUgraphExec x = instantiate(outer);
    MUST(cuGraphLaunch(x, s));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(logged, 4);
    for (unsigned i = 0; i < 4; i++)
        EXPECT_EQ(entries[i], i + 1);
    MUST(cuGraphChildGraphNodeGetGraph(n, &embedded));
    EXPECT_ERROR(cuGraphDestroy(embedded), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphAddChildGraphNode(&n, outer, NULL, 0, outer), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGraphAddChildGraphNode(&n, embedded, NULL, 0, outer), CUDA_ERROR_INVALID_VALUE);
    a = add_host(other, NULL, 12);
    add_host(other, a, 13);
    EXPECT_OK(cuGraphExecChildGraphNodeSetParams(x, n, other));
    EXPECT_ERROR(cuGraphExecChildGraphNodeSetParams(x, n, inner),
                 CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    MUST(cuGraphLaunch(x, s));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(entries[5], 12);
    EXPECT_EQ(entries[6], 13);
    EXPECT_OK(cuGraphDestroy(outer));
    EXPECT_ERROR(cuGraphGetNodes(embedded, NULL, &(size_t){0}), CUDA_ERROR_INVALID_VALUE);
}

// The entries that are left become NULL; a count that no array has does not count.
TEST(lists_of_nodes)
{
    start();
    CUgraph g = new_graph();
    CUgraphNode added = add_host(g, NULL, 1), list[3] = {NULL, added, added};
    size_t count = 3;
    EXPECT_OK(cuGraphGetNodes(g, list, &count));
    EXPECT_EQ(count, 1);
    EXPECT(list[0] == added && !list[1] && !list[2]);
    const size_t counts[] = {(size_t)1 << 40, ((size_t)1 << 61) + 1, SIZE_MAX};
    for (unsigned i = 0; i < 3; i++) {
        list[0] = NULL;
        count = counts[i];
        EXPECT_OK(cuGraphGetNodes(g, list, &count));
        EXPECT_EQ(count, 1);
        EXPECT_EQ(list[0], added);
        count = counts[i];
        EXPECT_OK(cuGraphGetRootNodes(g, list, &count));
        EXPECT_EQ(count, 1);
    }
}

static void expect_roots(CUgraph g, size_t count, const CUgraphNode *want)
{
    CUgraphNode got[8];
    size_t found = 8;
    EXPECT_OK(cuGraphGetRootNodes(g, got, &found));
    EXPECT_EQ(found, count);
    for (size_t i = 0; i < count && i < found; i++)
        EXPECT(got[i] == want[i]);
}

// The root that has become one last is the first, as on an H200.
TEST(order_of_roots)
{
    CUgraphNode n[4];
    start();
    CUgraph g = new_graph();
    for (int i = 0; i < 3; i++)
        MUST(cuGraphAddEmptyNode(&n[i], g, NULL, 0));
    MUST(cuGraphAddEmptyNode(&n[3], g, &n[1], 1));
    expect_roots(g, 3, (CUgraphNode[]){n[2], n[1], n[0]});
    MUST(cuGraphAddDependencies(g, &n[0], &n[1], NULL, 1));
    expect_roots(g, 2, (CUgraphNode[]){n[2], n[0]});
    MUST(cuGraphRemoveDependencies(g, &n[0], &n[1], NULL, 1));
    expect_roots(g, 3, (CUgraphNode[]){n[1], n[2], n[0]});
    MUST(cuGraphDestroyNode(n[1]));
    expect_roots(g, 3, (CUgraphNode[]){n[3], n[2], n[0]});
    MUST(cuGraphDestroyNode(n[2]));
    expect_roots(g, 2, (CUgraphNode[]){n[3], n[0]});
    EXPECT_OK(cuGraphDestroy(g));
}

TESTS(CASE(copies_and_fills), CASE(branches_wait_for_each_other), CASE(waits_for_the_program),
      CASE(events), CASE(barrier_after_launch), CASE(semaphores), CASE(memory),
      CASE(blocks_of_memory), CASE(captured_memory), CASE(child_graphs), CASE(lists_of_nodes),
      CASE(order_of_roots))
