// SPDX-License-Identifier: MIT
// Graphs: the order of nodes, each type of node, updates, and launches that wait.
#include <limits.h>
#include <pthread.h>

#include "../semaphore.h"

static CUcontext context;
static CUstream s, t;
static CUdeviceptr device; // 64 KiB
static uint32_t *words;    // 4 KiB of pinned memory …
static CUdeviceptr mapped; // … at this device address
enum { LOG = 65536 };
static atomic_uint logged;
static unsigned entries[LOG];

static void CUDA_CB put(void *value)
{
    entries[atomic_fetch_add(&logged, 1) % LOG] = (unsigned)(uintptr_t)value;
}

static void start(void)
{
    void *host;
    context = test_context();
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&device, 65536));
    MUST(cuMemsetD8(device, 0, 65536));
    MUST(cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    memset(host, 0, 4096);
    words = host;
    MUST(cuMemHostGetDevicePointer(&mapped, host, 0));
}

static CUgraph new_graph(void)
{
    CUgraph g;
    MUST(cuGraphCreate(&g, 0));
    return g;
}

static CUgraphNode add_empty(CUgraph g)
{
    CUgraphNode n;
    MUST(cuGraphAddEmptyNode(&n, g, NULL, 0));
    return n;
}

static CUgraphNode add_host(CUgraph g, CUgraphNode after, unsigned value)
{
    CUgraphNode n;
    CUDA_HOST_NODE_PARAMS p = {.fn = put, .userData = (void *)(uintptr_t)value};
    MUST(cuGraphAddHostNode(&n, g, after ? &after : NULL, after != NULL, &p));
    return n;
}

static CUDA_MEMSET_NODE_PARAMS fill_of(unsigned word, unsigned value)
{
    return (CUDA_MEMSET_NODE_PARAMS){
        .dst = device + 4 * word, .value = value, .elementSize = 4, .width = 1, .height = 1};
}

static CUgraphNode add_fill(CUgraph g, CUgraphNode after, unsigned word, unsigned value)
{
    CUgraphNode n;
    CUDA_MEMSET_NODE_PARAMS p = fill_of(word, value);
    MUST(cuGraphAddMemsetNode(&n, g, after ? &after : NULL, after != NULL, &p, context));
    return n;
}

static CUstreamBatchMemOpParams operation(CUstreamBatchMemOpType type, unsigned word,
                                          unsigned value)
{
    CUstreamBatchMemOpParams p = {.operation = type};
    if (type == CU_STREAM_MEM_OP_WAIT_VALUE_32) {
        p.waitValue.address = mapped + 4 * word;
        p.waitValue.value = value;
        p.waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    } else {
        p.writeValue.address = mapped + 4 * word;
        p.writeValue.value = value;
    }
    return p;
}

static CUgraphNode add_operation(CUgraph g, CUstreamBatchMemOpType type, unsigned word,
                                 unsigned value)
{
    CUgraphNode n;
    CUstreamBatchMemOpParams one = operation(type, word, value);
    CUDA_BATCH_MEM_OP_NODE_PARAMS p = {.ctx = context, .count = 1, .paramArray = &one};
    MUST(cuGraphAddBatchMemOpNode(&n, g, NULL, 0, &p));
    return n;
}

static CUgraphExec instantiate(CUgraph g)
{
    CUgraphExec x;
    MUST(cuGraphInstantiate(&x, g, 0));
    return x;
}

static unsigned word(unsigned at)
{
    unsigned v = 0;
    MUST(cuMemcpyDtoH(&v, device + 4 * at, 4));
    return v;
}

static void set_word(unsigned at, unsigned value)
{
    __atomic_store_n(&words[at], value, __ATOMIC_RELEASE);
}

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

static cuuint64_t used_by_graphs(void)
{
    cuuint64_t used;
    MUST(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
    return used;
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
    EXPECT_EQ(used_by_graphs(), 2000);
    x = instantiate(g);
    EXPECT_ERROR(cuGraphInstantiate(&y, g, 0), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_ERROR(cuMemFree(q), CUDA_ERROR_INVALID_VALUE); // no launch has allocated it
    EXPECT_OK(cuGraphLaunch(x, s));
    EXPECT_ERROR(cuGraphLaunch(x, s), CUDA_ERROR_INVALID_VALUE); // q is not free
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
    EXPECT_EQ(used_by_graphs(), 1000); // q outlives the graph
    EXPECT_OK(cuMemsetD8(q, 1, 1000));
    EXPECT_OK(cuMemFree(q));
    EXPECT_EQ(used_by_graphs(), 0);
    EXPECT_OK(cuDeviceGraphMemTrim(0));
    MUST(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &(cuuint64_t){0}));
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

TESTS(CASE(copies_and_fills), CASE(branches_wait_for_each_other), CASE(waits_for_the_program),
      CASE(events), CASE(barrier_after_launch), CASE(semaphores), CASE(memory),
      CASE(captured_memory), CASE(child_graphs), CASE(lists_of_nodes), CASE(random_order),
      CASE(cycles), CASE(update_while_pending), CASE(launches_do_not_overlap), CASE(context_ends),
      CASE(fault), CASE(threads), CASE(user_objects))
