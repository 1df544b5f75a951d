// SPDX-License-Identifier: MIT
// Fuzzes graphs of fills and copies between the cells of one allocation. Each node depends on all
// earlier nodes that it conflicts with, so the result is that of running the nodes in the order in
// which they were added, which the model does. Nodes change and go, graphs are cloned, embedded and
// instantiated again, and executable graphs keep what they were made from.
#include "fuzz.h"

enum { CELLS = 24, NODES = 20, EXECS = 3, STEPS = 48 };

struct node {
    CUgraphNode handle; // or NULL: it was destroyed
    unsigned to, from;  // cells; `from` is CELLS for a fill
    unsigned value;
};

struct graph {
    CUgraph handle;
    unsigned count;
    struct node nodes[NODES];
    bool edges[NODES][NODES]; // from the first to the second
};

struct exec {
    CUgraphExec handle; // or NULL
    struct graph of;    // when it was instantiated
    CUgraphNode nodes[NODES];
};

struct model {
    CUcontext context;
    CUdeviceptr memory;
    unsigned cells[CELLS];
    struct graph graph;
    struct exec execs[EXECS];
};

static CUDA_MEMSET_NODE_PARAMS fill_params(const struct model *m, const struct node *n)
{
    return (CUDA_MEMSET_NODE_PARAMS){
        .dst = m->memory + 4 * n->to, .value = n->value, .elementSize = 4, .width = 1, .height = 1};
}

static CUDA_MEMCPY3D copy_params(const struct model *m, const struct node *n)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = m->memory + 4 * n->from,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = m->memory + 4 * n->to,
                           .WidthInBytes = 4,
                           .Height = 1,
                           .Depth = 1};
}

static bool conflict(const struct node *a, const struct node *b)
{
    return a->to == b->to || a->to == b->from || a->from == b->to;
}

static void run(const struct graph *g, unsigned *cells)
{
    for (unsigned i = 0; i < g->count; i++) {
        const struct node *n = &g->nodes[i];
        if (n->handle)
            cells[n->to] = n->from < CELLS ? cells[n->from] : n->value;
    }
}

// ---- building ----

static void add(struct fuzz_input *in, struct model *m)
{
    struct graph *g = &m->graph;
    CUgraphNode before[NODES];
    unsigned count = 0;
    if (g->count == NODES)
        return;
    struct node *n = &g->nodes[g->count];
    *n = (struct node){.to = fuzz_below(in, CELLS), .from = CELLS};
    if (fuzz_chance(in, 2))
        n->value = (unsigned)fuzz_take(in, 4);
    else
        n->from = (n->to + 1 + fuzz_below(in, CELLS - 1)) % CELLS;
    for (unsigned i = 0; i < g->count; i++) {
        g->edges[i][g->count] =
            g->nodes[i].handle && (conflict(&g->nodes[i], n) || fuzz_chance(in, 16));
        if (g->edges[i][g->count])
            before[count++] = g->nodes[i].handle;
    }
    CUDA_MEMSET_NODE_PARAMS fill = fill_params(m, n);
    CUDA_MEMCPY3D copy = copy_params(m, n);
    if (n->from < CELLS)
        FUZZ_OK(cuGraphAddMemcpyNode(&n->handle, g->handle, before, count, &copy, m->context));
    else
        FUZZ_OK(cuGraphAddMemsetNode(&n->handle, g->handle, before, count, &fill, m->context));
    g->count++;
}

// "Specifying an existing dependency will return an error."
static void add_edge(struct fuzz_input *in, struct model *m)
{
    struct graph *g = &m->graph;
    if (g->count < 2)
        return;
    unsigned to = 1 + fuzz_below(in, g->count - 1), from = fuzz_below(in, to);
    if (!g->nodes[from].handle || !g->nodes[to].handle)
        return;
    CUresult r =
        cuGraphAddDependencies(g->handle, &g->nodes[from].handle, &g->nodes[to].handle, NULL, 1);
    CUresult want = g->edges[from][to] ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    FUZZ_CHECK(r == want, "an edge from %u to %u: %d", from, to, (int)r);
    g->edges[from][to] = true;
}

static void destroy_node(struct fuzz_input *in, struct model *m)
{
    struct graph *g = &m->graph;
    if (!g->count)
        return;
    unsigned n = fuzz_below(in, g->count);
    if (!g->nodes[n].handle)
        return;
    FUZZ_OK(cuGraphDestroyNode(g->nodes[n].handle));
    g->nodes[n].handle = NULL;
    for (unsigned i = 0; i < NODES; i++)
        g->edges[i][n] = g->edges[n][i] = false;
}

static void change_value(struct fuzz_input *in, struct model *m)
{
    struct graph *g = &m->graph;
    if (!g->count)
        return;
    struct node *n = &g->nodes[fuzz_below(in, g->count)];
    if (!n->handle || n->from < CELLS)
        return;
    n->value = (unsigned)fuzz_take(in, 4);
    CUDA_MEMSET_NODE_PARAMS fill = fill_params(m, n);
    FUZZ_OK(cuGraphMemsetNodeSetParams(n->handle, &fill));
}

