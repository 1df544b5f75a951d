// SPDX-License-Identifier: MIT
// Rules of graphs and captures that the manual leaves open: the order in which an update reports
// differences, the bytes of memset nodes, events in graphs, calls that fail in a captured stream,
// the ends of captures, conditional nodes, graphs for launches by the device, and batches of
// copies. No case launches a kernel. The order and number of the draws must not change.
#include <pthread.h>
#include <time.h>

#include "draw.h"
#include "record.h"

enum { SIZE = 65536, MOST = 10 };

static CUcontext context, second_context;
static CUdeviceptr memory, words;
static unsigned char *host;
static CUstream stream, second;
static CUevent event;

static void nothing(void *unused)
{
    (void)unused;
}

static CUstream make_stream(void)
{
    CUstream s;
    NEED(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    return s;
}

static void set_up(void)
{
    CUdeviceptr p;
    context = record_context();
    NEED(cuMemAlloc(&memory, SIZE));
    NEED(cuMemAlloc(&words, 4096));
    NEED(cuMemHostAlloc((void **)&host, SIZE, 0));
    NEED(cuMemsetD8(memory, 0, SIZE));
    NEED(cuMemsetD8(words, 0, 4096));
    memset(host, 0, SIZE);
    stream = make_stream();
    second = make_stream();
    NEED(cuEventCreate(&event, 0));
    NEED(cuMemAllocAsync(&p, 512, stream)); // the pool exists before the first capture
    NEED(cuMemFreeAsync(p, stream));
    NEED(cuCtxSynchronize());
}

static void make_second_context(void)
{
    NEED(cuCtxCreate(&second_context, NULL, 0, 0));
    NEED(cuCtxSetCurrent(context));
}

static CUgraph new_graph(void)
{
    CUgraph g;
    NEED(cuGraphCreate(&g, 0));
    return g;
}

static CUDA_MEMSET_NODE_PARAMS a_memset(int word)
{
    return (CUDA_MEMSET_NODE_PARAMS){
        .dst = memory + 64 * (unsigned)word, .elementSize = 4, .width = 1, .height = 1, .value = 7};
}

static CUDA_MEMCPY3D a_memcpy(int word)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = memory + 32768,
                           .dstDevice = memory + 64 * (unsigned)word,
                           .WidthInBytes = 4,
                           .Height = 1,
                           .Depth = 1};
}

static int index_in(const CUgraphNode *list, size_t count, CUgraphNode node)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == node)
            return (int)i;
    return node ? 99 : -1;
}

// ---- updates: which of several differences is reported, and for which node

// A description of a graph, from which it is built.
struct plan {
    int count, edge_count;
    char type[MOST]; // of each node, in the order of creation
    int variant[MOST];
    struct {
        int from, to;
    } edge[3 * MOST]; // in the order of creation
};

// e empty, m memset, M memset of two rows, c memcpy, h host function, r event record, g child graph
static const char TYPES[] = "eeemmchhrgM";

static CUresult build_node(CUgraph g, char type, int variant, CUgraphNode *out)
{
    CUDA_MEMSET_NODE_PARAMS set = a_memset(variant);
    CUDA_MEMCPY3D copy = a_memcpy(variant);
    CUDA_HOST_NODE_PARAMS call = {.fn = nothing, .userData = &host[variant]};
    CUgraph child;
    CUgraphNode inner, last = NULL;
    CUresult r;
    switch (type) {
    case 'e':
        return cuGraphAddEmptyNode(out, g, NULL, 0);
    case 'M':
        set.height = 2;
        set.pitch = 16;
        return cuGraphAddMemsetNode(out, g, NULL, 0, &set, context);
    case 'm':
        return cuGraphAddMemsetNode(out, g, NULL, 0, &set, context);
    case 'c':
        return cuGraphAddMemcpyNode(out, g, NULL, 0, &copy, context);
    case 'h':
        return cuGraphAddHostNode(out, g, NULL, 0, &call);
    case 'r':
        return cuGraphAddEventRecordNode(out, g, NULL, 0, event);
    default:
        child = new_graph();
        for (int i = 0; i < 1 + variant % 3; i++) {
            NEED(cuGraphAddEmptyNode(&inner, child, &last, last != NULL));
            last = inner;
        }
        r = cuGraphAddChildGraphNode(out, g, NULL, 0, child);
        cuGraphDestroy(child);
        return r;
    }
}

static void build(const struct plan *p, CUgraph g, CUgraphNode *nodes)
{
    for (int i = 0; i < p->count; i++)
        NEED(build_node(g, p->type[i], p->variant[i], &nodes[i]));
    for (int i = 0; i < p->edge_count; i++)
        NEED(cuGraphAddDependencies(g, &nodes[p->edge[i].from], &nodes[p->edge[i].to], NULL, 1));
}

static void describe(const struct plan *p)
{
    for (int i = 0; i < p->count; i++)
        SAY("%c%d", p->type[i], p->variant[i]);
    for (int i = 0; i < p->edge_count; i++)
        SAY("%c%d%d", i ? ',' : ' ', p->edge[i].from, p->edge[i].to);
}

static bool has_edge(const struct plan *p, int from, int to)
{
    for (int i = 0; i < p->edge_count; i++)
        if (p->edge[i].from == from && p->edge[i].to == to)
            return true;
    return false;
}

static void add_edge(struct plan *p, int from, int to)
{
    if (from == to || has_edge(p, from, to) || p->edge_count == 3 * MOST)
        return;
    p->edge[p->edge_count].from = from;
    p->edge[p->edge_count++].to = to;
}

static void cut_edge(struct plan *p, int i)
{
    memmove(&p->edge[i], &p->edge[i + 1], (size_t)(p->edge_count - i - 1) * sizeof p->edge[0]);
    p->edge_count--;
}

static void add_plan_node(struct plan *p)
{
    if (p->count == MOST)
        return;
    p->type[p->count] = TYPES[draw() % (sizeof TYPES - 1)];
    p->variant[p->count++] = (int)(draw() % 3);
}

static void remove_plan_node(struct plan *p, int n)
{
    for (int i = p->edge_count - 1; i >= 0; i--)
        if (p->edge[i].from == n || p->edge[i].to == n)
            cut_edge(p, i);
    for (int i = 0; i < p->edge_count; i++) {
        p->edge[i].from -= p->edge[i].from > n;
        p->edge[i].to -= p->edge[i].to > n;
    }
    for (int i = n; i < p->count - 1; i++) {
        p->type[i] = p->type[i + 1];
        p->variant[i] = p->variant[i + 1];
    }
    p->count--;
}

// The nodes i and j change places in the order of creation; the graph stays the same.
static void swap_nodes(struct plan *p, int i, int j)
{
    char type = p->type[i];
    int variant = p->variant[i];
    p->type[i] = p->type[j];
    p->variant[i] = p->variant[j];
    p->type[j] = type;
    p->variant[j] = variant;
    for (int e = 0; e < p->edge_count; e++) {
        p->edge[e].from = p->edge[e].from == i ? j : p->edge[e].from == j ? i : p->edge[e].from;
        p->edge[e].to = p->edge[e].to == i ? j : p->edge[e].to == j ? i : p->edge[e].to;
    }
}

static struct plan draw_plan(void)
{
    struct plan p = {0};
    int count = 2 + (int)(draw() % 5);
    for (int i = 0; i < count; i++)
        add_plan_node(&p);
    for (int to = 1; to < count; to++)
        for (int from = to - 1; from >= 0; from--)
            if (chance(40))
                add_edge(&p, from, to);
    return p;
}

