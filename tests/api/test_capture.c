// SPDX-License-Identifier: MIT
// Stream capture: nodes of captured work, streams that join, calls that are not allowed, and what
// ends a capture.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../harness.h"

static CUcontext context;
static CUstream s, t; // CU_STREAM_NON_BLOCKING
static CUdeviceptr device;
static uint32_t *pinned;
static atomic_int ran;

static void CUDA_CB count(void *unused)
{
    (void)unused;
    ran++;
}

static void start(void)
{
    void *host;
    context = test_context();
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&device, 4096));
    MUST(cuMemsetD8(device, 0, 4096));
    MUST(cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    memset(host, 0, 4096);
    pinned = host;
}

static CUevent new_event(void)
{
    CUevent e;
    MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    return e;
}

static void begin(CUstream stream)
{
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
}

static CUgraph end(CUstream stream)
{
    CUgraph g;
    MUST(cuStreamEndCapture(stream, &g));
    return g;
}

static CUstreamCaptureStatus status_of(CUstream stream)
{
    CUstreamCaptureStatus status;
    MUST(cuStreamIsCapturing(stream, &status));
    return status;
}

static void run(CUgraph g, CUstream stream)
{
    CUgraphExec x;
    MUST(cuGraphInstantiate(&x, g, 0));
    MUST(cuGraphLaunch(x, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuGraphExecDestroy(x));
}

// ---- nodes ----

// The types of all nodes, in their order.
static void expect_types(CUgraph g, const CUgraphNodeType *types, size_t wanted)
{
    CUgraphNode nodes[32];
    size_t n = 32;
    MUST(cuGraphGetNodes(g, nodes, &n));
    EXPECT_EQ(n, wanted);
    for (size_t i = 0; i < n && i < wanted; i++) {
        CUgraphNodeType type;
        MUST(cuGraphNodeGetType(nodes[i], &type));
        EXPECT_EQ(type, types[i]);
    }
}

TEST(one_stream)
{
    static const CUgraphNodeType types[] = {CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_MEMCPY,
                                            CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_HOST,
                                            CU_GRAPH_NODE_TYPE_BATCH_MEM_OP};
    size_t edges = 9;
    start();
    begin(s);
    EXPECT_OK(cuMemsetD32Async(device, 5, 16, s));
    EXPECT_OK(cuMemcpyDtoDAsync(device + 256, device, 64, s));
    EXPECT_OK(cuMemcpyDtoHAsync(pinned, device + 256, 64, s));
    EXPECT_OK(cuLaunchHostFunc(s, count, NULL));
    EXPECT_OK(cuStreamWriteValue32(s, device + 128, 77, 0));
    EXPECT_OK(cuMemsetD8Async(device, 1, 0, s)); // nothing to do: no node
    EXPECT_EQ(status_of(s), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CUgraph g = end(s);
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(pinned[0], 0);
    expect_types(g, types, 5);
    MUST(cuGraphGetEdges(g, NULL, NULL, NULL, &edges));
    EXPECT_EQ(edges, 4);
    run(g, t);
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(pinned[0], 5);
    EXPECT_EQ(pinned[15], 5);
    uint32_t word = 0;
    MUST(cuMemcpyDtoH(&word, device + 128, 4));
    EXPECT_EQ(word, 77);
}

// The work of other streams becomes nodes after they have waited for an event of the capture.
TEST(fork_and_join)
{
    size_t n = 0, edges = 0;
    start();
    CUevent fork = new_event(), join = new_event();
    begin(s);
    MUST(cuMemsetD32Async(device, 1, 1, s));
    MUST(cuEventRecord(fork, s));
    EXPECT_EQ(status_of(t), CU_STREAM_CAPTURE_STATUS_NONE);
    MUST(cuStreamWaitEvent(t, fork, 0));
    EXPECT_EQ(status_of(t), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    MUST(cuMemcpyDtoDAsync(device + 4, device, 4, t));
    MUST(cuMemcpyDtoDAsync(device + 8, device, 4, s));
    MUST(cuEventRecord(join, t));
    MUST(cuStreamWaitEvent(s, join, 0));
    MUST(cuMemcpyDtoHAsync(pinned, device, 12, s));
    CUgraph g = end(s);
    EXPECT_EQ(status_of(t), CU_STREAM_CAPTURE_STATUS_NONE);
    MUST(cuGraphGetNodes(g, NULL, &n));
    MUST(cuGraphGetEdges(g, NULL, NULL, NULL, &edges));
    EXPECT_EQ(n, 4);
    EXPECT_EQ(edges, 4);
    run(g, s);
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(pinned[i], 1);
    // The events belong to a capture that has ended, until they are recorded again.
    EXPECT_ERROR(cuEventQuery(join), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuStreamWaitEvent(t, join, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuEventRecord(join, t));
    EXPECT_OK(cuEventSynchronize(join));
}

TEST(unjoined)
{
    CUgraph g = NULL;
    start();
    CUevent fork = new_event();
    begin(s);
    MUST(cuEventRecord(fork, s));
    MUST(cuStreamWaitEvent(t, fork, 0));
    MUST(cuMemsetD8Async(device, 1, 1, t));
    EXPECT_ERROR(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    EXPECT(g == NULL);
    EXPECT_EQ(status_of(t), CU_STREAM_CAPTURE_STATUS_NONE);
    EXPECT_OK(cuStreamSynchronize(t));
    begin(s);
    MUST(cuEventRecord(fork, s));
    MUST(cuStreamWaitEvent(t, fork, 0));
    EXPECT_ERROR(cuStreamEndCapture(t, &g), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    EXPECT_ERROR(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST(to_a_graph)
{
    static const CUgraphNodeType types[] = {CU_GRAPH_NODE_TYPE_EMPTY, CU_GRAPH_NODE_TYPE_MEMSET};
    CUgraph g, same;
    CUgraphNode n, last;
    const CUgraphNode *after;
    size_t edges = 0, last_count = 0;
    CUstreamCaptureStatus status;
    start();
    MUST(cuGraphCreate(&g, 0));
    MUST(cuGraphAddEmptyNode(&n, g, NULL, 0));
    MUST(cuStreamBeginCaptureToGraph(s, g, &n, NULL, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
    MUST(cuMemsetD8Async(device, 1, 1, s));
    MUST(cuStreamGetCaptureInfo(s, &status, NULL, &same, &after, NULL, &last_count));
    EXPECT(same == g);
    EXPECT_EQ(last_count, 1);
    last = after[0];
    EXPECT_ERROR(cuGraphDestroy(g), CUDA_ERROR_ILLEGAL_STATE);
    EXPECT_ERROR(cuGraphDestroyNode(last), CUDA_ERROR_ILLEGAL_STATE);
    MUST(cuStreamUpdateCaptureDependencies(s, &n, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    EXPECT(end(s) == g);
    expect_types(g, types, 2);
    MUST(cuGraphGetEdges(g, NULL, NULL, NULL, &edges));
    EXPECT_EQ(edges, 1);
    EXPECT_OK(cuGraphDestroy(g));
}

TEST(external_events)
{
    static const CUgraphNodeType types[] = {CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                            CU_GRAPH_NODE_TYPE_WAIT_EVENT};
    start();
    CUevent e = new_event();
    EXPECT_ERROR(cuEventRecordWithFlags(e, s, CU_EVENT_RECORD_EXTERNAL), CUDA_ERROR_ILLEGAL_STATE);
    begin(s);
    EXPECT_OK(cuEventRecordWithFlags(e, s, CU_EVENT_RECORD_EXTERNAL));
    EXPECT_OK(cuStreamWaitEvent(s, e, CU_EVENT_WAIT_EXTERNAL));
    expect_types(end(s), types, 2);
}

// ---- what is not allowed ----

static void expect_invalid(CUstream stream)
{
    CUgraph g;
    EXPECT_EQ(status_of(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    EXPECT_ERROR(cuMemsetD8Async(device, 1, 1, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_ERROR(cuStreamEndCapture(stream, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(status_of(stream), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST(invalidated)
{
    CUdeviceptr p;
    CUstream blocking;
    start();
    CUevent outside = new_event(), inside = new_event();
    MUST(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    MUST(cuEventRecord(outside, t));
    begin(s);
    EXPECT_ERROR(cuStreamSynchronize(s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_invalid(s);
    begin(s);
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_invalid(s);
    begin(s);
    EXPECT_ERROR(cuCtxRecordEvent(context, inside), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_invalid(s);
    begin(s);
    EXPECT_ERROR(cuMemAlloc(&p, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_invalid(s);
    begin(s);
    EXPECT_ERROR(cuStreamWaitEvent(s, outside, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    expect_invalid(s);
    begin(s);
    MUST(cuEventRecord(inside, s));
    EXPECT_ERROR(cuEventQuery(inside), CUDA_ERROR_CAPTURED_EVENT);
    expect_invalid(s);
    begin(s);
    MUST(cuEventRecord(inside, s));
    begin(t);
    EXPECT_ERROR(cuStreamWaitEvent(t, inside, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
    expect_invalid(t);
    expect_invalid(s);
    begin(blocking);
    EXPECT_ERROR(cuMemsetD8(device, 1, 1), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    expect_invalid(blocking);
    EXPECT_ERROR(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_RELAXED),
                 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EXPECT_OK(cuCtxSynchronize());
}

// Memory that a captured fill names is checked when the graph is instantiated.
TEST(checked_later)
{
    CUgraphExec x;
    start();
    begin(s);
    EXPECT_OK(cuMemsetD8Async(0x1000, 1, 16, s));
    CUgraph g = end(s);
    EXPECT_ERROR(cuGraphInstantiate(&x, g, 0), CUDA_ERROR_INVALID_VALUE);
}

// ---- modes and threads ----

struct attempt {
    CUstreamCaptureMode mode;
    bool alloc;
    CUresult result;
};

static void *attempt(void *argument)
{
    struct attempt *a = argument;
    CUdeviceptr p;
    CUgraph g;
    CUstreamCaptureMode mode = a->mode;
    MUST(cuCtxSetCurrent(context));
    MUST(cuThreadExchangeStreamCaptureMode(&mode));
    a->result = a->alloc ? cuMemAlloc(&p, 64) : cuStreamEndCapture(s, &g);
    return NULL;
}

static CUresult in_thread(CUstreamCaptureMode mode, bool alloc)
{
    struct attempt a = {.mode = mode, .alloc = alloc};
    pthread_t thread;
    EXPECT_EQ(pthread_create(&thread, NULL, attempt, &a), 0);
    pthread_join(thread, NULL);
    return a.result;
}

// Whether an unsafe call fails: the mode of the capture, that of the thread, and whose capture it
// is decide.
TEST(modes)
{
    CUdeviceptr p;
    CUgraph g;
    start();
    for (int capture = 0; capture < 3; capture++) {
        for (int thread = 0; thread < 3; thread++) {
            CUstreamCaptureMode mode = (CUstreamCaptureMode)thread;
            const CUresult no = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
            MUST(cuStreamBeginCapture(s, (CUstreamCaptureMode)capture));
            EXPECT_ERROR(in_thread(mode, true), !capture && !thread ? no : CUDA_SUCCESS);
            (void)cuStreamEndCapture(s, &g);
            MUST(cuStreamBeginCapture(s, (CUstreamCaptureMode)capture));
            MUST(cuThreadExchangeStreamCaptureMode(&mode));
            EXPECT_ERROR(cuMemAlloc(&p, 64), capture < 2 && thread < 2 ? no : CUDA_SUCCESS);
            MUST(cuThreadExchangeStreamCaptureMode(&mode));
            (void)cuStreamEndCapture(s, &g);
        }
    }
}

TEST(other_thread_ends)
{
    CUgraph g;
    start();
    begin(s);
    EXPECT_ERROR(in_thread(CU_STREAM_CAPTURE_MODE_GLOBAL, false),
                 CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    EXPECT_ERROR(cuStreamEndCapture(s, &g), CUDA_ERROR_ILLEGAL_STATE);
    MUST(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_OK(in_thread(CU_STREAM_CAPTURE_MODE_GLOBAL, false));
}

// ---- ends ----

TEST(stream_destroyed)
{
    CUdeviceptr p;
    CUstream u;
    start();
    CUevent e = new_event();
    begin(t);
    MUST(cuMemsetD8Async(device, 1, 1, t));
    MUST(cuEventRecord(e, t));
    EXPECT_OK(cuStreamDestroy(t));
    EXPECT_OK(cuMemAlloc(&p, 64)); // the capture has ended
    EXPECT_ERROR(cuEventQuery(e), CUDA_ERROR_INVALID_VALUE);
    begin(s);
    MUST(cuEventRecord(e, s));
    MUST(cuStreamCreate(&u, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamWaitEvent(u, e, 0));
    MUST(cuMemsetD8Async(device, 1, 1, u));
    EXPECT_OK(cuStreamDestroy(u)); // had joined, and its work is not waited for
    CUgraph g;
    EXPECT_ERROR(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    begin(s);
    MUST(cuEventRecord(e, s));
    MUST(cuStreamCreate(&u, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamWaitEvent(u, e, 0));
    MUST(cuMemsetD8Async(device, 1, 1, u));
    MUST(cuEventRecord(e, u));
    EXPECT_OK(cuStreamDestroy(u));
    MUST(cuStreamWaitEvent(s, e, 0));
    EXPECT_OK(cuStreamEndCapture(s, &g)); // the work that it had done is joined
    size_t nodes = 0;
    EXPECT_OK(cuGraphGetNodes(g, NULL, &nodes));
    EXPECT_EQ(nodes, 1);
    MUST(cuGraphDestroy(g));
}

TEST(context_destroyed)
{
    CUevent e;
    start();
    e = new_event();
    begin(s);
    MUST(cuMemsetD8Async(device, 1, 1, s));
    MUST(cuEventRecord(e, s));
    EXPECT_OK(cuDevicePrimaryCtxReset(0));
    context = test_context();
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    EXPECT_OK(cuStreamSynchronize(s));
}

// ---- fork ----

static atomic_bool stop;

// Captures again and again, so that a fork finds the driver in the middle of a capture.
static void *capture_on(void *unused)
{
    (void)unused;
    MUST(cuCtxSetCurrent(context));
    while (!atomic_load(&stop)) {
        CUgraph g;
        EXPECT_OK(cuStreamBeginCapture(t, CU_STREAM_CAPTURE_MODE_RELAXED));
        for (int i = 0; i < 4; i++)
            EXPECT_OK(cuMemsetD8Async(device + 64, 1, 1, t));
        EXPECT_OK(cuStreamEndCapture(t, &g));
        EXPECT_OK(cuGraphDestroy(g));
    }
    return NULL;
}

// In a child the driver does not work, but its calls return.
static int call_in_child(void)
{
    CUgraph g;
    alarm(20);
    return cuStreamEndCapture(s, &g) == CUDA_ERROR_NOT_INITIALIZED &&
           cuMemsetD8Async(device, 1, 1, s) == CUDA_ERROR_NOT_INITIALIZED &&
           cuStreamBeginCapture(t, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_ERROR_NOT_INITIALIZED &&
           cuGraphCreate(&g, 0) == CUDA_ERROR_NOT_INITIALIZED;
}

TEST(fork_during_captures)
{
    pthread_t thread;
    start();
    MUST(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    MUST(cuMemsetD8Async(device, 7, 1, s));
    pthread_create(&thread, NULL, capture_on, NULL);
    for (int i = 0; i < 20; i++) {
        int status = -1;
        pid_t child = fork();
        if (!child)
            _exit(!call_in_child());
        EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    EXPECT_OK(cuMemsetD8Async(device + 1, 8, 1, s));
    run(end(s), s);
}

TESTS(CASE(one_stream), CASE(fork_and_join), CASE(unjoined), CASE(to_a_graph),
      CASE(external_events), CASE(invalidated), CASE(checked_later), CASE(modes),
      CASE(other_thread_ends), CASE(stream_destroyed), CASE(context_destroyed),
      CASE(fork_during_captures))
