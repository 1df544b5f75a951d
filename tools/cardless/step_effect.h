// SPDX-License-Identifier: MIT
// Says what a call is about to change, by its row of step_effects.def.
#pragma once
#include "trace_model.h"

// Adds a sentence without its full stop. `arguments` is the text of the call's arguments, in which
// memory has its name. A call without a row is described by the arguments that it writes; nothing
// is added if there are no such arguments.
void step_effect(const struct trace_model *model, const struct trace_call *call,
                 const struct em_text *arguments, struct em_text *out);
