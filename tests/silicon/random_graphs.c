// SPDX-License-Identifier: MIT
// Random walks over graphs: nodes of all types that need no kernel, their dependencies, instances,
// updates and launches, and the bytes that the launches write. The order and number of the draws
// must not change.
#include "draw.h"
#include "record.h"

enum { GRAPHS = 2, NODES = 12, EXECS = 2, STEPS = 26, WALKS = 400, SIZE = 4096, WORDS = 16 };

static CUcontext context;
static CUdeviceptr memory, source;
static unsigned *host;
static CUstream stream;
static CUevent events[2];
static int host_calls[4];

static CUgraph graphs[GRAPHS];
static CUgraphExec execs[EXECS];
static struct {
    CUgraphNode node;
    int graph;
} nodes[NODES]; // node NULL: free

static void count_call(void *which)
{
    ++*(int *)which;
}

static const CUgraphNode *pick_dependencies(int graph, size_t *count)
{
    static CUgraphNode list[4];
    *count = 0;
    unsigned most = (unsigned)(draw() % 4);
    for (unsigned i = 0; i < most; i++) {
        unsigned n = (unsigned)(draw() % NODES);
        if (nodes[n].node && (nodes[n].graph == graph || chance(4)))
            list[(*count)++] = nodes[n].node;
    }
    return *count || chance(50) ? list : NULL;
}

static CUDA_MEMSET_NODE_PARAMS draw_memset(void)
{
    static const unsigned sizes[] = {1, 2, 4};
    CUDA_MEMSET_NODE_PARAMS p = {.elementSize = PICK(sizes), .value = (unsigned)draw()};
    p.dst = memory + 64 * (draw() % WORDS);
    p.width = chance(90) ? 1 + draw() % 4 : draw() % 20;
    p.height = chance(80) ? 1 : draw() % 4;
    p.pitch = chance(80) ? 16 : draw() % 40;
    // Not wider than an element: x_streams graph_build/memset-element-size asks about those.
    if (p.elementSize < 4)
        p.value &= (1u << 8 * p.elementSize) - 1;
    if (chance(5))
        p.elementSize = 3;
    return p;
}

static CUDA_MEMCPY3D draw_memcpy(void)
{
    CUDA_MEMCPY3D p = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcPitch = 64,
                       .dstPitch = 64,
                       .Height = 1,
                       .Depth = 1};
    p.srcDevice = source + 4 * (draw() % 100);
    p.dstDevice = memory + 64 * (draw() % WORDS);
    p.WidthInBytes = chance(95) ? 4 + draw() % 20 : 0;
    if (chance(20)) {
        p.srcMemoryType = CU_MEMORYTYPE_HOST;
        p.srcHost = host + draw() % 100;
    }
    if (chance(10))
        p.Height = 1 + draw() % 2;
    return p;
}

static CUDA_HOST_NODE_PARAMS draw_host(void)
{
    CUDA_HOST_NODE_PARAMS p = {.fn = chance(96) ? count_call : NULL};
    p.userData = &host_calls[draw() % 4];
    return p;
}

static CUstreamBatchMemOpParams draw_operation(void)
{
    CUstreamBatchMemOpParams p = {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32}};
    p.writeValue.address = memory + 64 * (draw() % WORDS) + (chance(5) ? 2 : 32);
    p.writeValue.value = (unsigned)draw();
    return p;
}

static CUresult add(int g, int type, CUgraphNode *out)
{
    size_t count;
    const CUgraphNode *deps = pick_dependencies(g, &count);
    CUDA_MEMSET_NODE_PARAMS set = draw_memset();
    CUDA_MEMCPY3D copy = draw_memcpy();
    CUDA_HOST_NODE_PARAMS call = draw_host();
    CUstreamBatchMemOpParams operation = draw_operation();
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {.ctx = context, .count = 1, .paramArray = &operation};
    int e = (int)(draw() % 2);
    switch (type) {
    case 0:
        return cuGraphAddEmptyNode(out, graphs[g], deps, count);
    case 1:
        return cuGraphAddMemsetNode(out, graphs[g], deps, count, &set, context);
    case 2:
        return cuGraphAddMemcpyNode(out, graphs[g], deps, count, &copy, context);
    case 3:
        return cuGraphAddHostNode(out, graphs[g], deps, count, &call);
    case 4: // not the graph itself: a card's driver crashes
        return cuGraphAddChildGraphNode(out, graphs[g], deps, count, graphs[1 - g]);
    case 5:
        return cuGraphAddEventRecordNode(out, graphs[g], deps, count, events[e]);
    case 6:
        return cuGraphAddEventWaitNode(out, graphs[g], deps, count, events[e]);
    default:
        return cuGraphAddBatchMemOpNode(out, graphs[g], deps, count, &batch);
    }
}