static void change_plan(struct plan *p)
{
    int n = (int)(draw() % (unsigned)p->count), m = (int)(draw() % (unsigned)p->count);
    int e = p->edge_count ? (int)(draw() % (unsigned)p->edge_count) : -1;
    char type = TYPES[draw() % (sizeof TYPES - 1)];
    int variant = (int)(draw() % 3);
    switch (draw() % 9) {
    case 0:
    case 1:
        p->type[n] = type;
        break;
    case 2:
        p->variant[n] = variant;
        break;
    case 3:
        if (e >= 0)
            cut_edge(p, e);
        break;
    case 4:
        add_edge(p, n < m ? n : m, n < m ? m : n);
        break;
    case 5: // an edge is created later
        if (e >= 0) {
            int from = p->edge[e].from, to = p->edge[e].to;
            cut_edge(p, e);
            add_edge(p, from, to);
        }
        break;
    case 6:
        swap_nodes(p, n, m);
        break;
    case 7:
        add_plan_node(p);
        break;
    case 8:
        if (p->count > 1)
            remove_plan_node(p, n);
        break;
    }
}

static void one_update(const struct plan *before, const struct plan *after)
{
    CUgraph g = new_graph(), h = new_graph();
    CUgraphNode old[MOST], new[MOST];
    CUgraphExec x = NULL;
    CUgraphExecUpdateResultInfo info = {0};
    build(before, g, old);
    build(after, h, new);
    describe(before);
    SAY(" > ");
    describe(after);
    SAY(" : ");
    CUresult r = cuGraphInstantiate(&x, g, 0);
    SAY("%s ", record_brief(r));
    if (!r) {
        r = cuGraphExecUpdate(x, h, &info);
        SAY("%s,%d,%d,%d", record_brief(r), (int)info.result,
            index_in(new, (size_t)after->count, info.errorNode),
            index_in(new, (size_t)after->count, info.errorFromNode));
        cuGraphExecDestroy(x);
    }
    cuGraphDestroy(g);
    cuGraphDestroy(h);
}

GROUP(updates)
{
    set_up();
    for (int i = 0; i < 600; i++) {
        draw_seed(900000 + (uint64_t)i);
        struct plan before = draw_plan(), after = before;
        for (int changes = 1 + (int)(draw() % 3); changes; changes--)
            change_plan(&after);
        if (CASE("update-%d", i))
            one_update(&before, &after);
    }
}

// ---- memsets: values wider than an element, in one row and in several

static void run_memset(const CUDA_MEMSET_NODE_PARAMS *p, const CUDA_MEMSET_NODE_PARAMS *then)
{
    CUgraph g = new_graph();
    CUgraphNode n;
    CUgraphExec x;
    CUDA_MEMSET_NODE_PARAMS got = {0};
    unsigned char bytes[96] = {0};
    CUresult r = cuGraphAddMemsetNode(&n, g, NULL, 0, p, context);
    SAY("add %s", record_brief(r));
    if (!r) {
        cuGraphMemsetNodeGetParams(n, &got);
        SAY(" get %x,%u,%zu,%zu,%zu", got.value, got.elementSize, got.width, got.height, got.pitch);
        r = cuGraphInstantiate(&x, g, 0);
        SAY(" make %s", record_brief(r));
    }
    if (!r && then)
        SAY(" set %s", record_brief(cuGraphExecMemsetNodeSetParams(x, n, then, context)));
    if (!r) {
        NEED(cuMemsetD8(memory, 0, 256));
        r = cuGraphLaunch(x, stream);
        CUresult end = cuStreamSynchronize(stream);
        SAY(" run %s,%s ", record_brief(r), record_brief(end));
        NEED(cuMemcpyDtoH(bytes, memory, sizeof bytes));
        for (size_t i = 0; i < sizeof bytes; i++)
            SAY("%s%02x", i && i % 8 == 0 ? " " : "", bytes[i]);
        cuGraphExecDestroy(x);
    }
    cuGraphDestroy(g);
}

static const unsigned values[] = {0x12,       0x1234, 0x804020, 0x08040201,
                                  0x80402010, 0xff00, 0x10000,  0x01000000};

GROUP(memsets)
{
    set_up();
    for (unsigned size = 1; size <= 4; size *= 2)
        for (unsigned v = 0; v < COUNT(values); v++)
            for (unsigned width = 1; width <= 9; width += width < 5 ? 1 : 2)
                for (unsigned height = 1; height <= 3; height++)
                    for (unsigned pitch = 0; pitch < 3; pitch++) {
                        CUDA_MEMSET_NODE_PARAMS p = {.dst = memory,
                                                     .elementSize = size,
                                                     .value = values[v],
                                                     .width = width,
                                                     .height = height};
                        p.pitch = pitch == 0 ? 0 : pitch == 1 ? size * width : 40;
                        if (height * width > 12 || (v > 3 && width > 3 && width != 5))
                            continue;
                        if (CASE("bytes-%u-%x-%u-%u-%zu", size, values[v], width, height, p.pitch))
                            run_memset(&p, NULL);
                    }
    // Starts that are aligned to an element only.
    for (unsigned size = 1; size <= 2; size++)
        for (unsigned start = size; start < 4; start += size)
            for (unsigned width = 2; width <= 8; width += 3)
                if (CASE("start-%u-%u-%u", size, start, width)) {
                    CUDA_MEMSET_NODE_PARAMS p = {.dst = memory + start,
                                                 .elementSize = size,
                                                 .value = 0x08040201,
                                                 .width = width,
                                                 .height = 1};
                    run_memset(&p, NULL);
                    p.height = 2;
                    p.pitch = 16 + size;
                    SAY(" | ");
                    run_memset(&p, NULL);
                }
    // Changes of instantiated nodes.
    for (unsigned a = 1; a <= 4; a *= 2)
        for (unsigned b = 1; b <= 4; b *= 2)
            for (int rows = 0; rows < 4; rows++)
                if (CASE("change-%u-%u-%d", a, b, rows)) {
                    CUDA_MEMSET_NODE_PARAMS p = {.dst = memory,
                                                 .elementSize = a,
                                                 .value = 0x11,
                                                 .width = 3,
                                                 .height = 1 + (unsigned)(rows & 1),
                                                 .pitch = 16},
                                            q = p;
                    q.elementSize = b;
                    q.value = 0x08040201;
                    q.height = 1 + (unsigned)(rows / 2);
                    run_memset(&p, &q);
                }
    static const unsigned widths[] = {1, 2, 4, 8, 16, 0};
    for (unsigned w = 0; w < COUNT(widths); w++)
        if (CASE("change-width-%u", widths[w])) {
            CUDA_MEMSET_NODE_PARAMS p = {.dst = memory,
                                         .elementSize = 1,
                                         .value = 0x11,
                                         .width = 4,
                                         .height = 1},
                                    q = p;
            q.width = widths[w];
            run_memset(&p, &q);
            q = p;
            p.height = q.height = 2;
            p.pitch = q.pitch = 16;
            q.value = 0x22;
            SAY(" | 2 rows, other value ");
            run_memset(&p, &q);
            q.dst += 4;
            SAY(" | 2 rows, other address ");
            run_memset(&p, &q);
            q = p;
            q.pitch = 32;
            SAY(" | 2 rows, other pitch ");
            run_memset(&p, &q);
            q = p;
            q.width = widths[w];
            SAY(" | 2 rows, other width ");
            run_memset(&p, &q);
        }
}

// ---- events: does a graph take an event's record when it is launched, or when it gets there?

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
}

static void hold(CUstream s, unsigned word)
{
    NEED(cuStreamWaitValue32(s, words + 64 * word, 1, CU_STREAM_WAIT_VALUE_GEQ));
}

static void release(unsigned word)
{
    CUstream s = make_stream();
    NEED(cuStreamWriteValue32(s, words + 64 * word, 1, 0));
    NEED(cuStreamSynchronize(s));
    NEED(cuStreamDestroy(s));
}

