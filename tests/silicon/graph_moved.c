// SPDX-License-Identifier: MIT
// Rules of graphs that were moved into a child graph node, and of the priorities of kernel nodes
// inside of conditional nodes.
#include "draw.h"
#include "record.h"

static CUcontext context;
static CUdeviceptr memory;
static CUstream stream;

static const char TEXT[] = ".version 7.8\n.target sm_75\n.address_size 64\n"
                           ".visible .entry moved_first()\n{\nret;\n}\n"
                           ".visible .entry moved_second()\n{\nret;\n}\n";
static CUfunction first, second;

static void nothing(void *unused)
{
    (void)unused;
}

static void set_up(void)
{
    CUmodule module;
    context = record_context();
    NEED(cuMemAlloc(&memory, 65536));
    NEED(cuMemsetD8(memory, 0, 65536));
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuModuleLoadData(&module, TEXT));
    NEED(cuModuleGetFunction(&first, module, "moved_first"));
    NEED(cuModuleGetFunction(&second, module, "moved_second"));
    NEED(cuCtxSynchronize());
}

static CUgraph new_graph(void)
{
    CUgraph g;
    NEED(cuGraphCreate(&g, 0));
    return g;
}

static CUgraphNode add_set(CUgraph g, unsigned word, unsigned value)
{
    CUgraphNode n;
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = memory + 64 * word, .elementSize = 4, .width = 1, .height = 1, .value = value};
    NEED(cuGraphAddMemsetNode(&n, g, NULL, 0, &set, context));
    return n;
}

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
    *body = r ? NULL : p.conditional.phGraph_out[0];
    return r;
}

static unsigned word_at(unsigned word)
{
    unsigned value = 99;
    NEED(cuMemcpyDtoH(&value, memory + 64 * word, 4));
    return value;
}

static void launch(CUgraphExec x)
{
    NEED(cuMemsetD8(memory, 0, 1024));
    NEED(cuCtxSynchronize());
    SAY("run %s,", record_brief(cuGraphLaunch(x, stream)));
    SAY("%s ", record_brief(cuStreamSynchronize(stream)));
    SAY("%u,%u ", word_at(0), word_at(1));
}

// ---- graphs that can be a child: variant 1 has another value, 2 another node, 3 another type

static const char CONTENTS[] = "skhmcn";

static CUgraph content(char kind, int variant)
{
    CUgraph g = new_graph(), inner;
    CUgraphNode n = NULL, m;
    CUdeviceptr p;
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = variant == 1 ? 4096 : 64};
    CUDA_HOST_NODE_PARAMS fn = {.fn = nothing, .userData = variant == 1 ? &memory : NULL};
    if (variant == 3) {
        NEED(cuGraphAddEmptyNode(&n, g, NULL, 0));
        return g;
    }
    switch (kind) {
    case 's':
        add_set(g, 0, variant == 1 ? 6 : 5);
        break;
    case 'k':
        add_kernel(g, variant == 1 ? second : first);
        break;
    case 'h':
        NEED(cuGraphAddHostNode(&n, g, NULL, 0, &fn));
        break;
    case 'm': // an allocation, and its end
        NEED(cuGraphAddMemAllocNode(&n, g, NULL, 0, &alloc));
        p = alloc.dptr;
        NEED(cuGraphAddMemFreeNode(&m, g, &n, 1, p));
        break;
    case 'c': // a child graph, cloned
    case 'n': // moved
        inner = new_graph();
        add_set(inner, 0, variant == 1 ? 6 : 5);
        NEED(add_child(g, inner, kind == 'n', &n));
        break;
    }
    if (variant == 2)
        add_set(g, 1, 8);
    return g;
}

