// SPDX-License-Identifier: MIT
// Random walks over streams, events and graphs, while some of the streams capture. The order and
// number of the draws must not change.
#include "draw.h"
#include "record.h"

enum { STREAMS = 5, EVENTS = 3, STEPS = 24, WALKS = 400, SIZE = 4096 };

// NULL, CU_STREAM_PER_THREAD, two blocking ones, one that does not block.
static CUstream streams[STREAMS];
static CUevent events[EVENTS];
static CUdeviceptr memory, allocated;
static unsigned char *host;
static CUgraph target;
static bool to_target[STREAMS]; // captures to it
static CUgraphExec exec;

static void host_function(void *unused)
{
    (void)unused;
}

// Work may or may not be over: a card takes its time.
static const char *brief(CUresult r)
{
    return r == CUDA_ERROR_NOT_READY ? "ok" : record_brief(r);
}

static void make_stream(int s)
{
    NEED(cuStreamCreate(&streams[s], s == 4 ? CU_STREAM_NON_BLOCKING : 0));
}

static int compare_types(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void say_graph(CUgraph graph)
{
    CUgraphNode nodes[64];
    int types[64];
    size_t count = 64, edges = 0, roots = 0;
    if (cuGraphGetNodes(graph, nodes, &count) || cuGraphGetEdges(graph, NULL, NULL, NULL, &edges) ||
        cuGraphGetRootNodes(graph, NULL, &roots)) {
        SAY("no-graph");
        return;
    }
    count = count < 64 ? count : 64;
    for (size_t i = 0; i < count; i++) {
        CUgraphNodeType type = (CUgraphNodeType)99;
        cuGraphNodeGetType(nodes[i], &type);
        types[i] = (int)type;
    }
    qsort(types, count, sizeof *types, compare_types);
    SAY("n%zu,e%zu,r%zu", count, edges, roots);
    for (size_t i = 0; i < count; i++)
        SAY("%c%d", i ? '.' : ':', types[i]);
}

static void begin(int s)
{
    CUstreamCaptureMode mode = (CUstreamCaptureMode)(chance(95) ? draw() % 3 : 3);
    bool busy = false;
    for (int i = 0; i < STREAMS; i++)
        busy |= to_target[i];
    if (chance(80) || busy) {
        SAY("begin%d,%d=%s ", s, (int)mode, brief(cuStreamBeginCapture(streams[s], mode)));
        return;
    }
    CUresult r = cuStreamBeginCaptureToGraph(streams[s], target, NULL, NULL, 0, mode);
    SAY("begin-to%d,%d=%s ", s, (int)mode, brief(r));
    to_target[s] = !r;
}

// A capture that fails destroys its graph, even if the program had made it.
static void forget_target(int s)
{
    if (to_target[s])
        NEED(cuGraphCreate(&target, 0));
    to_target[s] = false;
}

static void end(int s)
{
    CUgraph graph = NULL;
    CUresult r = cuStreamEndCapture(streams[s], &graph);
    SAY("end%d=%s", s, brief(r));
    if (graph) {
        SAY(",");
        say_graph(graph);
        if (graph != target)
            cuGraphDestroy(graph);
        else
            to_target[s] = false;
    } else if (r == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
               r == CUDA_ERROR_STREAM_CAPTURE_UNJOINED) {
        forget_target(s);
    }
    SAY(" ");
}

// Streams run at the same time, so each writes bytes of its own. The last two places are those of
// the instantiated graph and of calls without a stream.
static CUdeviceptr place_of(int s)
{
    return memory + 64 * (CUdeviceptr)s;
}

static void work(int s)
{
    unsigned char *from = host + draw() % 64;
    const CUdeviceptr own = place_of(s);
    CUstreamBatchMemOpParams write = {
        .writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = own, .value = 1}};
    CUdeviceptr p = 0;
    CUresult r;
    switch (draw() % 8) {
    case 0:
    case 1:
        SAY("set%d=%s ", s, brief(cuMemsetD8Async(own, 1, 64, streams[s])));
        break;
    case 2:
        SAY("to%d=%s ", s, brief(cuMemcpyHtoDAsync(own, from, 64, streams[s])));
        break;
    case 3:
        SAY("copy%d=%s ", s, brief(cuMemcpyDtoDAsync(own, memory + 1024, 64, streams[s])));
        break;
    case 4:
        SAY("host%d=%s ", s, brief(cuLaunchHostFunc(streams[s], host_function, NULL)));
        break;
    case 5:
        SAY("ops%d=%s ", s, brief(cuStreamBatchMemOp(streams[s], 1, &write, 0)));
        break;
    case 6:
        r = cuMemAllocAsync(&p, 512, streams[s]);
        SAY("alloc%d=%s ", s, brief(r));
        if (!r && !allocated)
            allocated = p;
        break;
    case 7:
        SAY("free%d=%s ", s, brief(cuMemFreeAsync(allocated, streams[s])));
        allocated = 0;
        break;
    }
}

