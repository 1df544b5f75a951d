// SPDX-License-Identifier: MIT
// The state of a program that has stopped, as lines of text: memory with its addresses and aliases,
// objects, and commands that are queued.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trace_model.h"

enum step_part { STEP_MAP = 1, STEP_OBJECTS = 2, STEP_QUEUES = 4, STEP_ALL = 7 };

struct step_line {
    enum step_part part;
    char *text;
    const char *state; // ", waits": printed after the text, but not compared
};

// Lines that step_lines_finish frees. Some are missing if memory runs out.
struct step_lines {
    struct step_line *lines;
    size_t count, capacity;
};

// Adds a line for everything that exists. `next` is the command that is about to run, or 0.
void step_lines_of(struct step_lines *lines, const struct trace_model *model, uint64_t next);
void step_lines_finish(struct step_lines *lines);

// Prints the lines of these parts, with a heading for each part.
void step_lines_print(const struct step_lines *lines, unsigned parts, FILE *out);
// Prints what `now` lacks of `before` after "-", and what it has more after "+".
void step_lines_compare(const struct step_lines *before, const struct step_lines *now, FILE *out);

// Prints the call with its arguments, and what it is about to change.
void step_show_call(const struct trace_model *model, const struct trace_call *call, FILE *out);
// Prints the result and the outputs of a call that has returned.
void step_show_return(const struct trace_model *model, const struct trace_call *call, FILE *out);
// Prints the command that is about to run.
void step_show_command(const struct trace_model *model, const struct trace_command *command,
                       FILE *out);
