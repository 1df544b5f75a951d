// SPDX-License-Identifier: MIT
// The limits of a context. cuCtxSetLimit may round or clamp the value, or reject it.
#pragma once
#include "context.h"

// Precondition of all: em_lock NOT held; the context is alive.
CUresult em_limit_get(struct em_context *context, CUlimit limit, size_t *out);
// Checks that a limit may be set, and turns *value into the one that it would have.
CUresult em_limit_round(struct em_context *context, CUlimit limit, uint64_t *value);
// Sets a limit to a value of em_limit_round.
void em_limit_set(struct em_context *context, CUlimit limit, uint64_t value);

// A kernel that depends on a limit is launched: from now on the limit cannot be set. Precondition:
// em_lock held.
void em_limit_fix(struct em_context *context, CUlimit limit);
