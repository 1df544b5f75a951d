// SPDX-License-Identifier: MIT
// Configurations of launches.
#pragma once
#include "rt.h"

// The driver's form of a configuration, for `stream`. It refers to the attributes of `config`.
CUlaunchConfig rt_launch_config(const cudaLaunchConfig_t *config, cudaStream_t stream);
