// SPDX-License-Identifier: MIT
// A resource's state for the calls of CUDA 2, which find resources by the buffer's name.
// Precondition of every function here: em_lock held.
#pragma once
#include <cuda.h>

struct em_gl_old;

// The resource ends, and its buffer's name is free again. NULL is allowed.
void em_gl_old_forget(struct em_gl_old *old);

// Where a resource of OpenGL keeps its em_gl_old. NULL if the handle is not such a resource.
// (gl_resource.c)
struct em_gl_old **em_gl_resource_old(CUgraphicsResource resource);