static CUgraphNode add_hold(CUgraph g, CUgraphNode after, unsigned word)
{
    CUgraphNode n;
    CUstreamBatchMemOpParams op = {.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32,
                                                 .address = words + 64 * word,
                                                 .value = 1,
                                                 .flags = CU_STREAM_WAIT_VALUE_GEQ}};
    CUDA_BATCH_MEM_OP_NODE_PARAMS p = {.ctx = context, .count = 1, .paramArray = &op};
    NEED(cuGraphAddBatchMemOpNode(&n, g, &after, after != NULL, &p));
    return n;
}

static CUgraphNode add_event(CUgraph g, CUgraphNode after, bool waits)
{
    CUgraphNode n;
    NEED(waits ? cuGraphAddEventWaitNode(&n, g, &after, after != NULL, event)
               : cuGraphAddEventRecordNode(&n, g, &after, after != NULL, event));
    return n;
}

static CUgraphExec make(CUgraph g)
{
    CUgraphExec x;
    NEED(cuGraphInstantiate(&x, g, 0));
    return x;
}

static const char *done(CUstream s)
{
    rest();
    return record_brief(cuStreamQuery(s));
}

GROUP(events)
{
    set_up();
    CUstream third = make_stream();
    for (int i = 0; i < 6; i++) {
        if (!CASE("case-%d", i))
            continue;
        NEED(cuCtxSynchronize());
        NEED(cuMemsetD8(words, 0, 4096));
        NEED(cuCtxSynchronize());
        CUgraph g = new_graph();
        CUgraphNode n = add_hold(g, NULL, 0);
        switch (i) {
        case 0: // the record comes after the launch, and is not complete
            add_event(g, n, true);
            NEED(cuGraphLaunch(make(g), stream));
            hold(second, 1);
            NEED(cuEventRecord(event, second));
            release(0);
            SAY("while the later record waits %s; ", done(stream));
            release(1);
            break;
        case 1: // an unfinished record at the launch, a finished one later
            hold(second, 1);
            NEED(cuEventRecord(event, second));
            add_event(g, n, true);
            NEED(cuGraphLaunch(make(g), stream));
            NEED(cuEventRecord(event, third));
            release(0);
            SAY("while the earlier record waits %s; ", done(stream));
            release(1);
            break;
        case 2: // the node records later
            NEED(cuEventRecord(event, third));
            NEED(cuStreamSynchronize(third));
            add_event(g, n, false);
            NEED(cuGraphLaunch(make(g), stream));
            SAY("query before the node %s; ", record_brief(cuEventQuery(event)));
            NEED(cuStreamWaitEvent(third, event, 0));
            SAY("stream that waits %s; ", done(third));
            release(0);
            rest();
            SAY("query after the node %s; ", record_brief(cuEventQuery(event)));
            break;
        case 3: // a record after the launch, before the node records
            add_event(g, n, false);
            NEED(cuGraphLaunch(make(g), stream));
            NEED(cuEventRecord(event, third));
            SAY("query after the later record %s; ", record_brief(cuEventQuery(event)));
            rest();
            SAY("%s; ", record_brief(cuEventQuery(event)));
            release(0);
            rest();
            SAY("%s; ", record_brief(cuEventQuery(event)));
            break;
        case 4: // record, then wait, in one graph, with an unfinished record outside
            hold(second, 1);
            NEED(cuEventRecord(event, second));
            add_event(g, add_event(g, n, false), true);
            NEED(cuGraphLaunch(make(g), stream));
            release(0);
            SAY("while the outer record waits %s; ", done(stream));
            release(1);
            break;
        case 5: // wait, then record, with an unfinished record outside
            hold(second, 1);
            NEED(cuEventRecord(event, second));
            add_event(g, add_event(g, n, true), false);
            NEED(cuGraphLaunch(make(g), stream));
            release(0);
            SAY("while the outer record waits %s; ", done(stream));
            SAY("query %s; ", record_brief(cuEventQuery(event)));
            release(1);
            break;
        }
        SAY("end %s", record_brief(cuCtxSynchronize()));
        cuEventDestroy(event);
        NEED(cuEventCreate(&event, 0));
    }
}

// ---- failing: calls with bad arguments in a captured stream, while it is active and invalid

static CUarray array;
static CUgraphExec exec;
static CUmemoryPool pool;

static CUDA_MEMCPY2D a_copy_2d(size_t width, size_t height, size_t pitch)
{
    return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = memory,
                           .srcPitch = pitch,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = memory + 8192,
                           .dstPitch = pitch,
                           .WidthInBytes = width,
                           .Height = height};
}

static CUresult copy_2d(size_t width, size_t height, size_t pitch)
{
    CUDA_MEMCPY2D p = a_copy_2d(width, height, pitch);
    return cuMemcpy2DAsync(&p, stream);
}

static CUresult copy_2d_types(CUmemorytype from, CUmemorytype to, CUarray a)
{
    CUDA_MEMCPY2D p = a_copy_2d(16, 2, 64);
    p.srcMemoryType = from;
    p.dstMemoryType = to;
    p.srcArray = p.dstArray = a;
    p.srcHost = p.dstHost = host;
    return cuMemcpy2DAsync(&p, stream);
}

static CUresult copy_3d(CUDA_MEMCPY3D p)
{
    return cuMemcpy3DAsync(&p, stream);
}

static CUresult operations(unsigned count, unsigned operation, CUdeviceptr p, unsigned flags)
{
    CUstreamBatchMemOpParams op = {
        .writeValue = {.operation = operation, .address = p, .value = 1, .flags = flags}};
    return cuStreamBatchMemOp(stream, count, &op, 0);
}

static CUresult allocate(size_t size, CUmemoryPool from)
{
    CUdeviceptr p;
    return from ? cuMemAllocFromPoolAsync(&p, size, from, stream)
                : cuMemAllocAsync(&p, size, stream);
}

static CUresult batch(size_t count, size_t size, bool attributes, CUdeviceptr to)
{
    CUdeviceptr dsts[3] = {to, to + 1024, to + 2048};
    CUdeviceptr srcs[3] = {memory, memory + 64, memory + 128};
    size_t sizes[3] = {size, size, size}, first = 0;
    CUmemcpyAttributes how = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    return cuMemcpyBatchAsync(dsts, srcs, sizes, count, attributes ? &how : NULL, &first,
                              attributes, stream);
}

static CUresult batch_3d(size_t count, size_t width)
{
    CUDA_MEMCPY3D_BATCH_OP op[2] = {
        {.src = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr = {.ptr = memory}},
         .dst = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr = {.ptr = memory + 8192}},
         .extent = {width, 1, 1},
         .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM}};
    op[1] = op[0];
    op[1].dst.op.ptr.ptr = memory + 16384;
    return cuMemcpy3DBatchAsync(count, op, 0, stream);
}

static CUresult prefetch(CUdeviceptr p, size_t size)
{
    return cuMemPrefetchAsync(p, size, (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE}, 0,
                              stream);
}

static CUresult prefetch_batch(size_t count)
{
    CUdeviceptr p = memory;
    size_t size = 4096, first = 0;
    CUmemLocation where = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
    return cuMemPrefetchBatchAsync(&p, &size, count, &where, &first, 1, 0, stream);
}

