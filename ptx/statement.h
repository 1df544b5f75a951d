// SPDX-License-Identifier: MIT
// Statements: one PTX instruction, parsed and checked against its row of instructions.def.
//
//     @!%p  setp.lt.and.f32.ftz   %p1|%p2,  %f1, 0f3F800000, !%q;
//     guard root modifiers        d[0] d[1] a[0] a[1]        a[2]
//
// instructions.def is the table of instructions. tools/gen/ptx_instructions.py makes from it, at
// build time: the enumeration of modifiers (PX_MOD_FTZ) and types (PX_F32), the rows, and the
// coverage page. The format of a row is described at the head of instructions.def.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "instructions.h" // made from instructions.def: enum px_modifier
#include "program.h"

struct px_lower;
struct px_statement;

enum {
    PX_MODIFIERS_MOST = 20, // of a statement
    PX_GROUPS_MOST = 20,    // choices of a row
    PX_TYPES_MOST = 6,
    PX_OPERANDS_MOST = 12, // destinations and sources of a row, each
};

// Part of the text; not terminated by a 0.
struct px_text {
    const char *at;
    uint32_t length;
};

enum px_operand_kind {
    PX_OPERAND_NONE,      // an optional operand that is absent
    PX_OPERAND_REGISTER,  // `reg`
    PX_OPERAND_SPECIAL,   // a special register: `value` is enum px_special, or -1 if it is another
                          // one, such as %clock: `text` is its name
    PX_OPERAND_INTEGER,   // `value`
    PX_OPERAND_FLOAT,     // `value` has the bits of an f64, or of an f32 if `single`
    PX_OPERAND_VARIABLE,  // the address of variable `symbol` plus `value`
    PX_OPERAND_OWN,       // the same of a variable that the body declares; `symbol` is its number
    PX_OPERAND_PARAMETER, // a parameter of this function, or a .param variable: number `symbol`,
                          // plus `value`
    PX_OPERAND_FUNCTION,  // function `symbol`
    PX_OPERAND_LABEL,     // `text`
    PX_OPERAND_SINK,      // _
    PX_OPERAND_VECTOR,    // {a, b}: `parts`
    PX_OPERAND_ADDRESS, // [a, b]: `parts`; `value` is the constant that is added to the first part
    PX_OPERAND_LIST,    // (a, b): `parts`
};

struct px_operand {
    enum px_operand_kind kind;
    bool negated; // !p
    bool minus;   // -r, of a register: vmad
    bool single;  // of a float: written as 0f…
    bool generic; // generic(variable)
    bool is_unsigned;
    bool is_sum;      // variable+4
    uint16_t type;    // of a register, as declared: enum px_modifier
    uint8_t length;   // of a register declared as a vector: 2 or 4; `reg` is the first element
    char selector[8]; // of video instructions: "b0", "h1", "h31", "b7531" …, or ""
    px_register reg;
    uint32_t symbol;
    int64_t value;
    const struct px_operand *parts;
    unsigned count;
    struct px_text text; // as written
};

// The classes of operands in a row: letters of the second column of instructions.def.
enum px_class_kind {
    PX_CLASS_VALUE,   // a register or a constant of a type
    PX_CLASS_ADDRESS, // [...]
    PX_CLASS_CONSTANT,
    PX_CLASS_LABEL,
    PX_CLASS_ANY, // the lowering function checks it
};
struct px_class {
    uint8_t kind;
    bool optional;
    bool wider;         // the register may be wider than the type
    bool vector;        // {…} is allowed; a scalar too
    bool negates;       // !p is allowed
    bool paired;        // follows the destination before it after a |
    uint8_t type_index; // 0 … : the statement's n-th type; 255: `type`
    uint8_t times;      // 2: twice as wide as this type
    uint16_t type;
};

// Lowers a statement. Errors are kept in *l: see lower.h.
typedef void px_lower_fn(struct px_lower *l, const struct px_statement *s);

// A row of instructions.def.
struct px_row {
    const char *root;
    const char *pattern;    // as in the table, for people
    const uint16_t *groups; // modifiers: 0 ends a group, two 0 the row; the first entry of a
                            // group is 1 if it may be absent, 2 if exactly one is needed
    const struct px_class *d, *a;
    uint8_t destinations, sources;
    uint8_t version; // of PTX: 10 * major + minor
    uint8_t target;  // sm_NN
    // Later versions should refuse it on later targets. 0: no version does.
    uint8_t last_version, last_target;
    px_lower_fn *lower; // NULL: `form`
    const char *form;   // a template of the form's name
};

struct px_statement {
    const struct px_row *row;
    unsigned line;
    struct px_text text;                   // "setp.lt.and.f32.ftz", for messages
    uint16_t modifiers[PX_MODIFIERS_MOST]; // as written, types included: enum px_modifier
    unsigned modifier_count;
    // By groups of the row, literals not counted: the modifier that was written, or 0.
    uint16_t choice[PX_GROUPS_MOST];
    uint16_t types[PX_TYPES_MOST]; // the types among the modifiers, in order
    unsigned type_count;
    struct px_operand d[PX_OPERANDS_MOST], a[PX_OPERANDS_MOST]; // by the row's classes
    px_register guard;                                          // PX_NONE: none
    bool guard_not;
};

// Whether a modifier, such as PX_MOD_FTZ, was written. Use `choice` if a row should distinguish the
// same modifier in two places.
static inline bool px_has(const struct px_statement *s, unsigned modifier)
{
    for (unsigned i = 0; i < s->modifier_count; i++)
        if (s->modifiers[i] == modifier)
            return true;
    return false;
}

// The name of a modifier or type, without its dot: "ftz".
const char *px_modifier_name(unsigned modifier);
// The size of a type in bits (1 for a predicate), and a letter for its kind: s, u, f, b, or p.
unsigned px_type_bits(unsigned type);
char px_type_kind(unsigned type);
// The letter of the register that holds a value of a type, as in kn_form.operands.
char px_type_letter(unsigned type);
