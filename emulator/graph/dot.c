// SPDX-License-Identifier: MIT
// Writes graphs in the language of Graphviz, for cuGraphDebugDotPrint.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "error.h"
#include "event.h"
#include "graph_node.h"
#include "lock.h"

// Whether the flags ask for the parameters of a type.
static bool wants(unsigned flags, unsigned flag)
{
    return flags & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
}

static void print_params(FILE *f, const struct em_graph_node *n, unsigned flags)
{
    CUgraphNodeParams p;
    em_node_params_get(n->type, n->params, &p);
    if (n->type == CU_GRAPH_NODE_TYPE_MEMSET &&
        wants(flags, CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS))
        fprintf(f, "\\ndst %#llx, value %#x, %u bytes each\\nwidth %zu, height %zu, pitch %zu",
                (unsigned long long)p.memset.dst, p.memset.value, p.memset.elementSize,
                p.memset.width, p.memset.height, p.memset.pitch);
    if (n->type == CU_GRAPH_NODE_TYPE_MEMCPY &&
        wants(flags, CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS))
        fprintf(f, "\\nfrom memory type %d to %d\\n%zu bytes x %zu x %zu",
                (int)p.memcpy.copyParams.srcMemoryType, (int)p.memcpy.copyParams.dstMemoryType,
                p.memcpy.copyParams.WidthInBytes, p.memcpy.copyParams.Height,
                p.memcpy.copyParams.Depth);
    if (n->type == CU_GRAPH_NODE_TYPE_HOST &&
        wants(flags, CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS))
        fprintf(f, "\\nfn %p, userData %p", (void *)(uintptr_t)p.host.fn, p.host.userData);
    if (em_node_event(n->type, n->params) &&
        wants(flags, CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS))
        fprintf(f, "\\nCUevent #%u", em_node_event(n->type, n->params)->object.number);
    if (n->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP &&
        wants(flags, CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS))
        fprintf(f, "\\n%u operations", p.memOp.count);
}

// A graph inside of a node is a cluster of its own; the node has a dotted edge to it.
static void print_graph(FILE *f, const struct em_graph *g, unsigned flags)
{
    fprintf(f, "subgraph cluster_%u {\n    label=\"CUgraph #%u\";\n", g->object.number,
            g->object.number);
    for (const struct em_graph_node *n = g->first; n; n = n->next) {
        fprintf(f, "    n%u [shape=box, label=\"%u %s", n->object.number, n->object.number,
                em_node_type_name(n->type));
        if (flags & CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES)
            fprintf(f, "\\n%#llx", (unsigned long long)n->object.handle);
        print_params(f, n, flags);
        fprintf(f, "\"];\n");
    }
    for (const struct em_graph_node *n = g->first; n; n = n->next)
        for (const struct em_graph_edge *e = n->first_out; e; e = e->next_out)
            fprintf(f, "    n%u -> n%u;\n", n->object.number, e->to->object.number);
    fprintf(f, "}\n");
    for (const struct em_graph_node *n = g->first; n; n = n->next) {
        const struct em_graph *inner;
        for (unsigned i = 0; (inner = em_node_graph(n, i)); i++) {
            print_graph(f, inner, flags);
            if (inner->first)
                fprintf(f, "n%u -> n%u [style=dotted];\n", n->object.number,
                        inner->first->object.number);
        }
    }
}

CUresult em_graph_print(CUgraph handle, const char *path, unsigned flags)
{
    struct em_graph *g;
    em_cancel_off();
    FILE *f = fopen(path, "we");
    if (!f)
        return em_fail(CUDA_ERROR_OPERATING_SYSTEM, "cannot write path (%s): %s", path,
                       strerror(errno));
    em_lock();
    CUresult r = em_graph_get(handle, &g);
    if (!r) {
        fprintf(f, "digraph dot {\n");
        print_graph(f, g, flags);
        fprintf(f, "}\n");
    }
    em_unlock();
    bool failed = ferror(f);
    if ((fclose(f) || failed) && !r)
        r = em_fail(CUDA_ERROR_OPERATING_SYSTEM, "cannot write path (%s): %s", path,
                    strerror(errno));
    return r;
}
