// SPDX-License-Identifier: MIT
// Finds the calls that may come back to the function that calls: those within a strongly connected
// component of the graph of calls (Tarjan's algorithm, without recursion). Lists of functions are
// nodes too, so that a call through a register is one edge:
//
//     function ──▶ list ──▶ each function of the list
//     function ──▶ function that is called by its name
#include <string.h>

#include "alloc.h"
#include "outline.h"

// Nodes: instances, and lists after them.
struct graph {
    const struct px_outline *o;
    uint32_t count;
    uint32_t *first_edge; // by instance, into `edges`; one more at the end
    uint32_t *edges;
    uint32_t *number, *low, *component, *stack, *path, *next; // by node
    uint32_t numbers, components, stacked, depth;
};

static uint32_t target_of(const struct graph *g, const struct px_outline_call *call)
{
    return call->list == PX_DIRECT ? call->callee : (uint32_t)g->o->instance_count + call->list;
}

// Sorts the calls by their callers.
static void edges_make(struct graph *g)
{
    const struct px_outline *o = g->o;
    for (size_t i = 0; i < o->call_count; i++)
        if (o->calls[i].caller != PX_MAIN)
            g->first_edge[o->calls[i].caller + 1]++;
    for (size_t i = 0; i < o->instance_count; i++)
        g->first_edge[i + 1] += g->first_edge[i];
    for (size_t i = 0; i < o->instance_count; i++)
        g->next[i] = g->first_edge[i];
    for (size_t i = 0; i < o->call_count; i++)
        if (o->calls[i].caller != PX_MAIN)
            g->edges[g->next[o->calls[i].caller]++] = target_of(g, &o->calls[i]);
    memset(g->next, 0, g->count * sizeof(*g->next));
}

// The n-th successor of a node, or UINT32_MAX.
static uint32_t successor(const struct graph *g, uint32_t node, uint32_t n)
{
    if (node >= g->o->instance_count) {
        const struct px_callees *list = &g->o->lists[node - g->o->instance_count];
        return n < list->count ? list->list[n] : UINT32_MAX;
    }
    const uint32_t at = g->first_edge[node] + n;
    return at < g->first_edge[node + 1] ? g->edges[at] : UINT32_MAX;
}

static void enter(struct graph *g, uint32_t node)
{
    g->number[node] = g->low[node] = ++g->numbers;
    g->stack[g->stacked++] = node;
    g->path[g->depth++] = node;
}

// All successors of the node at the path's end are done.
static void leave(struct graph *g, uint32_t node)
{
    if (g->low[node] == g->number[node]) {
        uint32_t member;
        g->components++;
        do {
            member = g->stack[--g->stacked];
            g->component[member] = g->components;
        } while (member != node);
    }
    if (--g->depth) {
        const uint32_t before = g->path[g->depth - 1];
        if (g->low[node] < g->low[before])
            g->low[before] = g->low[node];
    }
}

static void walk(struct graph *g, uint32_t root)
{
    enter(g, root);
    while (g->depth) {
        const uint32_t node = g->path[g->depth - 1], to = successor(g, node, g->next[node]++);
        if (to == UINT32_MAX)
            leave(g, node);
        else if (!g->number[to])
            enter(g, to);
        else if (!g->component[to] && g->number[to] < g->low[node])
            g->low[node] = g->number[to];
    }
}

bool px_outline_find_cycles(struct px_outline *o)
{
    enum { ARRAYS = 6 };
    struct graph g = {.o = o, .count = (uint32_t)(o->instance_count + o->list_count)};
    uint32_t *memory = dm_calloc(ARRAYS * (size_t)g.count + o->instance_count + 1 + o->call_count,
                                 sizeof(*memory));
    if (!memory)
        return false;
    uint32_t **const arrays[ARRAYS] = {&g.number, &g.low, &g.component, &g.stack, &g.path, &g.next};
    for (size_t i = 0; i < ARRAYS; i++)
        *arrays[i] = memory + i * g.count;
    g.first_edge = memory + ARRAYS * (size_t)g.count;
    g.edges = g.first_edge + o->instance_count + 1;
    edges_make(&g);
    for (uint32_t i = 0; i < g.count; i++)
        if (!g.number[i])
            walk(&g, i);
    for (size_t i = 0; i < o->call_count; i++) {
        struct px_outline_call *call = &o->calls[i];
        call->may_reenter = call->caller != PX_MAIN &&
                            g.component[call->caller] == g.component[target_of(&g, call)];
    }
    dm_free(memory);
    return true;
}