// 0 is a pointer of nobody's.
#define BAD ((CUdeviceptr)0x1000)
#define CALLS(C)                                                                                   \
    C(cuMemsetD8Async(memory, 1, 16, stream))                                                      \
    C(cuMemsetD8Async(BAD, 1, 16, stream))                                                         \
    C(cuMemsetD8Async(0, 1, 16, stream))                                                           \
    C(cuMemsetD8Async(memory, 1, 0, stream))                                                       \
    C(cuMemsetD8Async(memory, 1, (size_t)1 << 40, stream))                                         \
    C(cuMemsetD16Async(memory + 1, 1, 16, stream))                                                 \
    C(cuMemsetD32Async(memory + 2, 1, 16, stream))                                                 \
    C(cuMemsetD32Async(memory, 1, 0, stream))                                                      \
    C(cuMemsetD2D8Async(memory, 8, 1, 16, 2, stream))                                              \
    C(cuMemsetD2D8Async(memory, 64, 1, 16, 2, stream))                                             \
    C(cuMemsetD2D8Async(memory, 64, 1, 0, 2, stream))                                              \
    C(cuMemsetD2D32Async(memory, 66, 1, 4, 2, stream))                                             \
    C(cuMemcpyAsync(memory, memory + 64, 16, stream))                                              \
    C(cuMemcpyAsync(memory, memory + 64, 0, stream))                                               \
    C(cuMemcpyAsync(BAD, memory, 16, stream))                                                      \
    C(cuMemcpyAsync(memory, BAD, 16, stream))                                                      \
    C(cuMemcpyAsync(0, memory, 16, stream))                                                        \
    C(cuMemcpyDtoDAsync(memory, memory + 64, 16, stream))                                          \
    C(cuMemcpyDtoDAsync(memory, BAD, 16, stream))                                                  \
    C(cuMemcpyDtoDAsync(memory, memory + 64, 0, stream))                                           \
    C(cuMemcpyDtoDAsync(memory, memory + 64, (size_t)1 << 40, stream))                             \
    C(cuMemcpyHtoDAsync(memory, host, 16, stream))                                                 \
    C(cuMemcpyHtoDAsync(memory, NULL, 16, stream))                                                 \
    C(cuMemcpyHtoDAsync(BAD, host, 16, stream))                                                    \
    C(cuMemcpyDtoHAsync(host, memory, 16, stream))                                                 \
    C(cuMemcpyDtoHAsync(NULL, memory, 16, stream))                                                 \
    C(cuMemcpyDtoHAsync(host, BAD, 16, stream))                                                    \
    C(cuMemcpyHtoAAsync(array, 0, host, 64, stream))                                               \
    C(cuMemcpyHtoAAsync(array, 4096, host, 64, stream))                                            \
    C(cuMemcpyHtoAAsync(NULL, 0, host, 64, stream))                                                \
    C(cuMemcpyAtoHAsync(host, array, 0, 64, stream))                                               \
    C(cuMemcpyPeerAsync(memory, context, memory + 64, context, 16, stream))                        \
    C(cuMemcpyPeerAsync(memory, NULL, memory + 64, context, 16, stream))                           \
    C(copy_2d(16, 2, 64))                                                                          \
    C(copy_2d(128, 2, 64))                                                                         \
    C(copy_2d(0, 2, 64))                                                                           \
    C(copy_2d(16, 0, 64))                                                                          \
    C(copy_2d_types(0, 2, array))                                                                  \
    C(copy_2d_types(2, 9, array))                                                                  \
    C(copy_2d_types(1, 1, array))                                                                  \
    C(copy_2d_types(3, 2, array))                                                                  \
    C(copy_2d_types(3, 2, NULL))                                                                   \
    C(cuMemcpy2DAsync(NULL, stream))                                                               \
    C(copy_3d(a_memcpy(3)))                                                                        \
    C(copy_3d((CUDA_MEMCPY3D){0}))                                                                 \
    C(cuMemcpy3DAsync(NULL, stream))                                                               \
    C(cuLaunchHostFunc(stream, NULL, NULL))                                                        \
    C(cuLaunchHostFunc(stream, nothing, NULL))                                                     \
    C(cuStreamWriteValue32(stream, words, 1, 0))                                                   \
    C(cuStreamWriteValue32(stream, words + 2, 1, 0))                                               \
    C(cuStreamWriteValue32(stream, BAD, 1, 0))                                                     \
    C(cuStreamWriteValue32(stream, words, 1, 64))                                                  \
    C(cuStreamWriteValue64(stream, words + 4, 1, 0))                                               \
    C(cuStreamWaitValue32(stream, words, 0, 0))                                                    \
    C(cuStreamWaitValue32(stream, words, 0, 77))                                                   \
    C(operations(1, 2, words, 0))                                                                  \
    C(operations(1, 2, words + 2, 0))                                                              \
    C(operations(1, 99, words, 0))                                                                 \
    C(operations(0, 2, words, 0))                                                                  \
    C(operations(300, 2, words, 0))                                                                \
    C(cuStreamBatchMemOp(stream, 1, NULL, 0))                                                      \
    C(allocate(512, NULL))                                                                         \
    C(allocate(0, NULL))                                                                           \
    C(allocate((size_t)1 << 50, NULL))                                                             \
    C(allocate(512, pool))                                                                         \
    C(cuMemAllocAsync(NULL, 512, stream))                                                          \
    C(cuMemFreeAsync(0, stream))                                                                   \
    C(cuMemFreeAsync(BAD, stream))                                                                 \
    C(cuMemFreeAsync(memory, stream))                                                              \
    C(batch(1, 64, true, memory + 8192))                                                           \
    C(batch(2, 64, true, memory + 8192))                                                           \
    C(batch(3, 64, true, memory + 8192))                                                           \
    C(batch(0, 64, true, memory + 8192))                                                           \
    C(batch(2, 0, true, memory + 8192))                                                            \
    C(batch(2, 64, false, memory + 8192))                                                          \
    C(batch(2, 64, true, BAD))                                                                     \
    C(batch_3d(1, 64))                                                                             \
    C(batch_3d(2, 64))                                                                             \
    C(batch_3d(0, 64))                                                                             \
    C(batch_3d(2, 0))                                                                              \
    C(prefetch(memory, 4096))                                                                      \
    C(prefetch(BAD, 4096))                                                                         \
    C(prefetch_batch(1))                                                                           \
    C(prefetch_batch(0))                                                                           \
    C(cuEventRecord(event, stream))                                                                \
    C(cuEventRecord(NULL, stream))                                                                 \
    C(cuEventRecordWithFlags(event, stream, 9))                                                    \
    C(cuEventRecordWithFlags(event, stream, 1))                                                    \
    C(cuStreamWaitEvent(stream, event, 0))                                                         \
    C(cuStreamWaitEvent(stream, event, 9))                                                         \
    C(cuStreamWaitEvent(stream, NULL, 0))                                                          \
    C(cuStreamWaitEvent(stream, event, 1))                                                         \
    C(cuGraphLaunch(exec, stream))                                                                 \
    C(cuGraphLaunch(NULL, stream))                                                                 \
    C(cuGraphUpload(NULL, stream))                                                                 \
    C(cuStreamAddCallback(stream, NULL, NULL, 0))                                                  \
    C(cuStreamAttachMemAsync(stream, memory, 0, 9))                                                \
    C(cuStreamBeginCapture(stream, 0))                                                             \
    C(cuStreamBeginCapture(stream, 9))                                                             \
    C(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, 9))                                 \
    C(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 1, 0))                                 \
    C(cuStreamIsCapturing(stream, NULL))                                                           \
    C(cuStreamCopyAttributes(stream, second))                                                      \
    C(cuSignalExternalSemaphoresAsync(NULL, NULL, 0, stream))                                      \
    C(cuSignalExternalSemaphoresAsync(NULL, NULL, 1, stream))                                      \
    C(cuWaitExternalSemaphoresAsync(NULL, NULL, 0, stream))                                        \
    C(cuGraphicsMapResources(0, NULL, stream))                                                     \
    C(cuGraphicsUnmapResources(0, NULL, stream))

struct call {
    const char *name;
    CUresult (*run)(void);
};

#define DEFINE(call_) {#call_, NULL},
static const struct call calls[] = {CALLS(DEFINE)};

static CUresult call(unsigned wanted)
{
    unsigned i = 0;
#define PERFORM(call_)                                                                             \
    if (i++ == wanted)                                                                             \
        return call_;
    CALLS(PERFORM)
    return CUDA_ERROR_UNKNOWN;
}

