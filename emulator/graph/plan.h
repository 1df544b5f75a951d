// SPDX-License-Identifier: MIT
// Plans: a graph, with its child graphs in place, as an array of steps that a launch runs.
//
//     a ─▶ child ─▶ b     becomes     a ─▶ enter ─┬─▶ x ──┬─▶ leave ─▶ b
//          x  y                                   └─▶ y ──┘
//
// The bodies of conditional nodes are sections of their own, which a launch runs from their first
// step to their last one, as often as the condition says. Section 0 is the graph without them:
//
//     a ─▶ if ─▶ b        becomes     section 0: a ─▶ if ─▶ b
//          x ─▶ y                     section 1: x ─▶ y
//
// A plan does not change while a launch uses it: an update makes a copy for later launches. Only
// one launch runs at a time, so the plan has the memory for its state. Everything here:
// precondition: em_lock held.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

struct em_command;
struct em_graph;
struct em_graph_node;

enum em_step_kind {
    EM_STEP_NOTHING, // empty nodes, and the two steps of a child graph
    EM_STEP_RUN,     // a command that never waits: runs in the thread of the launch
    EM_STEP_HOST,    // a command for the thread of host functions
    EM_STEP_WAIT,    // a command that may wait, and is cloned for each launch
    EM_STEP_RECORD,  // of an event: its command is made for each launch
    EM_STEP_AWAIT,   // for an event: likewise
    EM_STEP_CHOICE,  // a conditional node: runs sections
};

#define EM_NO_STEP UINT32_MAX

struct em_step {
    CUgraphNodeType type;
    uint8_t kind; // enum em_step_kind
    bool enabled;
    uint32_t in_count;          // steps that must complete before it
    uint32_t first_out;         // in em_plan.outs; the next step's is the end
    uint32_t first_in;          // in em_plan.ins; the next step's is the end
    uint32_t last;              // the last step of the graphs inside of its node, or itself
    uint32_t first_section;     // of a conditional node
    uint32_t section;           // that it is part of
    uint32_t outer;             // in a body: the conditional step of section 0, else EM_NO_STEP
    void *params;               // a copy of the node's; NULL for a child graph
    struct em_command *command; // prepared, for RUN, HOST and WAIT; may be NULL
};

// A dependency of a node.
struct em_step_in {
    uint32_t step;
    uint8_t from_port, to_port, type; // of the edge
};

// The steps of section 0, or of a body of a conditional node, lie together in em_plan.order.
struct em_section {
    uint32_t first, end;           // in em_plan.order
    uint32_t step;                 // the conditional step; of section 0: EM_NO_STEP
    uint32_t at;                   // its place in em_plan.order
    uint32_t first_step, end_step; // in em_plan.steps, with those of graphs inside of its nodes
    // In the first section of a conditional step of section 0: where the launch that runs is.
    bool running;
    uint32_t now_section, now;
};

struct em_plan {
    uint32_t references; // of the exec and of launches
    uint32_t count;
    bool waits; // has steps that may wait or run in another thread
    uint32_t event_steps, memory_steps;
    struct em_step *steps;  // count + 1
    uint32_t *outs;         // the successors of all steps
    struct em_step_in *ins; // the dependencies of all nodes, in the order of their edges
    uint32_t *order;        // a topological order of each section, one section after the other
    uint32_t section_count;
    struct em_section *sections;
    // The state of the launch that runs: the unfinished predecessors of each step, and a ring of
    // count + 1 elements for the steps that can run.
    uint32_t *waiting, *ready;
};

// Why a graph has no plan.
struct em_plan_problem {
    CUgraphInstantiateResult result;
    CUgraphNode node;
};

// Sets em_graph_node.enter and .leave of all nodes.
CUresult em_plan_new(struct em_graph *graph, struct em_plan **out, struct em_plan_problem *problem);
CUresult em_plan_copy(const struct em_plan *plan, struct em_plan **out);
void em_plan_unref(struct em_plan *plan);
// Gives a step new parameters and takes them over, also on failure.
CUresult em_plan_set(struct em_plan *plan, uint32_t step, void *params);
