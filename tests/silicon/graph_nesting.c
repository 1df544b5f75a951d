// SPDX-License-Identifier: MIT
// Rules of graphs that other programs leave open: how deep graphs nest, what may be added to the
// graph inside of a child graph node, and updates whose edges have other ports and types.
#include "draw.h"
#include "record.h"

static CUcontext context;
static CUdeviceptr memory;
static CUstream stream;

static void nothing(void *unused)
{
    (void)unused;
}

static void set_up(void)
{
    context = record_context();
    NEED(cuMemAlloc(&memory, 65536));
    NEED(cuMemsetD8(memory, 0, 65536));
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuCtxSynchronize());
}

static CUgraph new_graph(void)
{
    CUgraph g;
    NEED(cuGraphCreate(&g, 0));
    return g;
}

static CUresult add_set(CUgraph g, unsigned word, CUgraphNode *out)
{
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = memory + 64 * word, .elementSize = 4, .width = 1, .height = 1, .value = 7};
    return cuGraphAddMemsetNode(out, g, NULL, 0, &set, context);
}

static CUresult add_child(CUgraph g, CUgraph child, int ownership, CUgraphNode *out)
{
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    p.graph.graph = child;
    p.graph.ownership = (CUgraphChildGraphNodeOwnership)ownership;
    return cuGraphAddNode(out, g, NULL, NULL, 0, &p);
}

static CUresult add_condition(CUgraph g, CUgraphConditionalHandle h, CUgraph *body)
{
    CUgraphNode n;
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    p.conditional.handle = h;
    p.conditional.type = CU_GRAPH_COND_TYPE_IF;
    p.conditional.size = 1;
    p.conditional.ctx = context;
    CUresult r = cuGraphAddNode(&n, g, NULL, NULL, 0, &p);
    if (body)
        *body = r ? NULL : p.conditional.phGraph_out[0];
    return r;
}

static unsigned word_at(unsigned word)
{
    unsigned value = 99;
    NEED(cuMemcpyDtoH(&value, memory + 64 * word, 4));
    return value;
}

// Instantiates, launches, updates and ends a graph.
static void run(CUgraph g)
{
    CUgraphExec x = NULL;
    CUgraphExecUpdateResultInfo info = {0};
    CUresult r = cuGraphInstantiate(&x, g, 0);
    SAY("make %s ", record_brief(r));
    if (r)
        return;
    r = cuGraphLaunch(x, stream);
    SAY("run %s,", record_brief(r));
    SAY("%s ", record_brief(cuStreamSynchronize(stream)));
    SAY("word %u ", word_at(0));
    r = cuGraphExecUpdate(x, g, &info);
    SAY("update %s,%d ", record_brief(r), (int)info.result);
    SAY("end %s ", record_brief(cuGraphExecDestroy(x)));
}

// ---- nesting: graphs in graphs

GROUP(nesting)
{
    static const int depths[] = {8, 32, 64, 128, 256, 512, 1024, 4096, 20000};
    set_up();
    for (int own = 0; own < 2; own++)
        for (unsigned d = 0; d < COUNT(depths); d++) {
            if (!own && depths[d] > 1024)
                continue; // each level copies all levels below
            if (!CASE("%s-%d", own ? "moved" : "cloned", depths[d]))
                continue;
            CUgraph g = new_graph();
            CUgraphNode n;
            NEED(add_set(g, 0, &n));
            CUresult r = CUDA_SUCCESS;
            int made = 0;
            for (; made < depths[d] && !r; made++) {
                CUgraph outer = new_graph();
                r = add_child(outer, g, own, &n);
                if (!own)
                    cuGraphDestroy(g);
                g = outer;
            }
            SAY("%s at %d ", record_brief(r), made);
            CUgraph clone = NULL;
            if (!r) {
                r = cuGraphClone(&clone, g);
                SAY("clone %s ", record_brief(r));
                run(g);
            }
            if (clone)
                SAY("end clone %s ", record_brief(cuGraphDestroy(clone)));
            SAY("end %s", record_brief(cuGraphDestroy(g)));
        }
    static const int bodies[] = {1, 2, 4, 7, 8, 9, 16, 32, 64, 128};
    for (unsigned d = 0; d < COUNT(bodies); d++)
        if (CASE("bodies-%d", bodies[d])) {
            CUgraph g = new_graph(), in = g;
            CUgraphNode n;
            CUresult r = CUDA_SUCCESS;
            int made = 0;
            for (; made < bodies[d] && !r; made++) {
                CUgraphConditionalHandle h;
                NEED(cuGraphConditionalHandleCreate(&h, g, context, 1, 1));
                r = add_condition(in, h, &in);
            }
            SAY("%s at %d ", record_brief(r), made);
            if (!r) {
                SAY("set %s ", record_brief(add_set(in, 0, &n)));
                NEED(cuMemsetD8(memory, 0, 1024));
                run(g);
            }
            SAY("end %s", record_brief(cuGraphDestroy(g)));
        }
}