static void add_node(int g)
{
    int type = (int)(draw() % 8), n = (int)(draw() % NODES);
    CUgraphNode node = NULL;
    CUresult r = add(g, type, &node);
    SAY("add%d,%d=%s ", g, type, record_brief(r));
    if (r || nodes[n].node)
        return;
    nodes[n].node = node;
    nodes[n].graph = g;
}

static void change_edges(int g)
{
    CUgraphNode from = nodes[draw() % NODES].node, to = nodes[draw() % NODES].node;
    bool removes = chance(35);
    if (!from || !to)
        return;
    CUresult r = removes ? cuGraphRemoveDependencies(graphs[g], &from, &to, NULL, 1)
                         : cuGraphAddDependencies(graphs[g], &from, &to, NULL, 1);
    SAY("%s%d=%s ", removes ? "cut" : "edge", g, record_brief(r));
}

static void ask_graph(int g)
{
    size_t count = 0, edges = 0, roots = 0, before = 0, after = 0;
    CUgraphNodeType type = (CUgraphNodeType)99;
    CUgraphNode node = nodes[draw() % NODES].node;
    CUresult r = cuGraphGetNodes(graphs[g], NULL, &count);
    cuGraphGetEdges(graphs[g], NULL, NULL, NULL, &edges);
    cuGraphGetRootNodes(graphs[g], NULL, &roots);
    SAY("ask%d=%s,%zu,%zu,%zu ", g, record_brief(r), count, edges, roots);
    if (!node)
        return;
    r = cuGraphNodeGetType(node, &type);
    cuGraphNodeGetDependencies(node, NULL, NULL, &before);
    cuGraphNodeGetDependentNodes(node, NULL, NULL, &after);
    SAY("node=%s,%d,%zu,%zu ", record_brief(r), (int)type, before, after);
}

static void destroy_node(void)
{
    int n = (int)(draw() % NODES);
    if (!nodes[n].node)
        return;
    SAY("kill=%s ", record_brief(cuGraphDestroyNode(nodes[n].node)));
    nodes[n].node = NULL;
}

static void instantiate(int g, int x)
{
    static const unsigned long long flags[] = {0, 0, 0, 0, 1, 2, 4, 8, 9, 16, 32};
    CUDA_GRAPH_INSTANTIATE_PARAMS p = {.flags = PICK(flags), .hUploadStream = stream};
    bool with_params = chance(40);
    CUgraphExec exec = NULL;
    CUresult r = with_params ? cuGraphInstantiateWithParams(&exec, graphs[g], &p)
                             : cuGraphInstantiate(&exec, graphs[g], p.flags);
    SAY("make%d,%d,%llu=%s", g, x, (unsigned long long)p.flags, record_brief(r));
    if (with_params)
        SAY(",%d,%d", (int)p.result_out, p.hErrNode_out != NULL);
    SAY(" ");
    if (r)
        return;
    if (execs[x])
        SAY("exit%d=%s ", x, record_brief(cuGraphExecDestroy(execs[x])));
    execs[x] = exec;
}

static unsigned checksum(void)
{
    unsigned sum = 0;
    static unsigned words[SIZE / 4];
    if (cuMemcpyDtoH(words, memory, SIZE))
        return 77;
    for (unsigned i = 0; i < SIZE / 4; i++)
        sum = sum * 31 + words[i];
    return sum;
}

// Only a chain has one possible outcome: other graphs may write the same bytes in any order.
static bool is_chain(CUgraph graph)
{
    CUgraphNode list[64];
    size_t count = 64, edges = 0;
    if (cuGraphGetNodes(graph, list, &count) || cuGraphGetEdges(graph, NULL, NULL, NULL, &edges))
        return false;
    for (size_t i = 0; i < count && i < 64; i++) {
        size_t before = 0, after = 0;
        CUgraphNodeType type = CU_GRAPH_NODE_TYPE_GRAPH;
        cuGraphNodeGetDependencies(list[i], NULL, NULL, &before);
        cuGraphNodeGetDependentNodes(list[i], NULL, NULL, &after);
        cuGraphNodeGetType(list[i], &type);
        if (before > 1 || after > 1 || type == CU_GRAPH_NODE_TYPE_GRAPH)
            return false;
    }
    return edges + 1 == count;
}

