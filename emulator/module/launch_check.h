// SPDX-License-Identifier: MIT
// The checks of launches, in the order in which the driver makes them. Precondition of all: em_lock
// held.
#pragma once
#include "kernel_launch.h"

// Also finds the launch's cluster: its own, or the one that the function requires; 0: no clusters.
CUresult em_launch_check(const struct em_launch_config *config, struct em_function *f,
                         struct em_extent3 *cluster);
// Copies the arguments to `to`, which has f->code->parameters_B bytes.
CUresult em_launch_arguments(const struct em_launch_config *config, const struct em_function *f,
                             unsigned char *to);