// Ends a capture, and prints the types and the number of the edges of its graph.
static void end(CUstream s)
{
    CUgraph g = NULL;
    CUgraphNode nodes[32];
    size_t count = 32, edges = 0;
    CUresult r = cuStreamEndCapture(s, &g);
    SAY("end %s", record_brief(r));
    if (!g)
        return;
    SAY(" [");
    if (!cuGraphGetNodes(g, nodes, &count))
        for (size_t i = 0; i < count && i < 32; i++) {
            CUgraphNodeType type = (CUgraphNodeType)99;
            cuGraphNodeGetType(nodes[i], &type);
            SAY("%s%d", i ? " " : "", (int)type);
        }
    cuGraphGetEdges(g, NULL, NULL, NULL, &edges);
    SAY("] %zu", edges);
    cuGraphDestroy(g);
}

static int status(CUstream s)
{
    CUstreamCaptureStatus is = (CUstreamCaptureStatus)9;
    cuStreamIsCapturing(s, &is);
    return (int)is;
}

// Makes a capture invalid: an event that is recorded in another stream outside of it.
static void spoil(CUstream s)
{
    CUevent e;
    NEED(cuEventCreate(&e, 0));
    NEED(cuEventRecord(e, second));
    cuStreamWaitEvent(s, e, 0);
    cuEventDestroy(e);
}

GROUP(failing)
{
    CUgraphNode n;
    set_up();
    CUDA_MEMSET_NODE_PARAMS set = a_memset(0);
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = 64, .Height = 16, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    NEED(cuArrayCreate(&array, &shape));
    NEED(cuMemPoolCreate(&pool, &props));
    CUgraph g = new_graph();
    NEED(cuGraphAddMemsetNode(&n, g, NULL, 0, &set, context));
    exec = make(g);
    for (unsigned i = 0; i < COUNT(calls); i++)
        for (int invalid = 0; invalid < 2; invalid++)
            if (CASE("%s-%u-%s", invalid ? "invalid" : "active", i, calls[i].name)) {
                NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
                NEED(cuMemsetD8Async(memory, 9, 4, stream));
                if (invalid)
                    spoil(stream);
                CUresult r = call(i);
                SAY("%s now %d ", record_brief(r), status(stream));
                end(stream);
                cuEventDestroy(event);
                NEED(cuEventCreate(&event, 0));
                cuCtxSynchronize();
                NEED(cuMemsetD8(words, 0, 4096));
            }
}

// ---- ends: which of several errors cuStreamEndCapture reports

struct ending {
    CUstream stream;
    CUgraph *out;
    CUresult answer;
};

static void *end_elsewhere(void *argument)
{
    struct ending *e = argument;
    cuCtxSetCurrent(context);
    e->answer = cuStreamEndCapture(e->stream, e->out);
    return NULL;
}

// Bits: 1 another thread, 2 invalid, 4 unjoined, 8 not the origin, 16 no place for the graph.
static void one_end(int what, CUstreamCaptureMode mode)
{
    CUgraph g = (CUgraph)16;
    CUstream forked = make_stream(), origin = make_stream();
    struct ending e = {.stream = what & 8 ? forked : origin, .out = what & 16 ? NULL : &g};
    pthread_t thread;
    NEED(cuStreamBeginCapture(origin, mode));
    NEED(cuMemsetD8Async(memory, 9, 4, origin));
    if (what & (4 | 8)) {
        NEED(cuEventRecord(event, origin));
        NEED(cuStreamWaitEvent(forked, event, 0));
        if (what & 4)
            NEED(cuMemsetD8Async(memory, 9, 4, forked));
    }
    if (what & 2)
        spoil(origin);
    if (what & 1) {
        pthread_create(&thread, NULL, end_elsewhere, &e);
        pthread_join(thread, NULL);
    } else {
        end_elsewhere(&e);
    }
    SAY("%s graph %s now %d,%d ", record_brief(e.answer),
        what & 16          ? "-"
        : g == NULL        ? "null"
        : g == (CUgraph)16 ? "untouched"
                           : "made",
        status(origin), status(forked));
    end(origin);
    cuStreamDestroy(forked);
    cuStreamDestroy(origin);
}

GROUP(ends)
{
    set_up();
    for (int mode = 0; mode < 3; mode++)
        for (int what = 0; what < 32; what++)
            if (CASE("end-%d-%d", mode, what))
                one_end(what, (CUstreamCaptureMode)mode);
    if (CASE("not-capturing")) {
        CUgraph g = (CUgraph)16;
        SAY("%s", record_brief(cuStreamEndCapture(stream, &g)));
        SAY(" %s", g ? "untouched" : "null");
        SAY(" null %s", record_brief(cuStreamEndCapture(stream, NULL)));
        SAY(" legacy %s", record_brief(cuStreamEndCapture(NULL, &g)));
        SAY(" legacy null %s", record_brief(cuStreamEndCapture(NULL, NULL)));
    }
    // To the program's own graph, with and without an error.
    for (int what = 0; what < 4; what++)
        if (CASE("to-graph-%d", what)) {
            CUgraph g = new_graph(), out = NULL, other = new_graph();
            CUgraphNode n, m;
            NEED(cuGraphAddEmptyNode(&n, g, NULL, 0));
            NEED(cuGraphAddEmptyNode(&m, other, NULL, 0));
            CUstream s = make_stream();
            CUgraphNode deps[2] = {what == 1 ? m : n, n};
            CUresult r = cuStreamBeginCaptureToGraph(s, g, deps, NULL, what == 2 ? 2 : 1,
                                                     CU_STREAM_CAPTURE_MODE_RELAXED);
            SAY("begin %s ", record_brief(r));
            if (!r) {
                NEED(cuMemsetD8Async(memory, 9, 4, s));
                CUgraphNode late = NULL;
                SAY("add %s ", record_brief(cuGraphAddEmptyNode(&late, g, &n, 1)));
                SAY("kill %s ", record_brief(cuGraphDestroyNode(late)));
                SAY("edge %s ", record_brief(cuGraphAddDependencies(g, &n, &late, NULL, 1)));
                CUgraph clone = NULL;
                SAY("clone %s ", record_brief(cuGraphClone(&clone, g)));
                CUgraphExec x = NULL;
                SAY("make %s ", record_brief(cuGraphInstantiate(&x, g, 0)));
                SAY("now %d ", status(s));
                SAY("end %s", record_brief(cuStreamEndCapture(s, &out)));
                SAY(" %s", out == g ? "same" : out ? "other" : "null");
            }
            cuStreamDestroy(s);
        }
    // CU_EVENT_WAIT_EXTERNAL for events of captures, outside and inside of captures.
    for (int what = 0; what < 16; what++)
        if (CASE("external-wait-%d", what)) {
            CUstream s = make_stream(), t = make_stream();
            CUevent e;
            NEED(cuEventCreate(&e, 0));
            NEED(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
            SAY("record %s ", record_brief(cuEventRecord(e, s)));
            if (what & 1)
                end(s);
            if (what & 4)
                spoil(s);
            if (what & 2)
                NEED(cuStreamBeginCapture(t, CU_STREAM_CAPTURE_MODE_RELAXED));
            SAY(" wait %s", record_brief(cuStreamWaitEvent(t, e, what & 8 ? 0 : 1)));
            SAY(" now %d,%d ", status(s), status(t));
            end(t);
            end(s);
            cuStreamDestroy(s);
            cuStreamDestroy(t);
            cuEventDestroy(e);
        }
}

// ---- conditional nodes

static CUgraphNodeParams conditional(CUgraphConditionalHandle h, int type, unsigned size)
{
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    p.conditional.handle = h;
    p.conditional.type = (CUgraphConditionalNodeType)type;
    p.conditional.size = size;
    p.conditional.ctx = context;
    return p;
}

static CUgraphNode add_set(CUgraph g, unsigned word, unsigned value)
{
    CUgraphNode n;
    CUDA_MEMSET_NODE_PARAMS set = a_memset((int)word);
    set.value = value;
    NEED(cuGraphAddMemsetNode(&n, g, NULL, 0, &set, context));
    return n;
}

static unsigned word_at(unsigned word)
{
    unsigned value = 0xdead;
    cuMemcpyDtoH(&value, memory + 64 * word, 4);
    return value;
}

static void run(CUgraph g)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS p = {0};
    CUgraphExec x = NULL;
    CUresult r = cuGraphInstantiateWithParams(&x, g, &p);
    SAY("make %s,%d,%d ", record_brief(r), (int)p.result_out, p.hErrNode_out != NULL);
    if (r)
        return;
    for (int i = 0; i < 2; i++) {
        NEED(cuMemsetD8(memory, 0, 1024));
        NEED(cuCtxSynchronize());
        r = cuGraphLaunch(x, stream);
        SAY("run %s,", record_brief(r));
        SAY("%s [", record_brief(cuStreamSynchronize(stream)));
        for (unsigned w = 0; w < 6; w++)
            SAY("%s%u", w ? " " : "", word_at(w));
        SAY("] ");
    }
    cuGraphExecDestroy(x);
}

