// SPDX-License-Identifier: MIT
// Reports failures of PTX kernels, and launches that may never end.
#pragma once
#include <cuda.h>

#include "grid.h"
#include "program.h"
#include "ptx_object.h"

// Precondition of both: em_lock not held.

// Reports the failure of a grid, and returns its code. `objects` are the grid's textures and
// surfaces.
CUresult em_ptx_failure_report(const struct px_failure *f, const char *kernel,
                               const struct px_program *program, struct em_ptx_objects *objects);
// Reports that a launch may never end: where its threads are. A launch should report this once.
void em_ptx_slow_report(const struct px_slow *slow, const char *kernel,
                        const struct px_program *program);
