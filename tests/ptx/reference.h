// SPDX-License-Identifier: MIT
// Random PTX instructions, and their results by a second implementation: plain C on single values,
// written from the manual and the notes on measurements, without the lanes' code.
#pragma once
#include "exact.h"

enum { REF_SOURCES = 4, REF_DESTINATIONS = 2 };

// An instruction without its registers. A picker chooses it at random and sets `compute`.
struct ref_instruction {
    char opcode[64];
    char destinations[REF_DESTINATIONS + 1]; // letters: p, h, w, l
    char sources[REF_SOURCES + 1];
    char suffix[8];   // after the operands
    bool constants;   // sources may be written as integer constants
    bool approximate; // no result is known: `compute` is NULL
    // Writes the results of the sources' bits.
    void (*compute)(const struct ref_instruction *ins, const uint64_t *in, uint64_t *out);
    // What a destination becomes if the guard is false. NULL: it stays.
    uint64_t (*skipped)(const struct ref_instruction *ins, uint64_t old);
    // For `compute`:
    unsigned operation;
    const struct ex_format *format, *from;
    enum ex_mode mode;
    bool pair, flush, saturate, relu, with_nan, xorsign;
    bool exchanged; // the first operand was written after the second one
    bool same;      // both are the same register
    bool guarded, ignores_guard;
    bool constant[REF_SOURCES]; // operands that are constants
    unsigned bits, from_bits;   // of integers
    bool is_signed, from_signed, integral;
    unsigned immediate;
    uint64_t (*value)(const struct ref_instruction *ins, const uint64_t *in);
};

// Draws a number below n.
unsigned ref_below(uint64_t *state, unsigned n);
// Draws true once in n times.
bool ref_once_in(uint64_t *state, unsigned n);
// Appends to the opcode.
void ref_write(struct ref_instruction *ins, const char *text);

typedef void ref_picker(struct ref_instruction *ins, uint64_t *state);
ref_picker ref_pick_float, ref_pick_minmax, ref_pick_compare, ref_pick_convert, ref_pick_integer,
    ref_pick_bits, ref_pick_approximate;

// The NaN of an operation: the one NaN of f32 and of 16 bits; of f64, the first operand that is a
// NaN, made quiet, or the NaN with a sign. `operands` has them in the order in which they count.
uint64_t ref_nan(const struct ex_format *format, const uint64_t *operands, unsigned count);
// ".sat: clamps the result to [0.0, 1.0]. NaN results are flushed to +0."
uint64_t ref_saturate(const struct ex_format *format, uint64_t bits);
// A value of an integer type: the lower bits, extended.
int64_t ref_extend(uint64_t bits, unsigned width, bool is_signed);
