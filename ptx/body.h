// SPDX-License-Identifier: MIT
// Reading a body: its scopes, registers, labels and statements. A body is read once for the kernel
// and once more for each call that is inlined, because a reading gives the registers that it names.
#pragma once
#include "lower_state.h"
#include "module_state.h"

enum { PX_BODY_DEPTH_MOST = 32, PX_NESTING_MOST = 64 };

// Declarations of registers: one name, or a range of numbered names.
struct px_declared {
    uint16_t type;
    uint8_t length;    // of a vector, or 1
    uint32_t count;    // of a range; 0: one name
    px_register first; // PX_NONE: not used yet; not for ranges
};

// A parameter or a .param variable: in registers if it is one value, else in local memory.
enum px_slot_kind { PX_SLOT_ARGUMENT, PX_SLOT_REGISTER, PX_SLOT_LOCAL };
struct px_slot {
    enum px_slot_kind kind;
    struct px_formal formal;
    // Of a value: PX_NONE until the slot is used. Of an array: its address, or PX_NONE if that is
    // at_B, in the frame of the function.
    px_register reg;
    uint32_t at_B; // in the kernel's arguments, or in local memory
};

// A variable that a body declares.
struct px_own {
    enum px_space space;
    uint32_t at_B;   // of a local or shared one
    uint32_t symbol; // of a global or constant one: the module's variable
    uint32_t element_B;
};

// A label's use, before the label is known.
struct px_use {
    struct px_text name;
    uint32_t op, entry; // entry: of px_op.targets, or UINT32_MAX for px_op.target
    unsigned line;
    uint32_t depth; // of the scope
};

// .branchtargets or .calltargets
struct px_targets {
    struct px_text *names;
    size_t count, capacity;
};

struct px_body {
    struct px_reader r;
    struct px_lower *l;
    struct px_body *caller; // that inlines this one, or NULL
    uint32_t function;
    uint32_t depth;    // of calls
    bool outlined;     // returns with PX_RETURN
    bool reading_call; // (a, b) is a list and not a constant in brackets
    struct px_names names;
    struct px_declared *declared;
    size_t declared_count, declared_capacity;
    struct px_slot *slots;
    size_t slot_count, slot_capacity;
    struct px_own *own;
    size_t own_count, own_capacity;
    struct px_use *uses;
    size_t use_count, use_capacity;
    struct px_names label_names; // value: the operation
    struct px_names range_names; // of registers, without the digits: %r<9> is no %r
    struct px_targets *targets;
    size_t targets_count, targets_capacity;
    struct px_formals *prototypes; // pairs: returns, parameters
    size_t prototype_count, prototype_capacity;
    uint32_t *returns; // operations that branch to the end of an inlined body
    size_t return_count, return_capacity;
    uint64_t *range_keys; // registers of ranges: a hash table
    px_register *range_registers;
    size_t range_count, range_capacity;
    struct px_arena scratch;
    uint32_t return_slots, parameter_slots; // the first slots: returns, then parameters
};

// Prepares a body: slots of its parameters are made, and its names declared.
void px_body_start(struct px_body *b, struct px_lower *l, struct px_body *caller,
                   uint32_t function);
// Reads the body and lowers its statements.
void px_body_read(struct px_body *b);
void px_body_finish(struct px_body *b);

// Reads and lowers one statement. The token is its guard or its name.
void px_statement_read(struct px_body *b);
// Reads an operand; errors are the reader's.
void px_operand_read(struct px_body *b, struct px_operand *out, unsigned depth);
// Declares registers: the token is after .reg.
void px_registers_read(struct px_body *b);
// The register with this name, in *out. Returns false if there is none.
bool px_register_find(struct px_body *b, const char *text, size_t length, struct px_operand *out);
// A new slot for a parameter, with its name if it has one. NULL after an error.
struct px_slot *px_slot_add(struct px_body *b, const struct px_formal *formal);
// The address of a slot, and of a variable of a body, plus operand->value.
px_register px_slot_address(struct px_lower *l, const struct px_slot *slot, int64_t offset,
                            char letter);
px_register px_own_address(struct px_lower *l, const struct px_own *own,
                           const struct px_operand *operand, char letter);
// Gives an array its place in local memory; the register of a value, or of an array's address.
void px_slot_place(struct px_lower *l, struct px_slot *slot);
px_register px_slot_register(struct px_lower *l, struct px_slot *slot);
// Parts of calls: the operands of a list, the value for a parameter, and the register for a
// returned value.
const struct px_operand *px_list_part(const struct px_operand *list, size_t i);
unsigned px_list_count(const struct px_operand *list);
px_register px_call_value(struct px_body *b, const struct px_formal *formal,
                          const struct px_operand *operand);
px_register px_call_target(struct px_body *b, const struct px_formal *formal,
                           const struct px_operand *operand);
void px_move(struct px_lower *l, px_register to, px_register from); // of the same letter
// Inlines the call of a function: the bodies' reader goes to its text and comes back.
void px_call_inline(struct px_body *caller, uint32_t function, const struct px_operand *returns,
                    const struct px_operand *arguments);
// `size_B` bytes of the local memory of each lane.
uint32_t px_local_take(struct px_lower *l, uint64_t size_B, uint32_t alignment_B);
// Of a block's shared memory, for a variable.
uint32_t px_shared_take(struct px_lower *l, const char *name, size_t length, uint64_t size_B,
                        uint32_t alignment_B);
// The operation that was emitted last goes to a label.
void px_label_use(struct px_body *b, const struct px_text *name, uint32_t entry);

// Finds the row of a statement whose modifiers are read, and fills in what it chooses. Refuses
// the statement if there is no such row.
void px_match(struct px_lower *l, struct px_statement *s, const struct px_text *root,
              const struct px_part *part);
// Adds a name to the scope in which declarations are read. Returns -ENOMEM, or -EEXIST if the scope
// has it, to which the parameters belong at the outermost level.
int px_body_name(struct px_body *b, const char *text, size_t length, enum px_name_kind kind,
                 uint64_t value);
// Refuses operands that no form of the statement's instruction can have.
void px_operands_check(struct px_lower *l, const struct px_statement *s);
// Finds a modifier by its name without the dot. Returns 0 if no instruction has it.
unsigned px_modifier_find(const char *text, size_t length);
// Whether the PTX manual has an instruction without a row, or a modifier that no row has.
bool px_word_is_unsupported(const struct px_text *root, const struct px_text *modifier);
// Whether an operand's kind suits a class. Refuses the statement if it does not.
void px_operand_check(struct px_lower *l, const struct px_class *class,
                      const struct px_operand *operand, unsigned number);