static void order(int s)
{
    int e = (int)(draw() % EVENTS);
    unsigned flags = chance(85) ? 0 : 1;
    if (chance(50))
        SAY("rec%d,%d,%u=%s ", e, s, flags,
            brief(cuEventRecordWithFlags(events[e], streams[s], flags)));
    else
        SAY("wait%d,%d,%u=%s ", s, e, flags,
            brief(cuStreamWaitEvent(streams[s], events[e], flags)));
}

static void ask(int s)
{
    int e = (int)(draw() % EVENTS);
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)9;
    cuuint64_t id = 0;
    CUgraph graph = NULL;
    const CUgraphNode *nodes = NULL;
    const CUgraphEdgeData *data = NULL;
    size_t count = 77;
    float ms;
    CUresult r;
    switch (draw() % 8) {
    case 0:
    case 1:
        r = cuStreamIsCapturing(streams[s], &status);
        SAY("is%d=%s,%d ", s, brief(r), (int)status);
        break;
    case 2:
        r = cuStreamGetCaptureInfo(streams[s], &status, &id, &graph, &nodes, &data, &count);
        SAY("info%d=%s,%d,%d,%d,%zu ", s, brief(r), (int)status, id != 0, graph != NULL, count);
        break;
    case 3:
        SAY("query%d=%s ", s, brief(cuStreamQuery(streams[s])));
        break;
    case 4:
        SAY("sync%d=%s ", s, brief(cuStreamSynchronize(streams[s])));
        break;
    case 5:
        SAY("equery%d=%s ", e, brief(cuEventQuery(events[e])));
        break;
    case 6:
        SAY("esync%d=%s ", e, brief(cuEventSynchronize(events[e])));
        break;
    case 7:
        SAY("elapsed=%s ", brief(cuEventElapsedTime(&ms, events[e], events[(e + 1) % EVENTS])));
        break;
    }
}

static void change_dependencies(int s)
{
    CUstreamCaptureStatus status;
    cuuint64_t id;
    CUgraph graph = NULL;
    CUgraphNode nodes[64], node = NULL;
    size_t count = 64;
    unsigned flags =
        chance(50) ? CU_STREAM_SET_CAPTURE_DEPENDENCIES : CU_STREAM_ADD_CAPTURE_DEPENDENCIES;
    bool nothing = chance(25);
    if (cuStreamGetCaptureInfo(streams[s], &status, &id, &graph, NULL, NULL, NULL) || !graph)
        return;
    if (!cuGraphGetNodes(graph, nodes, &count) && count)
        node = nodes[0];
    CUresult r =
        cuStreamUpdateCaptureDependencies(streams[s], &node, NULL, !nothing && node, flags);
    SAY("deps%d,%u,%d=%s ", s, flags, !nothing && node, brief(r));
}

