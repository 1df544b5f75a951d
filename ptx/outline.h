// SPDX-License-Identifier: MIT
// Functions that cannot be inlined: recursive ones, and those that are called through registers.
//
// Each of them is an instance: its operations follow the kernel's, and its registers are its own. A
// call passes arguments, the frame and its own number in shared registers (outline.c has the
// steps). For example, a kernel calls f, which calls itself and g:
//
//     call 0: kernel → f      call 1: f → f (may re-enter f)      call 2: f → g
//
//     local memory of a lane, in call 2 after call 0:
//     ┌────────────┬─────────────┬────────────────────┬─────────────┐
//     │ the kernel │ arrays of f │ saved registers    │ arrays of g │
//     │            │             │ of f, for call 1   │             │
//     └────────────┴─────────────┴────────────────────┴─────────────┘
//     0            ├─── frame_B ─┤                    │
//                  ├───────────── total_B of f ───────┤
//                  frame of f                         frame of g
//
// Call 1 saves the registers of f, because the inner f uses the same ones. Call 2 saves none: g
// does not call f.
#pragma once
#include "body.h"

enum { PX_MAIN = UINT32_MAX }; // the instance of the kernel itself

// A function that has operations of its own.
struct px_instance {
    uint32_t function;
    uint32_t entry;            // its first operation
    size_t first, end;         // its registers
    uint64_t frame_B, total_B; // local memory of one call; with saved registers
    px_register frame;         // where its frame begins
    px_register return_number; // the number of the call that it returns to
    px_register stack;         // the top of alloca's stack when it was called, or PX_NONE
    uint32_t sole_list;        // the list, if calls of one list alone reach it; else PX_DIRECT
};

// Functions that calls through registers may reach: by their parameters, or by .calltargets.
struct px_callees {
    uint32_t *list; // instances
    uint32_t count;
    const char *targets_at;            // where .calltargets has its first name; else NULL
    uint32_t call_table, return_table; // operations that branch to them and back; 0: not yet made
};

enum { PX_DIRECT = UINT32_MAX }; // instead of a list: a call of one function by its name

struct px_outline_call {
    uint32_t caller;        // an instance, or PX_MAIN
    uint32_t list, callee;  // of functions; or PX_DIRECT, and the instance that is called
    uint32_t save, restore; // operations that stand for saving and restoring registers
    uint32_t branch;        // to the function
    bool may_reenter;       // may call its caller again: px_outline_find_cycles
};

struct px_outline_return {
    uint32_t branch, instance;
};

struct px_outline {
    struct px_instance *instances;
    size_t instance_count, instance_capacity;
    struct px_outline_call *calls;
    size_t call_count, call_capacity;
    struct px_outline_return *returns;
    size_t return_count, return_capacity;
    struct px_callees *lists;
    size_t list_count, list_capacity;
    uint32_t *instance_of; // by function: its instance + 1, or 0
    uint32_t instance;     // that is read now
};

// A register that all functions share: PX_SHARED_TOP, the top of alloca's stack.
enum {
    PX_SHARED_TOP = 1 << 20,
    PX_SHARED_FRAME,
    PX_SHARED_RETURN, // the number of the call to return to
    PX_SHARED_NUMBER, // of the function that a call through a register calls
    PX_SHARED_VALUE,
};
px_register px_outline_shared(struct px_lower *l, char letter, uint32_t index);
// A constant that is known at the end: the size of a frame. px_register_info.index is
// PX_FRAME_SIZES + 1 + the instance.
enum { PX_FRAME_SIZES = 1 << 24 };
px_register px_outline_frame_size(struct px_lower *l, uint32_t instance);
// The letter of the register that passes a parameter.
char px_outline_letter(const struct px_formal *formal);
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
// Fills in `may_reenter` of all calls. Returns false if host memory is short.
bool px_outline_find_cycles(struct px_outline *o);
