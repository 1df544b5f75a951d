// SPDX-License-Identifier: MIT
// Memory that graphs allocate.
//
// The address of a memory allocation node never changes, so its memory exists from the time when
// the node is added until nothing uses it any more: no node, no instantiated graph, and no
// allocation that a launch has made and that is not free yet. A launch only keeps the books:
//
//     free ── launch with the allocation node, but without its free node ──▶ allocated
//          ◀── cuMemFree, cuMemFreeAsync, a launch with a free node ────────
//
// Everything here: precondition: em_lock held, unless stated otherwise.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

struct em_graph_memory;

// Checks the parameters of a memory allocation node, and allocates, with one reference.
CUresult em_graph_memory_new(const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params,
                             struct em_graph_memory **out);
// Finds the memory of an address that em_graph_memory_new returned. Takes no reference.
CUresult em_graph_memory_find(uint64_t address, struct em_graph_memory **out);
void em_graph_memory_ref(struct em_graph_memory *memory);
void em_graph_memory_unref(struct em_graph_memory *memory);
// The parameters, with the address.
const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *em_graph_memory_params(const struct em_graph_memory *memory);

// A node frees the memory: once in the graph that allocates it.
CUresult em_graph_memory_add_free(struct em_graph_memory *memory);
void em_graph_memory_remove_free(struct em_graph_memory *memory);

// "Only one instantiation of the graph may exist at any point in time."
CUresult em_graph_memory_instantiate(struct em_graph_memory *memory);
void em_graph_memory_end_instance(struct em_graph_memory *memory);

// A launch has an allocation node. Fails if the memory is still allocated, unless `auto_free`.
CUresult em_graph_memory_check_launch(const struct em_graph_memory *memory, bool auto_free);
// An upload has an allocation node. `first` and `needed_B` are NULL and 0 before its first one, and
// remember the memory that shares blocks.
void em_graph_memory_upload(const struct em_graph_memory *memory,
                            const struct em_graph_memory **first, uint64_t *needed_B);
// A launch that has been checked is submitted. `first` is NULL before its first allocation node,
// and remembers the memory that shares blocks.
void em_graph_memory_launch(struct em_graph_memory *memory, struct em_graph_memory **first);
// A launch has a free node.
void em_graph_memory_free(struct em_graph_memory *memory);

// cuDeviceGraphMemTrim, cuDeviceGetGraphMemAttribute and cuDeviceSetGraphMemAttribute.
// Precondition: em_lock not held.
CUresult em_graph_memory_trim(CUdevice device);
CUresult em_graph_memory_get(CUdevice device, CUgraphMem_attribute attribute, cuuint64_t *out);
CUresult em_graph_memory_set(CUdevice device, CUgraphMem_attribute attribute, cuuint64_t value);