static bool chain_of[EXECS];

static void launch(int x)
{
    int before[4];
    memcpy(before, host_calls, sizeof before);
    if (!execs[x])
        return;
    NEED(cuMemsetD8(memory, 0, SIZE));
    CUresult r = cuGraphLaunch(execs[x], stream);
    CUresult end = cuStreamSynchronize(stream);
    SAY("launch%d=%s,%s", x, record_brief(r), record_brief(end));
    for (int i = 0; i < 4; i++)
        SAY(",%d", host_calls[i] - before[i]);
    if (chain_of[x])
        SAY(",%08x", checksum());
    SAY(" ");
}

static void change_exec(int x)
{
    int n = (int)(draw() % NODES), e = (int)(draw() % 2);
    CUDA_MEMSET_NODE_PARAMS set = draw_memset();
    CUDA_MEMCPY3D copy = draw_memcpy();
    CUDA_HOST_NODE_PARAMS call = draw_host();
    unsigned enabled = 7;
    bool right = chance(85);
    int type = (int)(draw() % 6);
    CUgraphNodeType is = (CUgraphNodeType)99;
    CUgraphNode node = nodes[n].node;
    CUresult r;
    if (!execs[x] || !node)
        return;
    cuGraphNodeGetType(node, &is);
    if (right)
        type = is == CU_GRAPH_NODE_TYPE_MEMSET         ? 0
               : is == CU_GRAPH_NODE_TYPE_MEMCPY       ? 1
               : is == CU_GRAPH_NODE_TYPE_HOST         ? 2
               : is == CU_GRAPH_NODE_TYPE_EVENT_RECORD ? 3
               : is == CU_GRAPH_NODE_TYPE_WAIT_EVENT   ? 4
                                                       : 5;
    switch (type) {
    case 0:
        r = cuGraphExecMemsetNodeSetParams(execs[x], node, &set, context);
        break;
    case 1:
        r = cuGraphExecMemcpyNodeSetParams(execs[x], node, &copy, context);
        break;
    case 2:
        r = cuGraphExecHostNodeSetParams(execs[x], node, &call);
        break;
    case 3:
        r = cuGraphExecEventRecordNodeSetEvent(execs[x], node, events[e]);
        break;
    case 4:
        r = cuGraphExecEventWaitNodeSetEvent(execs[x], node, events[e]);
        break;
    default:
        r = cuGraphNodeSetEnabled(execs[x], node, (unsigned)(draw() % 2));
        break;
    }
    SAY("set%d,%d,%d=%s,", x, (int)is, type, record_brief(r));
    r = cuGraphNodeGetEnabled(execs[x], node, &enabled);
    SAY("%s,%u ", record_brief(r), enabled);
}

static void change_node(void)
{
    int n = (int)(draw() % NODES);
    CUDA_MEMSET_NODE_PARAMS set = draw_memset();
    CUDA_MEMCPY3D copy = draw_memcpy();
    CUDA_HOST_NODE_PARAMS call = draw_host();
    CUgraphNode node = nodes[n].node;
    int type = (int)(draw() % 3);
    if (!node)
        return;
    CUresult r = type == 0   ? cuGraphMemsetNodeSetParams(node, &set)
                 : type == 1 ? cuGraphMemcpyNodeSetParams(node, &copy)
                             : cuGraphHostNodeSetParams(node, &call);
    SAY("params,%d=%s ", type, record_brief(r));
}

static void copy_graph(int g)
{
    CUgraph copy = NULL;
    CUgraphNode found = NULL, node = nodes[draw() % NODES].node;
    size_t count = 0, edges = 0;
    CUresult r = cuGraphClone(&copy, graphs[g]);
    SAY("clone%d=%s", g, record_brief(r));
    if (!r) {
        cuGraphGetNodes(copy, NULL, &count);
        cuGraphGetEdges(copy, NULL, NULL, NULL, &edges);
        SAY(",%zu,%zu", count, edges);
        if (node)
            SAY(",%s", record_brief(cuGraphNodeFindInClone(&found, node, copy)));
        cuGraphDestroy(copy);
    }
    SAY(" ");
}