// ---- embedded: what may be added to the graph inside of a child graph node

GROUP(embedded)
{
    set_up();
    // own: 0 a clone, 1 moved and found by the old handle, 2 moved and asked for
    for (int own = 0; own < 3; own++)
        for (int i = 0; i < 12; i++)
            if (CASE("add-%d-%d", own, i)) {
                CUgraph g = new_graph(), child = new_graph(), in = NULL, other = new_graph();
                CUgraphNode c, n, m = NULL;
                CUgraphConditionalHandle h = 0;
                NEED(add_set(child, 1, &n));
                NEED(add_child(g, child, own > 0, &c));
                CUresult r = own == 1 ? CUDA_SUCCESS : cuGraphChildGraphNodeGetGraph(c, &in);
                if (own == 1)
                    in = child;
                SAY("get %s ", record_brief(r));
                CUDA_MEM_ALLOC_NODE_PARAMS alloc = {
                    .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
                    .bytesize = 64};
                CUDA_HOST_NODE_PARAMS fn = {.fn = nothing};
                CUgraph body = NULL, out = NULL;
                switch (i) {
                case 0: // a handle of the outer graph
                    r = cuGraphConditionalHandleCreate(&h, g, context, 1, 1);
                    SAY("handle %s ", record_brief(r));
                    SAY("node %s ", record_brief(add_condition(in, h, &body)));
                    break;
                case 1: // a handle of the embedded graph
                    r = cuGraphConditionalHandleCreate(&h, in, context, 1, 1);
                    SAY("handle %s ", record_brief(r));
                    SAY("node %s ", record_brief(add_condition(in, h, &body)));
                    break;
                case 2: // a handle of the embedded graph for a node of the outer graph
                    r = cuGraphConditionalHandleCreate(&h, in, context, 1, 1);
                    SAY("handle %s ", record_brief(r));
                    SAY("node %s ", record_brief(add_condition(g, h, &body)));
                    break;
                case 3: // a handle that no node uses
                    r = cuGraphConditionalHandleCreate(&h, in, context, 1, 1);
                    SAY("handle %s ", record_brief(r));
                    break;
                case 4:
                    r = cuGraphAddMemAllocNode(&m, in, NULL, 0, &alloc);
                    SAY("alloc %s ", record_brief(r));
                    break;
                case 5:
                    r = cuGraphAddMemFreeNode(&m, in, NULL, 0, memory);
                    SAY("free %s ", record_brief(r));
                    break;
                case 6:
                    SAY("set %s ", record_brief(add_set(in, 0, &m)));
                    SAY("kill %s ", record_brief(cuGraphDestroyNode(n)));
                    break;
                case 7:
                    SAY("host %s ", record_brief(cuGraphAddHostNode(&m, in, NULL, 0, &fn)));
                    break;
                case 8: // a child of the child
                    NEED(add_set(other, 0, &m));
                    SAY("child %s ", record_brief(add_child(in, other, 1, &m)));
                    break;
                case 9: // a child with a conditional node
                    NEED(cuGraphConditionalHandleCreate(&h, other, context, 1, 1));
                    NEED(add_condition(other, h, &body));
                    SAY("clone %s ", record_brief(add_child(in, other, 0, &m)));
                    SAY("move %s ", record_brief(add_child(in, other, 1, &m)));
                    break;
                case 10: // captured work
                    r = cuStreamBeginCaptureToGraph(stream, in, NULL, NULL, 0,
                                                    CU_STREAM_CAPTURE_MODE_RELAXED);
                    SAY("begin %s ", record_brief(r));
                    if (!r) {
                        SAY("work %s ", record_brief(cuMemsetD32Async(memory, 7, 1, stream)));
                        SAY("end %s ", record_brief(cuStreamEndCapture(stream, &out)));
                        SAY("%s ", out == in ? "same" : "other");
                    }
                    break;
                case 11:
                    SAY("destroy %s ", record_brief(cuGraphDestroy(in)));
                    break;
                }
                if (body)
                    SAY("set %s ", record_brief(add_set(body, 0, &m)));
                NEED(cuMemsetD8(memory, 0, 1024));
                run(g);
                CUgraph clone = NULL;
                r = cuGraphClone(&clone, g);
                SAY("clone %s ", record_brief(r));
                SAY("end %s", record_brief(cuGraphDestroy(g)));
            }
    // A child graph inside of a body, and then a conditional node inside of that.
    for (int own = 0; own < 2; own++)
        for (int i = 0; i < 2; i++)
            if (CASE("in-body-%d-%d", own, i)) {
                CUgraph g = new_graph(), child = new_graph(), body = NULL, in = NULL;
                CUgraphConditionalHandle h = 0, k = 0;
                CUgraphNode c, n;
                NEED(cuGraphConditionalHandleCreate(&h, g, context, 1, 1));
                NEED(add_condition(g, h, &body));
                NEED(add_set(child, 0, &n));
                CUresult r = add_child(body, child, own, &c);
                SAY("child %s ", record_brief(r));
                if (!r) {
                    NEED(cuGraphChildGraphNodeGetGraph(c, &in));
                    r = cuGraphConditionalHandleCreate(&k, i ? in : g, context, 1, 1);
                    SAY("handle %s ", record_brief(r));
                    SAY("node %s ", record_brief(add_condition(in, k, NULL)));
                    run(g);
                }
                SAY("end %s", record_brief(cuGraphDestroy(g)));
            }
}

