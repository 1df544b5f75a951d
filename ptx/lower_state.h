// SPDX-License-Identifier: MIT
// The state of lowering one kernel. Lowering functions of chapters use lower.h only.
#pragma once
#include "arena.h"
#include "lower.h"

struct px_lower {
    struct px_module *module;
    struct px_report *report;
    int error; // 0, or the first negative errno
    const struct px_statement *now;
    px_register guard; // of the operations that are emitted now
    bool guard_not;
    uint32_t function; // whose text is read now
    uint32_t kernel;
    struct px_body *body;
    struct px_outline *outline;
    px_register frame; // of an outlined function: the address of its local memory; else PX_NONE
    uint64_t frame_B;
    struct px_shared *shared;
    uint64_t local_B, shared_B; // that variables of bodies and parameters have

    struct px_op *ops;
    size_t op_count, op_capacity;
    struct px_register_info *registers;
    size_t register_count, register_capacity;
    uint32_t *filled; // a hash table: 1 + the index of a register of px_filled
    size_t filled_count, filled_capacity;
    struct px_arena arena; // becomes the program's

    uint32_t *inlined; // by function: how often it has been put into its callers; or NULL
    uint32_t inlined_count;

    bool stacks;  // the module has alloca
    bool allocas; // this program has
    bool uses_barriers, waits, prints, allocates, reads_workspace, reads_grid_id, calls, recurses;
    uint32_t ordered;  // operations whose results depend on the order of blocks
    char names[4][64]; // of px_name
    unsigned name_turn;
};

// The module's texts contain alloca. Precondition: the module's lock is held.
bool px_stack_is_used(struct px_module *module);
// Around a program, and around each function: its allocations are given back.
void px_stack_start(struct px_lower *l);
px_register px_stack_enter(struct px_lower *l);
void px_stack_leave(struct px_lower *l, px_register saved);
// Saves or restores one register at the end of a frame, at *at_B, which grows.
void px_stack_spill(struct px_lower *l, px_register reg, px_register frame, uint64_t *at_B,
                    bool restore);
// For the tool that counts what is missing (tests/ptx/forms.c): if it is set, it is called with the
// report of each statement that is refused, and reading goes on with the next statement.
extern void (*px_lower_note)(const struct px_report *report);

// Refuses with -EINVAL, -ENOTSUP or -ENOMEM; keeps the first error only.
void px_lower_fail(struct px_lower *l, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void px_lower_no_memory(struct px_lower *l);
// A register that is filled in as `info` says: an existing one if there is an equal one.
px_register px_filled(struct px_lower *l, const struct px_register_info *info);
// Writes the result of set, for all its types: see lower_compiled.c. Callers should not write the
// destination themselves.
void px_set_result(struct px_lower *l, const struct px_statement *s, px_register p, uint64_t yes);
// Notes that the guard of the statement that was lowered selects an .f32 value: see nan_signs.h.
void px_guard_selects(struct px_lower *l, const struct px_statement *s);
// Emits by the row's template of a form.
void px_lower_template(struct px_lower *l, const struct px_statement *s);
// Fills in px_program.objects, when all operations are there.
void px_objects_find(struct px_lower *l, struct px_object_uses *out);
