// SPDX-License-Identifier: MIT
// Node types: the functions that differ from type to type, for the files of this room. Each type
// has one constant in the file of its topic; node_type.c lists them all.
//
// Precondition of all: em_lock held.
#pragma once
#include <cuda.h>
#include <stddef.h>

#include "graph_node.h"

struct em_command;
struct em_context;

struct em_node_type {
    const char *name;
    // Checks the given parameters and makes the node's copy. On failure nothing is left to free.
    // NULL: nodes of this type are not supported.
    CUresult (*make)(const CUgraphNodeParams *given, const struct em_graph *graph, void **out);
    // The same for work in a captured stream. The memory is not checked before the graph is
    // instantiated (recorded: capture/unmapped-pointer-while-capturing). NULL: as `make`.
    CUresult (*make_captured)(const CUgraphNodeParams *given, void **out);
    CUresult (*copy)(const void *params, void **out);
    void (*free)(void *params);
    void (*get)(const void *params, CUgraphNodeParams *out);
    CUresult (*prepare)(const void *params, struct em_command **out); // NULL: no lasting command
    // Returns why an instantiated node may not change in this way, or NULL if it may. NULL: it may
    // change in any way.
    const char *(*objection)(const void *from, const void *to);
};

extern const struct em_node_type em_memset_node, em_memcpy_node;
extern const struct em_node_type em_kernel_node;
extern const struct em_node_type em_host_node;
extern const struct em_node_type em_record_node, em_wait_node;
extern const struct em_node_type em_operation_node;
extern const struct em_node_type em_signal_node, em_semaphore_wait_node;
extern const struct em_node_type em_alloc_node, em_free_node;
extern const struct em_node_type em_child_node;
extern const struct em_node_type em_conditional_node;

// Copies `size` bytes into a new block.
CUresult em_node_duplicate(const void *data, size_t size, void **out);
// Tests that the parameters give a command. A type's `make` stores them only then.
CUresult em_node_try_command(CUresult (*prepare)(const void *, struct em_command **),
                             const void *params);
// Finds the context of a node. NULL is the current context (recorded:
// graph_build/memset-node-errors).
CUresult em_node_context(CUcontext handle, struct em_context **out);
// The same as a handle.
CUcontext em_node_context_handle(CUcontext given);
