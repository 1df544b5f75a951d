// SPDX-License-Identifier: MIT
// The harness for calls of the runtime, which has the driver's numbers.
#pragma once
#include "../harness.h"
#include <cuda_runtime_api.h>

#define RT_OK(call) EXPECT_OK((CUresult)(call))
#define RT_ERROR(call, code) EXPECT_ERROR((CUresult)(call), (CUresult)(code))
#define RT_MUST(call) MUST((CUresult)(call))
