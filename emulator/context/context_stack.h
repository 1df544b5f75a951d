// SPDX-License-Identifier: MIT
// The calling thread's stack of contexts. Each item holds a reference, so that a destroyed context
// on the stack can still be identified in messages.
#pragma once
#include "context.h"

// Precondition of all: em_lock held.
CUresult em_stack_push(struct em_context *context);
void em_stack_pop(void); // the stack must not be empty
