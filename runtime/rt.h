// SPDX-License-Identifier: MIT
// What the body of every entry point needs. A body is `cudaError_t rt_cudaNAME(arguments)`, in the
// file of its chapter of the manual; runtime/table/runtime.def states the checks that precede it.
#pragma once
#include "context.h"
#include "driver.h"
#include "error.h"
#include "rt_bodies.h"
#include "thread.h"
#include "types.h"