static void check_counts(const struct graph *g)
{
    size_t nodes = 0, edges = 0, have_nodes = 0, have_edges = 0;
    for (unsigned i = 0; i < g->count; i++) {
        nodes += g->nodes[i].handle != NULL;
        for (unsigned k = 0; k < g->count; k++)
            edges += g->edges[i][k];
    }
    FUZZ_OK(cuGraphGetNodes(g->handle, NULL, &have_nodes));
    FUZZ_OK(cuGraphGetEdges(g->handle, NULL, NULL, NULL, &have_edges));
    FUZZ_CHECK(nodes == have_nodes && edges == have_edges,
               "%zu nodes and %zu edges, expected %zu and %zu", have_nodes, have_edges, nodes,
               edges);
}

// ---- running ----

// Instantiates the graph, or a clone of it, or a graph that embeds it.
static void instantiate(struct fuzz_input *in, struct model *m)
{
    struct exec *e = &m->execs[fuzz_below(in, EXECS)];
    CUgraph graph = m->graph.handle, other = NULL;
    CUgraphNode child;
    if (e->handle)
        FUZZ_OK(cuGraphExecDestroy(e->handle));
    *e = (struct exec){.of = m->graph};
    unsigned how = fuzz_below(in, 4);
    if (how == 0) {
        FUZZ_OK(cuGraphClone(&other, graph));
        for (unsigned i = 0; i < m->graph.count; i++) {
            if (m->graph.nodes[i].handle)
                FUZZ_OK(cuGraphNodeFindInClone(&child, m->graph.nodes[i].handle, other));
        }
    } else if (how == 1) {
        FUZZ_OK(cuGraphCreate(&other, 0));
        FUZZ_OK(cuGraphAddChildGraphNode(&child, other, NULL, 0, graph));
    }
    FUZZ_OK(cuGraphInstantiate(&e->handle, other ? other : graph, 0));
    for (unsigned i = 0; !other && i < m->graph.count; i++)
        e->nodes[i] = m->graph.nodes[i].handle;
    if (other)
        FUZZ_OK(cuGraphDestroy(other));
}

// Changes a fill in an executable graph alone. Its node must still be in the graph.
static void change_exec(struct fuzz_input *in, struct model *m)
{
    struct exec *e = &m->execs[fuzz_below(in, EXECS)];
    if (!e->handle || !e->of.count)
        return;
    unsigned i = fuzz_below(in, e->of.count);
    struct node *n = &e->of.nodes[i];
    if (!e->nodes[i] || m->graph.nodes[i].handle != e->nodes[i] || n->from < CELLS)
        return;
    n->value = (unsigned)fuzz_take(in, 4);
    CUDA_MEMSET_NODE_PARAMS fill = fill_params(m, n);
    FUZZ_OK(cuGraphExecMemsetNodeSetParams(e->handle, e->nodes[i], &fill, m->context));
}

static void launch(struct fuzz_input *in, struct model *m)
{
    struct exec *e = &m->execs[fuzz_below(in, EXECS)];
    if (!e->handle)
        return;
    FUZZ_OK(cuGraphLaunch(e->handle, NULL));
    run(&e->of, m->cells);
}

static void compare(struct model *m)
{
    unsigned cells[CELLS];
    FUZZ_OK(cuMemcpyDtoH(cells, m->memory, sizeof cells));
    for (unsigned i = 0; i < CELLS; i++)
        FUZZ_CHECK(cells[i] == m->cells[i], "cell %u is %#x, expected %#x", i, cells[i],
                   m->cells[i]);
}

static void step(struct fuzz_input *in, struct model *m)
{
    switch (fuzz_below(in, 12)) {
    case 0:
    case 1:
    case 2:
    case 3:
        add(in, m);
        break;
    case 4:
        add_edge(in, m);
        break;
    case 5:
        destroy_node(in, m);
        break;
    case 6:
        change_value(in, m);
        break;
    case 7:
        instantiate(in, m);
        break;
    case 8:
        change_exec(in, m);
        break;
    case 9:
    case 10:
        launch(in, m);
        break;
    default:
        check_counts(&m->graph);
        compare(m);
    }
}

// ---- one input ----

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_start();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model m;
    struct fuzz_input in = {data, data + size};
    memset(&m, 0, sizeof m);
    m.context = fuzz_context();
    FUZZ_OK(cuMemAlloc(&m.memory, sizeof m.cells));
    FUZZ_OK(cuMemsetD8(m.memory, 0, sizeof m.cells));
    FUZZ_OK(cuGraphCreate(&m.graph.handle, 0));
    for (unsigned i = 0; i < STEPS && fuzz_more(&in); i++)
        step(&in, &m);
    check_counts(&m.graph);
    compare(&m);
    for (unsigned i = 0; i < EXECS; i++) {
        if (m.execs[i].handle)
            FUZZ_OK(cuGraphExecDestroy(m.execs[i].handle));
    }
    FUZZ_OK(cuGraphDestroy(m.graph.handle));
    FUZZ_OK(cuMemFree(m.memory));
    FUZZ_OK(cuCtxDestroy(m.context));
    return 0;
}