// ---- edge_updates: edges between kernels whose ports or types differ

static const char TEXT[] = ".version 7.8\n.target sm_75\n.address_size 64\n"
                           ".visible .entry edge_first()\n{\nret;\n}\n"
                           ".visible .entry edge_second()\n{\nret;\n}\n";
static CUfunction first, second;

static const struct {
    CUgraphEdgeData data;
    const char *name;
} kinds[] = {
    {{0}, "full"},
    {{.from_port = 1, .type = 1}, "programmatic"},
    {{.from_port = 2, .type = 1}, "launch-order"},
    {{.from_port = 1, .type = 0}, "port-1"},
    {{.from_port = 2, .type = 0}, "port-2"},
    {{.from_port = 0, .type = 1}, "type-1"},
};

static CUgraphNode add_kernel(CUgraph g, CUfunction f)
{
    CUgraphNode n;
    CUDA_KERNEL_NODE_PARAMS k = {.func = f,
                                 .gridDimX = 1,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = 32,
                                 .blockDimY = 1,
                                 .blockDimZ = 1};
    NEED(cuGraphAddKernelNode(&n, g, NULL, 0, &k));
    return n;
}

// Kernels a, b, c with the edges a-b and b-c (and a-c).
static CUresult three(CUgraph g, unsigned ab, unsigned bc, int ac, CUgraphNode nodes[3])
{
    nodes[0] = add_kernel(g, first);
    nodes[1] = add_kernel(g, second);
    nodes[2] = add_kernel(g, first);
    CUresult r = cuGraphAddDependencies(g, &nodes[0], &nodes[1], &kinds[ab].data, 1);
    if (!r)
        r = cuGraphAddDependencies(g, &nodes[1], &nodes[2], &kinds[bc].data, 1);
    if (!r && ac >= 0)
        r = cuGraphAddDependencies(g, &nodes[0], &nodes[2], &kinds[ac].data, 1);
    return r;
}

