// SPDX-License-Identifier: MIT
// The values of registers at the operations of a kernel, for nan_order.c and nan_signs.c.
#pragma once
#include "lower_state.h"
#include "nan_loops.h"

#define PX_NO_VALUE UINT32_MAX

// A list for each of some numbers: those of `k` are items[first[k] … first[k + 1]).
struct px_lists {
    uint32_t *first, *items;
};

// Operations between two places where the program branches or lanes arrive.
struct px_part {
    uint32_t begin, end;
};

// The value of a source when an operation reads it.
struct px_value {
    uint32_t made; // the operation that has made it, or PX_NO_VALUE
    uint32_t part; // where it has joined others, or PX_NO_VALUE
    bool joins;    // the operation's value is one that joins others of the same register
    bool passes;   // the joined value joins others elsewhere
    bool before;   // a loop has made it in the run before
};

struct px_values {
    struct px_lower *l;
    char letter; // of the registers
    bool heads;  // values that join others at the head of a loop flow too
    bool large;  // too large to look at branches: the text decides which operation made a value
    struct px_part *parts;
    uint32_t part_count;
    uint32_t *part_of; // by operation
    struct px_loop *loops;
    uint32_t loop_count;
    struct px_lists before;        // by part: the parts that come before it
    struct px_lists writes, reads; // by register: the operations that write it, or read it
    struct px_value *ins, *outs;   // by part, of one register: when it begins, and when it ends
    bool *live, *writes_it;        // by part, of one register: its value is needed, or written
    bool *unread;                  // by operation: it only makes a value that nothing reads
    bool *flows;                   // by operation: its result joins others
    bool *passes;                  // by part, of one register: the value that joins there does so
    uint32_t *uses; // by operation: how many operands and joined values its result is
    bool *carried;  // by register, then by loop: a run of the loop may read the value of the last
};

// Of all registers of a letter (kn_form.operands). Returns false if host memory is short. Finish it
// also then. Precondition: the operations are in the order of the text.
bool px_values_init(struct px_values *o, struct px_lower *l, char letter);
void px_values_finish(struct px_values *o);
// Whether a register has that letter.
bool px_values_has(const struct px_values *o, px_register reg);
// Finds the values of a register that several operations write, where parts begin and end.
void px_values_find(struct px_values *o, px_register reg);
// Its value at an operation that reads it, when the operation runs first, or (`last`) in the last
// run of loops whose trips are known. Precondition: px_values_find was called for it last.
struct px_value px_value_at(const struct px_values *o, px_register reg, uint32_t i, bool last);
// Whether a loop is one of those that keep the value of a register from one run for the next.
bool px_value_is_carried(const struct px_values *o, px_register reg, uint32_t loop);
// The only operation that can have made the value that an operation reads, or PX_NO_VALUE: there
// are several, or the kernel is too large to find it. Precondition: px_values_find was called for
// the register last, unless at most one operation writes it.
uint32_t px_value_made(const struct px_values *o, px_register reg, uint32_t i);
// The last operation of the text that writes a register, from operation `least` on and before
// operation i, or PX_NO_VALUE.
uint32_t px_values_last(const struct px_values *o, px_register reg, uint32_t i, uint32_t least);