GROUP(moved)
{
    static const cuuint64_t flags[] = {0, 1, 4, 8};
    set_up();
    for (unsigned k = 0; CONTENTS[k]; k++) {
        const char kind = CONTENTS[k];
        for (int own = 0; own < 2; own++) {
            if (CASE("make-%c-%d", kind, own)) {
                CUgraph g = new_graph(), child = content(kind, 0), in = NULL, clone = NULL;
                CUgraphNode n;
                CUresult r = add_child(g, child, own, &n);
                SAY("%s ", record_brief(r));
                if (r)
                    continue;
                SAY("get %s,", record_brief(cuGraphChildGraphNodeGetGraph(n, &in)));
                SAY("%s ", in == child ? "same" : "other");
                for (unsigned f = 0; f < COUNT(flags); f++) {
                    CUgraphExec x = NULL, y = NULL;
                    r = cuGraphInstantiate(&x, g, flags[f]);
                    SAY("%u: %s ", (unsigned)flags[f], record_brief(r));
                    if (r)
                        continue;
                    launch(x);
                    launch(x);
                    SAY("twice %s ", record_brief(cuGraphInstantiate(&y, g, flags[f])));
                    SAY("end %s ", record_brief(cuGraphExecDestroy(x)));
                    if (y)
                        SAY("end %s ", record_brief(cuGraphExecDestroy(y)));
                }
                r = cuGraphClone(&clone, g);
                SAY("clone %s ", record_brief(r));
                if (!r) {
                    CUgraphNode m = NULL;
                    CUgraphExec x = NULL;
                    SAY("find %s ", record_brief(cuGraphNodeFindInClone(&m, n, clone)));
                    SAY("make %s ", record_brief(cuGraphInstantiate(&x, clone, 0)));
                    if (x)
                        launch(x);
                }
                SAY("end %s", record_brief(cuGraphDestroy(g)));
            }
            // Calls with the graph that is inside.
            for (int i = 0; i < 12; i++)
                if (CASE("inside-%c-%d-%d", kind, own, i)) {
                    CUgraph g = new_graph(), child = content(kind, 0), in = NULL, out = NULL;
                    CUgraphNode n, m = NULL, list[8];
                    CUgraphExec x = NULL;
                    CUgraphExecUpdateResultInfo info = {0};
                    CUuserObject object = NULL;
                    size_t count = 8;
                    CUresult r = add_child(g, child, own, &n);
                    SAY("%s ", record_brief(r));
                    if (r)
                        continue;
                    NEED(cuGraphChildGraphNodeGetGraph(n, &in));
                    switch (i) {
                    case 0:
                        r = cuGraphInstantiate(&x, in, 0);
                        break;
                    case 1:
                        r = cuGraphDestroy(in);
                        break;
                    case 2:
                        r = cuGraphClone(&out, in);
                        break;
                    case 3:
                        r = add_child(new_graph(), in, 0, &m);
                        break;
                    case 4:
                        r = add_child(new_graph(), in, 1, &m);
                        break;
                    case 5: // the exec of an equal graph
                        NEED(cuGraphInstantiate(&x, content(kind, 1), 0));
                        r = cuGraphExecUpdate(x, in, &info);
                        SAY("result %d ", (int)info.result);
                        break;
                    case 6: // the exec of the outer graph
                        NEED(cuGraphInstantiate(&x, g, 0));
                        r = cuGraphExecUpdate(x, in, &info);
                        SAY("result %d ", (int)info.result);
                        break;
                    case 7:
                        r = cuGraphGetNodes(in, list, &count);
                        SAY("count %u ", (unsigned)count);
                        break;
                    case 8: // a node of it
                        NEED(cuGraphGetNodes(in, list, &count));
                        r = cuGraphDestroyNode(list[0]);
                        break;
                    case 9:
                        NEED(cuUserObjectCreate(&object, g, nothing, 1,
                                                CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
                        r = cuGraphRetainUserObject(in, object, 1, 0);
                        break;
                    case 10: // the node goes, and then the graph
                        SAY("node %s ", record_brief(cuGraphDestroyNode(n)));
                        r = cuGraphInstantiate(&x, g, 0);
                        break;
                    case 11: // a node that depends on one outside
                        NEED(cuGraphGetNodes(in, list, &count));
                        r = cuGraphAddDependencies(g, &n, &list[0], NULL, 1);
                        break;
                    }
                    SAY("%s ", record_brief(r));
                    r = cuGraphInstantiate(&x, g, 0);
                    SAY("make %s ", record_brief(r));
                    if (!r)
                        launch(x);
                    SAY("end %s", record_brief(cuGraphDestroy(g)));
                }
        }
    }
}

// ---- updates of instances with moved graphs

static CUgraph outer_of(char kind, int variant, int own, CUgraphNode *n, CUgraph *child)
{
    CUgraph g = new_graph();
    *child = content(kind, variant);
    CUresult r = add_child(g, *child, own, n);
    if (r)
        SAY("add %s ", record_brief(r));
    return r ? NULL : g;
}

GROUP(updates)
{
    set_up();
    for (unsigned k = 0; CONTENTS[k]; k++)
        for (int own = 0; own < 4; own++)
            for (int variant = 0; variant < 4; variant++) {
                const char kind = CONTENTS[k];
                if (CASE("graph-%c-%d%d-%d", kind, own & 1, own >> 1, variant)) {
                    CUgraphNode n[2];
                    CUgraph c[2], g = outer_of(kind, 0, own & 1, &n[0], &c[0]),
                                  h = outer_of(kind, variant, own >> 1, &n[1], &c[1]);
                    CUgraphExec x = NULL;
                    CUgraphExecUpdateResultInfo info = {0};
                    if (!g || !h)
                        continue;
                    NEED(cuGraphInstantiate(&x, g, 0));
                    CUresult r = cuGraphExecUpdate(x, h, &info);
                    SAY("%s,%d,%s,%d ", record_brief(r), (int)info.result,
                        info.errorNode == NULL   ? "none"
                        : info.errorNode == n[1] ? "node"
                        : info.errorNode == n[0] ? "old"
                                                 : "other",
                        info.errorFromNode != NULL);
                    launch(x);
                    r = cuGraphExecUpdate(x, g, &info);
                    SAY("back %s,%d ", record_brief(r), (int)info.result);
                    launch(x);
                }
                // 0: a graph of its own; 1: the one that is inside of another graph's node
                for (int inside = 0; inside < 2; inside++)
                    if (!(own >> 1) && CASE("child-%c-%d-%d-%d", kind, own, variant, inside)) {
                        CUgraphNode n[2];
                        CUgraph c[2], g = outer_of(kind, 0, own, &n[0], &c[0]), in = NULL;
                        CUgraphExec x = NULL;
                        if (!g)
                            continue;
                        NEED(cuGraphInstantiate(&x, g, 0));
                        if (inside) {
                            CUgraph h = outer_of(kind, variant, 1, &n[1], &c[1]);
                            if (!h)
                                continue;
                            NEED(cuGraphChildGraphNodeGetGraph(n[1], &in));
                        } else {
                            in = content(kind, variant);
                        }
                        CUresult r = cuGraphExecChildGraphNodeSetParams(x, n[0], in);
                        SAY("%s ", record_brief(r));
                        launch(x);
                        for (int ownership = -1; ownership < 3; ownership++) {
                            CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
                            p.graph.graph = in;
                            p.graph.ownership = (CUgraphChildGraphNodeOwnership)ownership;
                            r = cuGraphExecNodeSetParams(x, n[0], &p);
                            SAY("%d: %s ", ownership, record_brief(r));
                        }
                        launch(x);
                        NEED(cuGraphChildGraphNodeGetGraph(n[0], &in));
                        r = cuGraphExecChildGraphNodeSetParams(x, n[0], in);
                        SAY("own %s ", record_brief(r));
                        launch(x);
                    }
            }
    // Parameters of the node itself.
    for (unsigned k = 0; CONTENTS[k]; k++)
        for (int own = 0; own < 2; own++)
            for (int ownership = -1; ownership < 3; ownership++)
                if (CASE("node-%c-%d-%d", CONTENTS[k], own, ownership)) {
                    CUgraphNode n;
                    CUgraph child, g = outer_of(CONTENTS[k], 0, own, &n, &child), in = NULL;
                    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
                    CUgraphExec x = NULL;
                    if (!g)
                        continue;
                    CUgraph other = content(CONTENTS[k], 1);
                    p.graph.graph = other;
                    p.graph.ownership = (CUgraphChildGraphNodeOwnership)ownership;
                    SAY("%s ", record_brief(cuGraphNodeSetParams(n, &p)));
                    SAY("get %s,", record_brief(cuGraphChildGraphNodeGetGraph(n, &in)));
                    SAY("%s ", in == other ? "other" : in == child ? "child" : "copy");
                    CUresult r = cuGraphInstantiate(&x, g, 0);
                    SAY("make %s ", record_brief(r));
                    if (!r)
                        launch(x);
                }
}

// ---- priorities of kernel nodes

static CUresult set_priority(CUgraphNode n, int priority)
{
    CUkernelNodeAttrValue v = {.priority = priority};
    return cuGraphKernelNodeSetAttribute(n, CU_LAUNCH_ATTRIBUTE_PRIORITY, &v);
}

static void say_priority(CUgraphNode n)
{
    CUkernelNodeAttrValue v = {.priority = 77};
    CUresult r = cuGraphKernelNodeGetAttribute(n, CU_LAUNCH_ATTRIBUTE_PRIORITY, &v);
    SAY("is %s,%d ", record_brief(r), v.priority);
}

// Makes the place of a kernel node: *in is the graph for it.
static CUgraph place(int where, CUgraph *in)
{
    CUgraph g = new_graph(), child = new_graph(), body = NULL;
    CUgraphConditionalHandle h = 0, k = 0;
    CUgraphNode n;
    *in = g;
    if (!where)
        return g;
    if (where == 1 || where == 2) { // a child graph, cloned or moved
        NEED(add_child(g, child, where == 2, &n));
        NEED(cuGraphChildGraphNodeGetGraph(n, in));
        return g;
    }
    if (where == 6) { // a handle without a node
        NEED(cuGraphConditionalHandleCreate(&h, g, context, 1, 1));
        return g;
    }
    if (where == 7 || where == 8) { // a body in the graph of a child graph node
        NEED(add_child(g, child, where == 8, &n));
        NEED(cuGraphChildGraphNodeGetGraph(n, in));
        NEED(cuGraphConditionalHandleCreate(&h, g, context, 1, 1));
        NEED(add_condition(*in, h, &body));
        *in = body;
        return g;
    }
    NEED(cuGraphConditionalHandleCreate(&h, g, context, 1, 1));
    NEED(add_condition(g, h, &body));
    *in = body;
    if (where == 4) { // a body in the body
        NEED(cuGraphConditionalHandleCreate(&k, g, context, 1, 1));
        NEED(add_condition(body, k, in));
    } else if (where == 5) { // a child graph in the body
        NEED(add_child(body, child, 0, &n));
        NEED(cuGraphChildGraphNodeGetGraph(n, in));
    }
    return g;
}

GROUP(priorities)
{
    static const cuuint64_t flags[] = {0, 8, 9, 10, 12};
    static const int priorities[] = {-100, -6, -5, -1, 0, 1, 5, 100};
    set_up();
    for (int where = 0; where < 9; where++) {
        if (CASE("values-%d", where)) {
            CUgraph in, g = place(where, &in);
            CUgraphNode n = add_kernel(in, first);
            say_priority(n);
            for (unsigned i = 0; i < COUNT(priorities); i++) {
                SAY("%d: %s ", priorities[i], record_brief(set_priority(n, priorities[i])));
                say_priority(n);
            }
            CUgraphNode outside = add_kernel(g, second), inside = add_kernel(in, second);
            SAY("out %s ", record_brief(cuGraphKernelNodeCopyAttributes(outside, n)));
            say_priority(outside);
            NEED(set_priority(outside, -2));
            SAY("in %s ", record_brief(cuGraphKernelNodeCopyAttributes(inside, outside)));
            say_priority(inside);
        }
        for (int used = 0; used < 2; used++)
            for (unsigned f = 0; f < COUNT(flags); f++)
                if (CASE("make-%d-%d-%u", where, used, (unsigned)flags[f])) {
                    CUgraph in, g = place(where, &in);
                    CUgraphNode n = add_kernel(in, first);
                    CUDA_GRAPH_INSTANTIATE_PARAMS p = {.flags = flags[f], .hUploadStream = stream};
                    CUgraphExec x = NULL;
                    CUgraphExecUpdateResultInfo info = {0};
                    cuuint64_t got = 99;
                    if (used)
                        NEED(set_priority(n, -3));
                    CUresult r = cuGraphInstantiateWithParams(&x, g, &p);
                    SAY("%s,%d,%s ", record_brief(r), (int)p.result_out,
                        !p.hErrNode_out       ? "none"
                        : p.hErrNode_out == n ? "kernel"
                                              : "other");
                    if (r)
                        continue;
                    SAY("flags %s,", record_brief(cuGraphExecGetFlags(x, &got)));
                    SAY("%u ", (unsigned)got);
                    launch(x);
                    r = cuGraphExecUpdate(x, g, &info);
                    SAY("update %s,%d ", record_brief(r), (int)info.result);
                    NEED(set_priority(n, -1)); // another priority
                    r = cuGraphExecUpdate(x, g, &info);
                    SAY("other %s,%d ", record_brief(r), (int)info.result);
                    launch(x);
                }
        // Captured from a stream of this priority.
        if (CASE("capture-%d", where)) {
            CUgraph in, g = place(where, &in), out = NULL;
            CUgraphExec x = NULL;
            CUstream s;
            CUgraphNode list[4];
            size_t count = 4;
            NEED(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, -4));
            CUresult r =
                cuStreamBeginCaptureToGraph(s, in, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED);
            SAY("begin %s ", record_brief(r));
            if (r)
                continue;
            SAY("work %s ",
                record_brief(cuLaunchKernel(first, 1, 1, 1, 32, 1, 1, 0, s, NULL, NULL)));
            CUlaunchAttribute a = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value = {.priority = -2}};
            CUlaunchConfig how = {.gridDimX = 1,
                                  .gridDimY = 1,
                                  .gridDimZ = 1,
                                  .blockDimX = 32,
                                  .blockDimY = 1,
                                  .blockDimZ = 1,
                                  .hStream = s,
                                  .attrs = &a,
                                  .numAttrs = 1};
            SAY("with %s ", record_brief(cuLaunchKernelEx(&how, second, NULL, NULL)));
            SAY("end %s ", record_brief(cuStreamEndCapture(s, &out)));
            NEED(cuGraphGetNodes(in, list, &count));
            for (size_t i = 0; i < count; i++) {
                CUgraphNodeType type;
                NEED(cuGraphNodeGetType(list[i], &type));
                if (type == CU_GRAPH_NODE_TYPE_KERNEL)
                    say_priority(list[i]);
            }
            SAY("make %s ", record_brief(cuGraphInstantiate(&x, g, 8)));
            if (x)
                launch(x);
        }
    }
}

int main(int argc, char **argv)
{
    RUN(moved);
    RUN(updates);
    RUN(priorities);
    return 0;
}