static void other(int s)
{
    int e = (int)(draw() % EVENTS);
    CUstreamCaptureMode mode = (CUstreamCaptureMode)(draw() % 3);
    CUdeviceptr p = 0;
    CUresult r;
    switch (draw() % 10) {
    case 0:
        SAY("ctxsync=%s ", brief(cuCtxSynchronize()));
        break;
    case 1:
        r = cuMemAlloc(&p, 64);
        SAY("malloc=%s ", brief(r));
        if (!r)
            SAY("mfree=%s ", brief(cuMemFree(p)));
        break;
    case 2:
        SAY("memset=%s ", brief(cuMemsetD8(place_of(STREAMS + 1), 2, 64)));
        break;
    case 3:
        SAY("dtoh=%s ", brief(cuMemcpyDtoH(host + 1024, place_of(STREAMS + 1), 64)));
        break;
    case 4:
        r = cuThreadExchangeStreamCaptureMode(&mode);
        SAY("exchange=%s,%d ", brief(r), (int)mode);
        break;
    case 5:
        if (s < 2)
            break;
        SAY("destroy%d=%s ", s, brief(cuStreamDestroy(streams[s])));
        forget_target(s);
        make_stream(s);
        break;
    case 6:
        SAY("edestroy%d=%s ", e, brief(cuEventDestroy(events[e])));
        NEED(cuEventCreate(&events[e], 0));
        break;
    case 7:
    case 8:
        change_dependencies(s);
        break;
    case 9:
        SAY("launch%d=%s ", s, brief(cuGraphLaunch(exec, streams[s])));
        break;
    }
}

static void set_up(void)
{
    CUgraph graph;
    CUgraphNode node;
    CUdeviceptr p;
    CUcontext context;
    record_context();
    NEED(cuCtxGetCurrent(&context));
    NEED(cuMemAlloc(&memory, SIZE));
    NEED(cuMemHostAlloc((void **)&host, SIZE, 0));
    NEED(cuGraphCreate(&graph, 0));
    const CUDA_MEMSET_NODE_PARAMS set = {
        .dst = place_of(STREAMS), .elementSize = 1, .width = 64, .height = 1, .value = 3};
    NEED(cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, context));
    NEED(cuGraphInstantiate(&exec, graph, 0));
    NEED(cuMemAllocAsync(&p, 512, NULL)); // the pool exists before the first capture
    NEED(cuMemFreeAsync(p, NULL));
    NEED(cuCtxSynchronize());
}

static void clean_up(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    for (int s = 0; s < STREAMS; s++) {
        CUgraph graph = NULL;
        cuStreamEndCapture(streams[s], &graph);
        if (graph && graph != target)
            cuGraphDestroy(graph);
        to_target[s] = false;
    }
    for (int s = 2; s < STREAMS; s++)
        cuStreamDestroy(streams[s]);
    for (int e = 0; e < EVENTS; e++)
        cuEventDestroy(events[e]);
    cuThreadExchangeStreamCaptureMode(&mode);
    cuGraphDestroy(target);
    cuCtxSynchronize();
    if (allocated)
        cuMemFreeAsync(allocated, NULL);
    allocated = 0;
    cuCtxSynchronize();
}

static void step(void)
{
    int s = chance(85) ? 2 + (int)(draw() % 3) : (int)(draw() % 2);
    uint64_t kind = draw() % 100;
    if (kind < 18)
        begin(s);
    else if (kind < 30)
        end(s);
    else if (kind < 52)
        work(s);
    else if (kind < 74)
        order(s);
    else if (kind < 89)
        ask(s);
    else
        other(s);
}

GROUP(captures)
{
    set_up();
    for (int i = 0; i < WALKS; i++) {
        draw_seed(700000 + (uint64_t)i);
        if (!CASE("walk-%d", i))
            continue;
        streams[0] = NULL;
        streams[1] = CU_STREAM_PER_THREAD;
        for (int s = 2; s < STREAMS; s++)
            make_stream(s);
        for (int e = 0; e < EVENTS; e++)
            NEED(cuEventCreate(&events[e], 0));
        NEED(cuGraphCreate(&target, 0));
        for (int n = 0; n < STEPS; n++)
            step();
        for (int s = 0; s < STREAMS; s++)
            end(s);
        clean_up();
    }
}

int main(int argc, char **argv)
{
    RUN(captures);
    return 0;
}