GROUP(conditionals)
{
    set_up();
    make_second_context();
    // Kinds, sizes and values. A WHILE node whose value is not 0 would never end.
    for (int type = 0; type < 4; type++)
        for (unsigned size = 0; size < 5; size++)
            for (unsigned value = 0; value < 6; value++)
                for (unsigned flags = 0; flags < 2; flags++) {
                    if (type == 1 && value)
                        continue;
                    if (!CASE("run-%d-%u-%u-%u", type, size, value, flags))
                        continue;
                    CUgraph g = new_graph();
                    CUgraphConditionalHandle h = 0;
                    CUgraphNode n;
                    NEED(cuGraphConditionalHandleCreate(&h, g, context, value == 5 ? ~0u : value,
                                                        flags));
                    CUgraphNodeParams p = conditional(h, type, size);
                    CUresult r = cuGraphAddNode(&n, g, NULL, NULL, 0, &p);
                    SAY("add %s %s ", record_brief(r), p.conditional.phGraph_out ? "out" : "null");
                    for (unsigned i = 0; !r && i < size; i++)
                        add_set(p.conditional.phGraph_out[i], i, 10 + i);
                    if (!r) {
                        CUgraphNode after = add_set(g, 5, 77);
                        NEED(cuGraphAddDependencies(g, &n, &after, NULL, 1));
                    }
                    if (!r)
                        run(g);
                    SAY("%s", record_brief(cuGraphDestroy(g)));
                }
    // Handles.
    for (int i = 0; i < 12; i++)
        if (CASE("handle-%d", i)) {
            CUgraph g = new_graph(), gone = new_graph();
            CUgraphConditionalHandle h = 0xabc, k = 0;
            CUgraphNode n = NULL, m = NULL;
            CUgraphNodeParams p;
            cuGraphDestroy(gone);
            switch (i) {
            case 0:
                SAY("%s ", record_brief(cuGraphConditionalHandleCreate(&h, g, NULL, 0, 0)));
                SAY("%s", h == 0xabc ? "untouched" : "written");
                break;
            case 1:
                SAY("%s", record_brief(cuGraphConditionalHandleCreate(&h, gone, context, 0, 0)));
                break;
            case 2:
                for (unsigned flags = 1; flags; flags *= 2)
                    SAY("%s ",
                        record_brief(cuGraphConditionalHandleCreate(&h, g, context, 0, flags)));
                break;
            case 3:
                SAY("%s ",
                    record_brief(cuGraphConditionalHandleCreate(&h, g, second_context, 0, 0)));
                p = conditional(h, 0, 1);
                SAY("%s ", record_brief(cuGraphAddNode(&n, g, NULL, NULL, 0, &p)));
                p.conditional.ctx = second_context;
                SAY("%s ", record_brief(cuGraphAddNode(&n, g, NULL, NULL, 0, &p)));
                run(g);
                break;
            case 4: // a default value without the flag
                SAY("%s ", record_brief(cuGraphConditionalHandleCreate(&h, g, context, 5, 0)));
                p = conditional(h, 0, 1);
                SAY("%s ", record_brief(cuGraphAddNode(&n, g, NULL, NULL, 0, &p)));
                run(g);
                break;
            case 5: // ctx NULL in the node
                NEED(cuGraphConditionalHandleCreate(&h, g, context, 1, 1));
                p = conditional(h, 0, 1);
                p.conditional.ctx = NULL;
                SAY("%s ", record_brief(cuGraphAddNode(&n, g, NULL, NULL, 0, &p)));
                SAY("%s ", p.conditional.phGraph_out ? "out" : "null");
                p.conditional.ctx = context;
                SAY("%s ", record_brief(cuGraphAddNode(&n, g, NULL, NULL, 0, &p)));
                run(g);
                break;
            case 6: // two handles, of which one is used
                NEED(cuGraphConditionalHandleCreate(&h, g, context, 1, 1));
                NEED(cuGraphConditionalHandleCreate(&k, g, context, 1, 1));
                p = conditional(h, 0, 1);
                SAY("%s ", record_brief(cuGraphAddNode(&n, g, NULL, NULL, 0, &p)));
                run(g);
                p = conditional(k, 0, 1);
                SAY("%s ", record_brief(cuGraphAddNode(&n, g, NULL, NULL, 0, &p)));
                run(g);
                break;
            case 7: // the handle of another graph
                gone = new_graph();
                NEED(cuGraphConditionalHandleCreate(&h, gone, context, 1, 1));
                p = conditional(h, 0, 1);
                SAY("%s ", record_brief(cuGraphAddNode(&n, g, NULL, NULL, 0, &p)));
                SAY("0: ");
                p = conditional(0, 0, 1);
                SAY("%s ", record_brief(cuGraphAddNode(&n, g, NULL, NULL, 0, &p)));
                break;
            case 8: // the node ends, and its handle is used again
                NEED(cuGraphConditionalHandleCreate(&h, g, context, 1, 1));
                p = conditional(h, 0, 1);
                NEED(cuGraphAddNode(&n, g, NULL, NULL, 0, &p));
                SAY("%s ", record_brief(cuGraphDestroyNode(n)));
                run(g);
                p = conditional(h, 0, 1);
                SAY("%s ", record_brief(cuGraphAddNode(&m, g, NULL, NULL, 0, &p)));
                run(g);
                break;
            case 9: // the handle of the graph, for a node in the body of another node
                NEED(cuGraphConditionalHandleCreate(&h, g, context, 1, 1));
                NEED(cuGraphConditionalHandleCreate(&k, g, context, 1, 1));
                p = conditional(h, 0, 1);
                NEED(cuGraphAddNode(&n, g, NULL, NULL, 0, &p));
                CUgraph body = p.conditional.phGraph_out[0];
                p = conditional(k, 0, 1);
                SAY("%s ", record_brief(cuGraphAddNode(&m, body, NULL, NULL, 0, &p)));
                if (p.conditional.phGraph_out)
                    add_set(p.conditional.phGraph_out[0], 0, 5);
                run(g);
                SAY("handle of the body %s ",
                    record_brief(cuGraphConditionalHandleCreate(&k, body, context, 1, 1)));
                p = conditional(k, 0, 1);
                SAY("%s ", record_brief(cuGraphAddNode(&m, body, NULL, NULL, 0, &p)));
                if (p.conditional.phGraph_out)
                    add_set(p.conditional.phGraph_out[0], 1, 6);
                run(g);
                break;
            case 10: // dependencies with data, reserved words
                NEED(cuGraphConditionalHandleCreate(&h, g, context, 1, 1));
                p = conditional(h, 0, 1);
                p.reserved0[1] = 1;
                SAY("%s ", record_brief(cuGraphAddNode(&n, g, NULL, NULL, 0, &p)));
                p = conditional(h, 0, 1);
                m = add_set(g, 0, 1);
                SAY("%s ",
                    record_brief(cuGraphAddNode(&n, g, &m, &(CUgraphEdgeData){.type = 1}, 1, &p)));
                SAY("%s ", record_brief(cuGraphAddNode(&n, g, &m, NULL, 1, &p)));
                break;
            case 11: // parameters of the node
                NEED(cuGraphConditionalHandleCreate(&h, g, context, 1, 1));
                p = conditional(h, 0, 1);
                NEED(cuGraphAddNode(&n, g, NULL, NULL, 0, &p));
                SAY("set %s ", record_brief(cuGraphNodeSetParams(n, &p)));
                CUgraphExec x = make(g);
                SAY("set in exec %s ", record_brief(cuGraphExecNodeSetParams(x, n, &p)));
                unsigned enabled = 9;
                SAY("enable %s ", record_brief(cuGraphNodeSetEnabled(x, n, 0)));
                CUresult r = cuGraphNodeGetEnabled(x, n, &enabled);
                SAY("enabled %s,%u ", record_brief(r), enabled);
                SAY("flags %s", record_brief(cuGraphInstantiate(&x, g, 4)));
                SAY(" %s", record_brief(cuGraphInstantiate(&x, g, 8)));
                break;
            }
            cuGraphDestroy(g);
        }
    // What a body may contain: when it is added, when it is instantiated, and when it runs.
    for (int i = 0; i < 14; i++)
        if (CASE("body-%d", i)) {
            CUgraph g = new_graph(), child = new_graph();
            CUgraphConditionalHandle h = 0;
            CUgraphNode n, m = NULL;
            CUDA_MEMSET_NODE_PARAMS set = a_memset(0);
            CUDA_MEMCPY3D copy = a_memcpy(0);
            CUDA_HOST_NODE_PARAMS fn = {.fn = nothing};
            CUDA_MEM_ALLOC_NODE_PARAMS alloc = {
                .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                              .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
                .bytesize = 64};
            CUstreamBatchMemOpParams op = {
                .writeValue = {
                    .operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = memory, .value = 3}};
            CUDA_BATCH_MEM_OP_NODE_PARAMS ops = {.ctx = context, .count = 1, .paramArray = &op};
            CUgraph out = NULL;
            NEED(cuGraphConditionalHandleCreate(&h, g, context, 1, 1));
            CUgraphNodeParams p = conditional(h, 0, 1);
            NEED(cuGraphAddNode(&n, g, NULL, NULL, 0, &p));
            CUgraph body = p.conditional.phGraph_out[0];
            CUresult r = CUDA_SUCCESS;
            switch (i) {
            case 0:
                break;
            case 1:
                r = cuGraphAddEmptyNode(&m, body, NULL, 0);
                break;
            case 2:
                r = cuGraphAddMemcpyNode(&m, body, NULL, 0, &copy, context);
                break;
            case 3:
                copy.srcMemoryType = CU_MEMORYTYPE_HOST;
                copy.srcHost = host;
                r = cuGraphAddMemcpyNode(&m, body, NULL, 0, &copy, context);
                break;
            case 4:
                r = cuGraphAddHostNode(&m, body, NULL, 0, &fn);
                break;
            case 5:
                r = cuGraphAddEventRecordNode(&m, body, NULL, 0, event);
                break;
            case 6:
                r = cuGraphAddEventWaitNode(&m, body, NULL, 0, event);
                break;
            case 7:
                r = cuGraphAddMemAllocNode(&m, body, NULL, 0, &alloc);
                break;
            case 8:
                r = cuGraphAddBatchMemOpNode(&m, body, NULL, 0, &ops);
                break;
            case 9:
                NEED(cuGraphAddMemsetNode(&m, child, NULL, 0, &set, context));
                r = cuGraphAddChildGraphNode(&m, body, NULL, 0, child);
                break;
            case 10:
                NEED(cuGraphAddHostNode(&m, child, NULL, 0, &fn));
                r = cuGraphAddChildGraphNode(&m, body, NULL, 0, child);
                break;
            case 11:
                r = cuGraphAddMemsetNode(&m, body, NULL, 0, &set, second_context);
                break;
            case 12:
                NEED(cuStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0,
                                                 CU_STREAM_CAPTURE_MODE_RELAXED));
                SAY("work %s ", record_brief(cuMemsetD8Async(memory, 5, 4, stream)));
                SAY("host %s ", record_brief(cuLaunchHostFunc(stream, nothing, NULL)));
                r = cuStreamEndCapture(stream, &out);
                SAY("%s ", out == body ? "same" : "other");
                break;
            case 13:
                NEED(cuStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0,
                                                 CU_STREAM_CAPTURE_MODE_RELAXED));
                NEED(cuMemsetD8Async(memory, 5, 4, stream));
                NEED(cuMemcpyAsync(memory + 64, memory, 4, stream));
                r = cuStreamEndCapture(stream, &out);
                SAY("%s ", out == body ? "same" : "other");
                break;
            }
            SAY("%s ", record_brief(r));
            run(g);
            SAY("destroy body %s ", record_brief(cuGraphDestroy(body)));
            CUgraph clone = NULL;
            SAY("clone %s ", record_brief(cuGraphClone(&clone, g)));
            CUgraphNode c;
            CUgraph outer = new_graph();
            SAY("child %s ", record_brief(cuGraphAddChildGraphNode(&c, outer, NULL, 0, g)));
            SAY("node %s", record_brief(cuGraphDestroyNode(n)));
            cuGraphDestroy(g);
        }
    // Moved into a child graph node, and nested.
    if (CASE("moved")) {
        CUgraph g = new_graph(), outer = new_graph();
        CUgraphConditionalHandle h;
        CUgraphNode n;
        NEED(cuGraphConditionalHandleCreate(&h, g, context, 1, 1));
        CUgraphNodeParams p = conditional(h, 0, 1);
        NEED(cuGraphAddNode(&n, g, NULL, NULL, 0, &p));
        add_set(p.conditional.phGraph_out[0], 0, 5);
        CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
        q.graph.graph = g;
        q.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
        SAY("%s ", record_brief(cuGraphAddNode(&n, outer, NULL, NULL, 0, &q)));
        run(outer);
    }
    // Updates of whole graphs with conditional nodes.
    for (int i = 0; i < 8; i++)
        if (CASE("update-%d", i)) {
            CUgraph g[2];
            CUgraphNode n[2], in[2];
            CUgraphExec x = NULL;
            CUgraphExecUpdateResultInfo info = {0};
            for (int k = 0; k < 2; k++) {
                CUgraphConditionalHandle h;
                g[k] = new_graph();
                NEED(cuGraphConditionalHandleCreate(&h, g[k], context, k && i == 1 ? 0 : 1,
                                                    !(k && i == 2)));
                CUgraphNodeParams p =
                    conditional(h, k && i == 3 ? 2 : 0, k && (i == 3 || i == 4) ? 2 : 1);
                NEED(cuGraphAddNode(&n[k], g[k], NULL, NULL, 0, &p));
                in[k] = NULL;
                if (!(k && i == 5))
                    in[k] = add_set(p.conditional.phGraph_out[0], 0, 5 + (unsigned)k);
                if (k && i == 6)
                    add_set(p.conditional.phGraph_out[0], 1, 5);
                if (k && i == 7) {
                    NEED(cuGraphDestroyNode(in[k]));
                    NEED(cuGraphAddEmptyNode(&in[k], p.conditional.phGraph_out[0], NULL, 0));
                }
            }
            NEED(cuGraphInstantiate(&x, g[0], 0));
            CUresult r = cuGraphExecUpdate(x, g[1], &info);
            SAY("%s,%d,%s,%d ", record_brief(r), (int)info.result,
                info.errorNode == NULL    ? "none"
                : info.errorNode == n[1]  ? "node"
                : info.errorNode == in[1] ? "inner"
                                          : "other",
                info.errorFromNode != NULL);
            NEED(cuMemsetD8(memory, 0, 1024));
            NEED(cuCtxSynchronize());
            SAY("run %s,", record_brief(cuGraphLaunch(x, stream)));
            SAY("%s ", record_brief(cuStreamSynchronize(stream)));
            SAY("%u,%u", word_at(0), word_at(1));
        }
}

