// SPDX-License-Identifier: MIT
// User objects: the program's own data, which graphs keep alive. When the last reference is
// dropped, a thread of the driver calls the destructor.
#pragma once
#include <cuda.h>

// A user object and the number of references that a graph has to it.
struct em_held_object;
struct em_graph;

// These take the lock: precondition: em_lock not held.
CUresult em_user_object_create(void *data, CUhostFn destroy, unsigned references,
                               CUuserObject *out);
CUresult em_user_object_retain(CUuserObject object, unsigned count);
CUresult em_user_object_release(CUuserObject object, unsigned count);
// A graph takes `count` references: new ones, or with `move` the caller's.
CUresult em_graph_retain_object(CUgraph graph, CUuserObject object, unsigned count, int move);
CUresult em_graph_release_object(CUgraph graph, CUuserObject object, unsigned count);

// For this room. Precondition: em_lock held.
// Adds one reference to each object of a list to another list.
CUresult em_user_objects_copy(const struct em_held_object *from, struct em_held_object **to);
// The same for all objects of a graph and of the graphs in its nodes.
CUresult em_user_objects_of_graph(struct em_graph *graph, struct em_held_object **to);
// Empties a list into another one.
void em_user_objects_move(struct em_held_object **from, struct em_held_object **to);
void em_user_objects_release_all(struct em_held_object **list);
