// SPDX-License-Identifier: MIT
// The state of launches, for launch.c, launch_step.c and launch_choice.c. Everything here:
// precondition: em_lock held.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "context_work.h"
#include "deadlock.h"
#include "plan.h"

struct em_command;
struct em_graph_exec;
struct em_launch_order;
struct em_stream;

struct em_launch {
    uint32_t references; // of its command and of the steps' commands
    struct em_graph_exec *exec;
    struct em_plan *plan;
    struct em_launch *previous, *next; // in the exec's list
    struct em_condition changed;       // it is the exec's first launch, or a step has completed
    struct em_command **events;        // by step: commands of events that have not run, or NULL
    struct em_stream *host;            // hidden: for host functions; NULL before the first
    struct em_held_object *retired;    // the exec's until an update replaced them
    struct em_launch_order *order;     // for the ordering checker, or NULL
    bool started, over;
    uint32_t first_ready, end_ready; // in plan->ready; equal if it is empty
    uint32_t outstanding;            // steps that have commands of their own
    CUresult failed;
};

// Drops a reference.
void em_launch_unref(struct em_launch *launch);

// ---- launch_step.c: single steps ----

// Appends a step to the ring of those that can run.
void em_launch_push(struct em_launch *launch, uint32_t step);
// A step is complete: its successors lose a predecessor.
void em_launch_complete(struct em_launch *launch, uint32_t step);

// Runs a step, or leaves it to the scheduler and returns EM_STEP_LEFT. Releases em_lock meanwhile.
#define EM_STEP_LEFT ((CUresult)-2)
CUresult em_launch_step(struct em_launch *launch, uint32_t step, struct em_stream *stream);

// Runs all steps in their order, because they cannot wait. Releases em_lock meanwhile.
CUresult em_launch_steps(struct em_launch *launch, struct em_stream *stream);

// A pending step that waits, or NULL.
const struct em_command *em_launch_waiting_step(const struct em_launch *launch);
// The command of a step that matches and may still begin, and its name; or NULL.
const struct em_command *em_launch_find_step(const struct em_launch *launch, em_match_fn *match,
                                             const void *argument, char *name, size_t size);
// Whether `command` is that of the launch.
bool em_launch_is_command_of(const struct em_command *command, const void *launch);

// Ends a command that is not the plan's, whether it ran or not.
void em_launch_end_command(struct em_command *command, CUresult result);

// ---- launch_choice.c: conditional nodes ----

// A launch starts: assigns the default values.
void em_launch_start_choices(const struct em_plan *plan);

// Runs a conditional step of section 0, or goes on with it. Returns EM_STEP_LEFT if one of its
// bodies waits for a step that the scheduler has: the step becomes ready again when that is
// complete. Returns EM_STEP_AGAIN to let other steps run; the caller runs it again. If the context
// of the stream is ending, a loop does not repeat: CUDA_ERROR_CONTEXT_IS_DESTROYED. Releases
// em_lock meanwhile.
#define EM_STEP_AGAIN ((CUresult)-3)
CUresult em_launch_choice(struct em_launch *launch, uint32_t step, struct em_stream *stream);
