// SPDX-License-Identifier: MIT
// A launch as the ordering checker sees it: which steps the graph's edges order, and what each step
// knows, because steps before it have waited for other work. Everything here: precondition: em_lock
// held.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct em_command;
struct em_graph_exec;
struct em_launch_order;
struct em_order_point;
struct em_plan;

// `launch` is the launch's command, which has started. Returns NULL if the checker is off, or if
// the host runs out of memory.
struct em_launch_order *em_launch_order_begin(struct em_graph_exec *exec, struct em_plan *plan,
                                              struct em_command *launch);
// The command of a step begins; `order` may be NULL. `long_lived` if it may end in another thread.
void em_launch_order_step(struct em_launch_order *order, uint32_t step, struct em_command *command,
                          bool long_lived);
// It has ended. `point` is its em_command.order before that.
void em_launch_order_step_done(struct em_launch_order *order, uint32_t step,
                               struct em_order_point *point);
// The successors of a step know what it knows.
void em_launch_order_passed(struct em_launch_order *order, uint32_t step);
// The launch has ended: all that its steps have waited for is before it.
void em_launch_order_end(struct em_launch_order *order);
