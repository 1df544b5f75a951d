// SPDX-License-Identifier: MIT
// Redirects a static runtime inside a program, and other shared ones, to our libcudart.so.13.
#pragma once
#include <stdbool.h>

// Returns whether this build has the library that the loader needs for it; `folder` is that of
// libcuda.so.1.
bool redirect_exists(const char *folder);

// Puts that library into LD_AUDIT, and the module that does the same for Python's cuda-bindings
// into PYTHONPATH. Returns 0, or -1 if memory ran out.
int redirect_enable(const char *folder);
