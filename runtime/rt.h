// SPDX-License-Identifier: MIT
// Everything that the body of an entry point needs. A body is `cudaError_t rt_cudaNAME(arguments)`,
// in the file of its chapter of the manual; runtime/table/runtime.def states the checks that
// precede it.
//
// A call should cost at most 100 ns more than the driver's calls below it, so a body should make as
// few of them as it can, take no lock and allocate nothing.
#pragma once
#include "context.h"
#include "driver.h"
#include "error.h"
#include "message.h"
#include "rt_bodies.h"
#include "thread.h"
#include "types.h"
