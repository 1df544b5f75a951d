// SPDX-License-Identifier: MIT
// Stepping PTX kernels (CARDLESS_STEP, which `cardless step` sets): which warp of which launch, and
// the commands of a person.
#pragma once
#include "kernel_launch.h"
#include "code.h"
#include "step.h"

// Returns the stepper of a launch that the user wants to step, or NULL. One launch is stepped at a
// time: others that run meanwhile are not.
const struct px_stepper *em_ptx_step_start(const struct em_grid *grid, const char *kernel);
// The grid that got a stepper has ended. No other launch is stepped before.
void em_ptx_step_finish(void);
