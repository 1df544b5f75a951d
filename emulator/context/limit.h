// SPDX-License-Identifier: MIT
// The limits of a context: which a device has, what they may be set to, and what becomes of a value
// asked for.
#pragma once
#include "context.h"

// Precondition of both: em_lock NOT held; the context is alive.
CUresult em_limit_get(struct em_context *context, CUlimit limit, size_t *out);
CUresult em_limit_set(struct em_context *context, CUlimit limit, uint64_t value);