static int index_in(const CUgraphNode *list, CUgraphNode node)
{
    for (int i = 0; i < 3; i++)
        if (list[i] == node)
            return i;
    return node ? 99 : -1;
}

GROUP(edge_updates)
{
    CUmodule module;
    set_up();
    NEED(cuModuleLoadData(&module, TEXT));
    NEED(cuModuleGetFunction(&first, module, "edge_first"));
    NEED(cuModuleGetFunction(&second, module, "edge_second"));
    for (unsigned k = 0; k < COUNT(kinds); k++)
        if (CASE("add-%s", kinds[k].name)) {
            CUgraph g = new_graph();
            CUgraphNode n[3], from[4], to[4];
            CUgraphEdgeData data[4] = {{0}};
            size_t count = 4;
            CUresult r = three(g, k, 0, -1, n);
            SAY("%s ", record_brief(r));
            if (r)
                continue;
            SAY("edges %s ", record_brief(cuGraphGetEdges(g, from, to, data, &count)));
            for (size_t i = 0; i < count; i++)
                SAY("%d-%d:%d,%d,%d ", index_in(n, from[i]), index_in(n, to[i]), data[i].from_port,
                    data[i].to_port, data[i].type);
            CUgraphExec x = NULL;
            r = cuGraphInstantiate(&x, g, 0);
            SAY("make %s ", record_brief(r));
            if (!r) {
                SAY("run %s,", record_brief(cuGraphLaunch(x, stream)));
                SAY("%s ", record_brief(cuStreamSynchronize(stream)));
            }
            for (unsigned other = 0; other < COUNT(kinds); other++)
                SAY("again as %s %s ", kinds[other].name,
                    record_brief(cuGraphAddDependencies(g, &n[0], &n[1], &kinds[other].data, 1)));
            SAY("remove as full %s ",
                record_brief(cuGraphRemoveDependencies(g, &n[0], &n[1], NULL, 1)));
            SAY("remove %s",
                record_brief(cuGraphRemoveDependencies(g, &n[0], &n[1], &kinds[k].data, 1)));
        }
    for (unsigned a = 0; a < 3; a++)
        for (unsigned b = 0; b < 3; b++)
            for (unsigned shape = 0; shape < 3; shape++)
                if (CASE("update-%s-%s-%u", kinds[a].name, kinds[b].name, shape)) {
                    CUgraph g = new_graph(), h = new_graph();
                    CUgraphNode old[3], new[3];
                    CUgraphExec x = NULL;
                    CUgraphExecUpdateResultInfo info = {0};
                    // 0: the first edge differs; 1: the second one; 2: the third one, and c has
                    // two edges
                    NEED(three(g, shape == 0 ? a : 0, shape == 1 ? a : 0, shape == 2 ? (int)a : -1,
                               old));
                    NEED(three(h, shape == 0 ? b : 0, shape == 1 ? b : 0, shape == 2 ? (int)b : -1,
                               new));
                    NEED(cuGraphInstantiate(&x, g, 0));
                    CUresult r = cuGraphExecUpdate(x, h, &info);
                    SAY("%s,%d,%d,%d ", record_brief(r), (int)info.result,
                        index_in(new, info.errorNode), index_in(new, info.errorFromNode));
                    r = cuGraphExecUpdate(x, g, &info);
                    SAY("back %s,%d ", record_brief(r), (int)info.result);
                    SAY("run %s,", record_brief(cuGraphLaunch(x, stream)));
                    SAY("%s", record_brief(cuStreamSynchronize(stream)));
                }
}

int main(int argc, char **argv)
{
    RUN(nesting);
    RUN(embedded);
    RUN(edge_updates);
    return 0;
}
