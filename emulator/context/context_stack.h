// SPDX-License-Identifier: MIT
// The calling thread's stack of contexts. Every place in it holds a reference, so that a destroyed
// context in it can still be told what it is.
#pragma once
#include "context.h"

// Precondition of all: em_lock held.
CUresult em_stack_push(struct em_context *context);
void em_stack_pop(void); // the stack is not empty
