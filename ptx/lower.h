// SPDX-License-Identifier: MIT
// Lowering: what functions that turn a statement into operations get, and what they call.
//
// A lowering function reads its operands, makes temporary registers, and emits forms:
//
//     void px_lower_set(struct px_lower *l, const struct px_statement *s)
//     {
//         const px_register p = px_temporary(l, 'p');
//         px_emit(l, px_name(l, "setp.%s.%s", …), p, px_source(l, s, 0), px_source(l, s, 1));
//         px_emit(l, "selp.32", px_destination(l, s, 0), …, p);
//     }
//
// Errors stay in *l: after the first one, functions return PX_NONE and do nothing. So no lowering
// function needs to check results. A form that kn_form_find does not know is such an error: "line
// 12: add.rz.f16: this instruction is not supported".
//
// The statement's guard applies to every operation that is emitted. A destination may be one of the
// sources, so a function that emits several operations should write destinations by the last one,
// or after the last use of every source. (The framework copies a guard that is also a destination.)
#pragma once
#include "kn_lanes.h"
#include "statement.h"

// A source as a register: by the n-th class of the row. Constants become registers of the class's
// width (an integer for a float type is converted), and `!p` another predicate. `a` with a selector
// (video instructions) is returned whole.
px_register px_source(struct px_lower *l, const struct px_statement *s, unsigned n);
// A destination; a temporary for `_` and for one that is absent.
px_register px_destination(struct px_lower *l, const struct px_statement *s, unsigned n);
// The same for any operand: `type` is the type of its value.
px_register px_value(struct px_lower *l, const struct px_operand *operand, unsigned type);
px_register px_target(struct px_lower *l, const struct px_operand *operand, unsigned type);
// The elements of a vector operand, or the one scalar: their number, at most `most`.
unsigned px_sources(struct px_lower *l, const struct px_statement *s, unsigned n, px_register *out,
                    unsigned most);
unsigned px_destinations(struct px_lower *l, const struct px_statement *s, unsigned n,
                         px_register *out, unsigned most);
// A source of class CONSTANT, or any integer constant; `otherwise` if it is absent.
int64_t px_integer(struct px_lower *l, const struct px_operand *operand, int64_t otherwise);

struct px_address {
    px_register base; // of 64 bits for PX_GLOBAL, PX_GENERIC and PX_CONSTANT, else of 32
    int64_t offset;
};
// The first part of an address operand, for an access in `space`. A register of another width is
// converted.
struct px_address px_address(struct px_lower *l, const struct px_operand *operand,
                             enum px_space space);
// The same as a generic address of 64 bits, for instructions that access several spaces.
struct px_address px_generic_address(struct px_lower *l, const struct px_operand *operand,
                                     enum px_space space);

// A new register. Letters as in kn_form.operands: p, h, w, l, x.
px_register px_temporary(struct px_lower *l, char letter);
px_register px_constant(struct px_lower *l, char letter, uint64_t value);
px_register px_special(struct px_lower *l, enum px_special special);
// The carry (CC) of add.cc and its like: one predicate for the kernel.
px_register px_carry(struct px_lower *l);
// The letter of a register. A lowering function should not expect the letter of the row's type if
// the row allows wider registers.
char px_letter(const struct px_lower *l, px_register reg);
// A register of the letter h, w or l with the same value: cut off, or extended with zeros.
px_register px_widen(struct px_lower *l, px_register reg, char letter);

// Composes the name of a form. Valid until the third call after this one.
const char *px_name(struct px_lower *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Emits a form: its registers in the order of kn_form.operands, destinations first.
#define px_emit(l, form, ...)                                                                      \
    px_emit_form((l), (form), 0, PX_NONE, (const px_register[]){__VA_ARGS__},                      \
                 sizeof((const px_register[]){__VA_ARGS__}) / sizeof(px_register))
// The same with kn_op.i.
#define px_emit_immediate(l, form, immediate, ...)                                                 \
    px_emit_form((l), (form), (immediate), PX_NONE, (const px_register[]){__VA_ARGS__},            \
                 sizeof((const px_register[]){__VA_ARGS__}) / sizeof(px_register))
// A form that the lanes of `members` execute together (PX_FORM_TOGETHER).
#define px_emit_together(l, form, immediate, members, ...)                                         \
    px_emit_form((l), (form), (immediate), (members), (const px_register[]){__VA_ARGS__},          \
                 sizeof((const px_register[]){__VA_ARGS__}) / sizeof(px_register))
struct px_op *px_emit_form(struct px_lower *l, const char *form, int64_t immediate,
                           px_register members, const px_register *operands, unsigned count);
// Emits an operation that is not a form. Never returns NULL; the operation may be changed until the
// next one is emitted.
struct px_op *px_emit_code(struct px_lower *l, enum px_code code, int64_t immediate,
                           const px_register *destinations, unsigned destination_count,
                           const px_register *sources, unsigned source_count);

// The operation that was emitted last reads memory that other threads may change in order to be
// seen here: see px_op.waits.
void px_waits(struct px_lower *l);
// The operation that was emitted last may be joined with others: see join.h.
void px_joins(struct px_lower *l, bool joins);
// The operation that was emitted last selects one of two .f32 values, or its guard does: see
// nan_signs.h.
void px_selects(struct px_lower *l);
// The results of the kernel depend on the order of blocks: px_program.order_free becomes false.
// Lowering functions should call this for every instruction that program.h lists there.
void px_ordered(struct px_lower *l);
void px_uses_barriers(struct px_lower *l);
// The guard of the operations that are emitted next; PX_NONE: all lanes take part.
struct px_guard {
    px_register predicate;
    bool negated;
};
// Guards the operations that are emitted next with another predicate too, so that lanes take part
// if both let them. The lanes that the guard leaves out may have any value of `also`. Returns the
// guard before, which the caller restores with px_guard_set.
struct px_guard px_guard_also(struct px_lower *l, px_register also);
void px_guard_set(struct px_lower *l, struct px_guard guard);
// Emits a trap (enum px_trap) for the lanes of the statement for which the predicate is set.
void px_trap_if(struct px_lower *l, px_register condition, int trap);
// The instruction is illegal in a launch without clusters (recorded: async/st.async-own-cta,
// async/bulk-shared-to-shared): emits a trap.
void px_need_cluster(struct px_lower *l);

// Refuses the kernel with a sentence about this statement, which should name the operand or
// modifier that is wrong: the line and the instruction are added.
void px_refuse(struct px_lower *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The same for something that PTX has and this project does not have.
void px_unsupported(struct px_lower *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// The same for something that the manual has and NVIDIA's driver has not: its compiler leaves the
// kernel out, or refuses the whole text, or the driver does not load it (-ENOENT, -ENOSYS and
// -ENODEV, module.h).
void px_left_out(struct px_lower *l, const char *sentence);
void px_not_loaded(struct px_lower *l, const char *sentence);
void px_refused_by_card(struct px_lower *l, const char *sentence);
bool px_failed(const struct px_lower *l);

#define PX_LOWER_DECLARE(name) void name(struct px_lower *l, const struct px_statement *s);
PX_LOWER_FUNCTIONS(PX_LOWER_DECLARE) // all that instructions.def names
#undef PX_LOWER_DECLARE