// ---- graphs for launches by the device

static void instantiate_for_device(CUgraph g, cuuint64_t flags)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS p = {.flags = flags, .hUploadStream = stream};
    CUgraphExec x = NULL;
    cuuint64_t got = 99;
    CUresult r = cuGraphInstantiateWithParams(&x, g, &p);
    SAY("%llu: %s,%d,%d ", (unsigned long long)flags, record_brief(r), (int)p.result_out,
        p.hErrNode_out != NULL);
    if (r)
        return;
    r = cuGraphExecGetFlags(x, &got);
    SAY("flags %s,%llu ", record_brief(r), (unsigned long long)got);
    SAY("run %s,", record_brief(cuGraphLaunch(x, stream)));
    SAY("%s ", record_brief(cuStreamSynchronize(stream)));
    SAY("upload %s,", record_brief(cuGraphUpload(x, stream)));
    SAY("%s ", record_brief(cuStreamSynchronize(stream)));
    CUgraphExecUpdateResultInfo info = {0};
    r = cuGraphExecUpdate(x, g, &info);
    SAY("update %s,%d ", record_brief(r), (int)info.result);
    SAY("end %s ", record_brief(cuGraphExecDestroy(x)));
}

GROUP(device)
{
    static const cuuint64_t flags[] = {4, 5, 6, 7, 12, 13, 2, 8, 16};
    set_up();
    make_second_context();
    for (int i = 0; i < 16; i++)
        for (unsigned f = 0; f < COUNT(flags); f++) {
            if (f && i > 3)
                continue;
            if (!CASE("make-%d-%u", i, (unsigned)flags[f]))
                continue;
            CUgraph g = new_graph(), child = new_graph();
            CUgraphNode n, m;
            CUDA_MEMSET_NODE_PARAMS set = a_memset(0);
            CUDA_MEMCPY3D copy = a_memcpy(0);
            CUDA_HOST_NODE_PARAMS fn = {.fn = nothing};
            CUresult r = CUDA_SUCCESS;
            switch (i) {
            case 0:
                break;
            case 1:
                r = cuGraphAddEmptyNode(&n, g, NULL, 0);
                break;
            case 2:
                r = cuGraphAddMemsetNode(&n, g, NULL, 0, &set, context);
                break;
            case 3:
                r = cuGraphAddMemcpyNode(&n, g, NULL, 0, &copy, context);
                break;
            case 4:
                copy.srcMemoryType = CU_MEMORYTYPE_HOST;
                copy.srcHost = host;
                r = cuGraphAddMemcpyNode(&n, g, NULL, 0, &copy, context);
                break;
            case 5: // memory that is not pinned
                copy.srcMemoryType = CU_MEMORYTYPE_HOST;
                copy.srcHost = calls;
                r = cuGraphAddMemcpyNode(&n, g, NULL, 0, &copy, context);
                break;
            case 6:
                add_set(g, 0, 1);
                r = cuGraphAddEmptyNode(&n, g, NULL, 0);
                break;
            case 7:
                n = add_set(g, 0, 1);
                r = cuGraphAddHostNode(&m, g, &n, 1, &fn);
                break;
            case 8:
                n = add_set(g, 0, 1);
                r = cuGraphAddEventRecordNode(&m, g, &n, 1, event);
                break;
            case 9:
                add_set(child, 0, 1);
                r = cuGraphAddChildGraphNode(&n, g, NULL, 0, child);
                break;
            case 10:
                NEED(cuGraphAddHostNode(&m, child, NULL, 0, &fn));
                r = cuGraphAddChildGraphNode(&n, g, NULL, 0, child);
                break;
            case 11:
                r = cuGraphAddChildGraphNode(&n, g, NULL, 0, child);
                break;
            case 12:
                add_set(g, 0, 1);
                r = cuGraphAddMemsetNode(&n, g, NULL, 0, &set, second_context);
                break;
            case 13:
                add_set(g, 0, 1);
                add_set(g, 1, 2);
                break;
            case 14:
                set.height = 2;
                set.pitch = 16;
                r = cuGraphAddMemsetNode(&n, g, NULL, 0, &set, context);
                break;
            case 15:
                copy.Height = 2;
                copy.srcPitch = copy.dstPitch = 64;
                r = cuGraphAddMemcpyNode(&n, g, NULL, 0, &copy, context);
                break;
            }
            SAY("add %s ", record_brief(r));
            instantiate_for_device(g, flags[f]);
            instantiate_for_device(g, flags[f]);
            cuGraphDestroy(g);
        }
    // One instance for the device at a time? Changes of nodes?
    if (CASE("twice")) {
        CUgraph g = new_graph();
        CUgraphNode n = add_set(g, 0, 1);
        CUgraphExec x = NULL, y = NULL;
        CUDA_MEMSET_NODE_PARAMS set = a_memset(0);
        SAY("%s ", record_brief(cuGraphInstantiate(&x, g, 4)));
        SAY("%s ", record_brief(cuGraphInstantiate(&y, g, 4)));
        SAY("set %s ", record_brief(cuGraphExecMemsetNodeSetParams(x, n, &set, context)));
        SAY("disable %s ", record_brief(cuGraphNodeSetEnabled(x, n, 0)));
        SAY("run %s", record_brief(cuGraphLaunch(x, stream)));
        SAY(" twice %s ", record_brief(cuGraphLaunch(x, stream)));
        SAY("%s ", record_brief(cuStreamSynchronize(stream)));
    }
}

