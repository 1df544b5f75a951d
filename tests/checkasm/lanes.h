// SPDX-License-Identifier: MIT
// Running single forms over 32 lanes, for their tests and their benchmark.
#pragma once

#include "kn_lanes.h"

enum {
    CA_OPERANDS = 24,
    CA_CHAIN_MOST = 64,                            // operations of ca_lane_run_chain
    CA_REGISTER_B = 1024,                          // the distance of registers in a file
    CA_FILE_B = (CA_OPERANDS + 1) * CA_REGISTER_B, // registers of one form
    CA_FALSE_AT = 0,                               // a predicate that is false in all lanes
    CA_GUARD_AT = 4,                               // a random predicate
};

// One run of a form.
struct ca_lane_case {
    const struct kn_form *form;
    unsigned destinations, sources;
    char letters[CA_OPERANDS]; // of kn_form.operands: the destinations, then the sources
    uint32_t at[CA_OPERANDS];  // their offsets in the file
    bool immediate;            // the form has one: `value`
    int64_t value;
    uint32_t active;
    bool guarded, guard_not;
};

// Returns whether a form needs more of a warp than its registers.
bool ca_form_has_memory(const struct kn_form *form);
// Bytes of one lane's value.
unsigned ca_letter_B(char letter);
// Takes a form's letters apart; the rest of the case is 0.
void ca_lane_operands(struct ca_lane_case *c, const struct kn_form *form);
// Gives each operand a register. With `shared`, some of the sources are the same registers as
// others or as destinations.
void ca_lane_place(struct ca_lane_case *c, bool shared);
// Fills a file of CA_FILE_B bytes with random and edge values.
void ca_lane_fill(uint8_t *registers, const struct ca_lane_case *c);
// A valid immediate for a form that takes one.
int64_t ca_lane_immediate(const struct kn_form *form);
// Runs `form`, which has the operands of c->form, on a file.
void ca_lane_run(const struct ca_lane_case *c, const struct kn_form *form, uint8_t *registers);
// Runs a chain of `length` such operations, at most CA_CHAIN_MOST, some times.
void ca_lane_run_chain(const struct ca_lane_case *c, const struct kn_form *form, uint8_t *registers,
                       unsigned length, unsigned times);
