// SPDX-License-Identifier: MIT
// For the files that build a trace_model.
#pragma once
#include "trace_model.h"

// trace_add_call and so on: adds an element of zeros. NULL if memory runs out.
#define X(name, list) struct trace_##name *trace_add_##name(struct trace_model *model);
TRACE_LISTS(X)
#undef X

// Reads calls, commands and all else that has a time.
bool trace_read_events(struct trace_model *model);
// Sorts the lists, and finds what belongs together.
bool trace_relate(struct trace_model *model);

// ---- calls

enum { TRACE_OPEN_MAX = 16 };
// The calls of a thread that have begun and not returned.
struct trace_open_calls {
    uint32_t calls[TRACE_OPEN_MAX];
    uint32_t call_sites[TRACE_OPEN_MAX]; // or RF_SITES
    unsigned count;
    uint64_t number, command;     // the last ones in the block
    uint32_t sites[RF_SITES];     // 1 + the last call in the block that has all of its arguments
    uint32_t submitted[RF_SITES]; // 1 + the last command of such a call that has all of its fields
};

// The innermost one, or TRACE_NONE.
uint32_t trace_innermost(const struct trace_open_calls *open);
// The position in `open->calls` of the call with this number, or TRACE_NONE.
uint32_t trace_find_open(const struct trace_model *m, const struct trace_open_calls *open,
                         uint64_t number);
// Reads a number that is counted from the last one in the block.
uint64_t trace_number(struct trace_record *r, uint64_t *last);
// Adds a call to the list. Returns false if memory runs out.
bool trace_read_call(struct trace_model *m, uint32_t thread, struct trace_open_calls *open,
                     struct trace_record *r, uint64_t time);
void trace_read_return(struct trace_model *m, struct trace_open_calls *open, struct trace_record *r,
                       uint64_t time);