// ---- edges without kernels: data of edges between all types, and queries of them

GROUP(edges)
{
    static const char pairs[] = "emchrg";
    set_up();
    for (unsigned a = 0; a < 6; a++)
        for (unsigned b = 0; b < 6; b++)
            if (CASE("data-%c-%c", pairs[a], pairs[b])) {
                CUgraph g = new_graph();
                CUgraphNode from, to;
                NEED(build_node(g, pairs[a], 0, &from));
                NEED(build_node(g, pairs[b], 0, &to));
                for (unsigned i = 0; i < 24; i++) {
                    CUgraphEdgeData d = {.from_port = i % 4 == 3 ? 7 : i % 4,
                                         .to_port = i / 4 % 2,
                                         .type = i / 8 % 3};
                    CUresult r = cuGraphAddDependencies(g, &from, &to, &d, 1);
                    SAY("%s%s", i ? " " : "", record_brief(r));
                    if (!r)
                        NEED(cuGraphRemoveDependencies(g, &from, &to, &d, 1));
                }
                cuGraphDestroy(g);
            }
    if (CASE("remove-with-other-data")) {
        CUgraph g = new_graph();
        CUgraphNode from = add_set(g, 0, 1), to = add_set(g, 1, 1);
        CUgraphEdgeData d = {.type = 1, .from_port = 1};
        NEED(cuGraphAddDependencies(g, &from, &to, NULL, 1));
        SAY("%s ", record_brief(cuGraphRemoveDependencies(g, &from, &to, &d, 1)));
        d = (CUgraphEdgeData){.reserved = {1}};
        SAY("%s ", record_brief(cuGraphRemoveDependencies(g, &from, &to, &d, 1)));
        SAY("%s ", record_brief(cuGraphAddDependencies(g, &from, &to, NULL, 1)));
        SAY("%s ", record_brief(cuGraphAddDependencies(g, &from, &to, &d, 1)));
    }
}

int main(int argc, char **argv)
{
    RUN(updates);
    RUN(memsets);
    RUN(events);
    RUN(failing);
    RUN(ends);
    RUN(conditionals);
    RUN(device);
    RUN(edges);
    return 0;
}
