// SPDX-License-Identifier: MIT
// Functions that cannot be inlined: recursive ones, and those that are called through registers.
#pragma once
#include "body.h"

enum { PX_MAIN = UINT32_MAX }; // the instance of the kernel itself

// A function that has operations of its own.
struct px_instance {
    uint32_t function;
    uint32_t entry;            // its first operation
    size_t first, end;         // its registers
    uint64_t frame_B, total_B; // local memory of one call; with saved registers
    px_register frame, back;   // where its frame begins; the number of the call that it returns to
    px_register stack;         // the top of alloca's stack when it was called, or PX_NONE
};

struct px_outline_call {
    uint32_t caller;   // an instance, or PX_MAIN
    uint32_t *callees; // instances
    uint32_t callee_count;
    uint32_t save, restore; // operations that stand for saving and restoring registers
    uint32_t branch;        // to the function
    bool indirect;
};

struct px_outline {
    struct px_instance *instances;
    size_t instance_count, instance_capacity;
    struct px_outline_call *calls;
    size_t call_count, call_capacity;
    uint32_t *returns; // operations that return: pairs of an operation and its instance
    size_t return_count, return_capacity;
    uint32_t instance; // that is read now
};

// A register that all functions share: PX_SHARED_TOP, the top of alloca's stack.
enum { PX_SHARED_TOP = 1 << 20 };
px_register px_outline_shared(struct px_lower *l, char letter, uint32_t index);
// The end of the frame of the function that is read now, in local memory.
px_register px_outline_frame_end(struct px_lower *l);
// Emits a call of one function, or (`function` is a register) of any function that has the same
// parameters as `prototype`, two lists: returns and parameters.
void px_outline_call(struct px_body *b, const struct px_operand *function,
                     const struct px_formals *prototype, const struct px_targets *targets,
                     const struct px_operand *returns, const struct px_operand *arguments);
// Emits the return from a function that is read now.
void px_outline_return(struct px_body *b);
// Reads the functions that calls need, and completes calls and returns.
void px_outline_complete(struct px_lower *l);
void px_outline_finish(struct px_lower *l);