static void update(int g, int x)
{
    CUgraphExecUpdateResultInfo info = {0};
    if (!execs[x])
        return;
    CUresult r = cuGraphExecUpdate(execs[x], graphs[g], &info);
    SAY("update%d,%d=%s,%d,%d,%d ", x, g, record_brief(r), (int)info.result, info.errorNode != NULL,
        info.errorFromNode != NULL);
    chain_of[x] = false;
}

static void step(void)
{
    int g = (int)(draw() % GRAPHS), x = (int)(draw() % EXECS);
    uint64_t kind = draw() % 100;
    if (kind < 34)
        add_node(g);
    else if (kind < 46)
        change_edges(g);
    else if (kind < 54)
        ask_graph(g);
    else if (kind < 58)
        destroy_node();
    else if (kind < 70) {
        bool chain = is_chain(graphs[g]);
        CUgraphExec old = execs[x];
        instantiate(g, x);
        if (execs[x] != old)
            chain_of[x] = chain;
    } else if (kind < 80)
        launch(x);
    else if (kind < 88)
        change_exec(x);
    else if (kind < 92)
        change_node();
    else if (kind < 95)
        copy_graph(g);
    else
        update(g, x);
}

static void set_up(void)
{
    context = record_context();
    NEED(cuMemAlloc(&memory, SIZE));
    NEED(cuMemAlloc(&source, SIZE));
    NEED(cuMemHostAlloc((void **)&host, SIZE, 0));
    for (unsigned i = 0; i < SIZE / 4; i++)
        host[i] = i * 0x01010101u;
    NEED(cuMemcpyHtoD(source, host, SIZE));
    NEED(cuStreamCreate(&stream, 0));
    NEED(cuEventCreate(&events[0], 0));
    NEED(cuEventCreate(&events[1], 0));
}

GROUP(graphs)
{
    set_up();
    for (int i = 0; i < WALKS; i++) {
        draw_seed(810000 + (uint64_t)i);
        if (!CASE("walk-%d", i))
            continue;
        memset(nodes, 0, sizeof nodes);
        memset(execs, 0, sizeof execs);
        memset(chain_of, 0, sizeof chain_of);
        for (int g = 0; g < GRAPHS; g++)
            NEED(cuGraphCreate(&graphs[g], 0));
        // Most graphs begin as a chain, so that launches write something that can be compared.
        for (int n = 0; n < 3; n++)
            add_node(0);
        for (int n = 0; n < STEPS; n++)
            step();
        launch(0);
        launch(1);
        SAY("end");
        for (int x = 0; x < EXECS; x++)
            if (execs[x])
                cuGraphExecDestroy(execs[x]);
        for (int g = 0; g < GRAPHS; g++)
            cuGraphDestroy(graphs[g]);
    }
}

// ---- chains: what they write

GROUP(chains)
{
    set_up();
    for (int i = 0; i < 200; i++) {
        static const int types[] = {0, 1, 2, 3, 5, 7};
        CUgraphNode last = NULL, node;
        CUgraph graph;
        CUgraphExec exec;
        draw_seed(820000 + (uint64_t)i);
        if (!CASE("chain-%d", i))
            continue;
        memset(nodes, 0, sizeof nodes);
        NEED(cuGraphCreate(&graphs[0], 0));
        graph = graphs[0];
        int length = 1 + (int)(draw() % 12), made = 0;
        for (int n = 0; n < length; n++) {
            if (add(0, PICK(types), &node))
                continue;
            if (last)
                NEED(cuGraphAddDependencies(graph, &last, &node, NULL, 1));
            last = node;
            made++;
        }
        SAY("%d ", made);
        CUresult r = cuGraphInstantiate(&exec, graph, 0);
        SAY("%s", record_brief(r));
        if (!r) {
            execs[0] = exec;
            chain_of[0] = true;
            for (int run = 0; run < 2; run++) {
                SAY(" ");
                launch(0);
            }
            cuGraphExecDestroy(exec);
        }
        cuGraphDestroy(graph);
    }
}

int main(int argc, char **argv)
{
    RUN(graphs);
    RUN(chains);
    return 0;
}
