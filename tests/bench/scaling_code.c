// SPDX-License-Identifier: MIT
// Modules and graphs for scaling.c.
#include "calls.h"
#include "scaling.h"

// ---- modules

static CUresult module_create(int i)
{
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry k()\n{\nret;\n}\n";
    return cuModuleLoadData((CUmodule *)&scaling_handle[i], text);
}

static CUresult module_use(int i)
{
    CUfunction f;
    return cuModuleGetFunction(&f, (CUmodule)(uintptr_t)scaling_handle[i], "k");
}

static CUresult module_destroy(int i)
{
    return cuModuleUnload((CUmodule)(uintptr_t)scaling_handle[i]);
}

// ---- graphs

static CUresult graph_create(int i)
{
    return cuGraphCreate((CUgraph *)&scaling_handle[i], 0);
}

static CUresult graph_use(int i)
{
    CUgraph graph = (CUgraph)(uintptr_t)scaling_handle[i];
    CUgraphNode node;
    CUresult r = cuGraphAddEmptyNode(&node, graph, NULL, 0);
    return r ? r : cuGraphDestroyNode(node);
}

static CUresult graph_look_up(int i)
{
    size_t count;
    return cuGraphGetNodes((CUgraph)(uintptr_t)scaling_handle[i], NULL, &count);
}

static CUresult graph_destroy(int i)
{
    return cuGraphDestroy((CUgraph)(uintptr_t)scaling_handle[i]);
}

// ---- nodes of one graph, without edges

static CUgraph home;

static void node_start(int count)
{
    (void)count;
    MUST(cuGraphCreate(&home, 0));
}

static CUresult node_create(int i)
{
    return cuGraphAddEmptyNode((CUgraphNode *)&scaling_handle[i], home, NULL, 0);
}

static CUresult node_use(int i)
{
    CUgraphNode node = (CUgraphNode)(uintptr_t)scaling_handle[i], next;
    CUresult r = cuGraphAddEmptyNode(&next, home, &node, 1);
    return r ? r : cuGraphDestroyNode(next);
}

static CUresult node_look_up(int i)
{
    CUgraphNodeType type;
    return cuGraphNodeGetType((CUgraphNode)(uintptr_t)scaling_handle[i], &type);
}

static CUresult node_destroy(int i)
{
    return cuGraphDestroyNode((CUgraphNode)(uintptr_t)scaling_handle[i]);
}

// ---- executable graphs of one node

static CUstream stream;

static void exec_start(int count)
{
    CUgraphNode node;
    node_start(count);
    MUST(cuGraphAddEmptyNode(&node, home, NULL, 0));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static CUresult exec_create(int i)
{
    return cuGraphInstantiate((CUgraphExec *)&scaling_handle[i], home, 0);
}

static CUresult exec_use(int i)
{
    return cuGraphLaunch((CUgraphExec)(uintptr_t)scaling_handle[i], stream);
}

static CUresult exec_destroy(int i)
{
    return cuGraphExecDestroy((CUgraphExec)(uintptr_t)scaling_handle[i]);
}

const struct scaling_kind scaling_code[] = {
    {"module", NULL, module_create, module_use, NULL, module_destroy, 1},
    {"graph", NULL, graph_create, graph_use, graph_look_up, graph_destroy, 0},
    {"node of a graph", node_start, node_create, node_use, node_look_up, node_destroy, 0},
    {"executable graph", exec_start, exec_create, exec_use, NULL, exec_destroy, 0},
    {0},
};
