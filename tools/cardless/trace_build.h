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
