// SPDX-License-Identifier: MIT
// Forms of the driver's functions that cuda.h has replaced by newer ones of the same name. The old
// forms of the runtime's functions call them, because their errors differ.
#pragma once
#include <cuda.h>

#include <cudaTypedefs.h>

// Each with the version of CUDA that introduced the form: rt12_old()->old_cuMemAdvise(…).
#define RT12_OLD_FUNCTIONS                                                                         \
    RT12_OLD(cuEventElapsedTime, 2000)                                                             \
    RT12_OLD(cuLaunchCooperativeKernelMultiDevice, 9000)                                           \
    RT12_OLD(cuMemAdvise, 8000)                                                                    \
    RT12_OLD(cuMemPrefetchAsync, 8000)                                                             \
    RT12_OLD(cuMemcpy3DBatchAsync, 12080)                                                          \
    RT12_OLD(cuMemcpyBatchAsync, 12080)

struct rt12_old {
#define RT12_OLD(name, version) PFN_##name##_v##version old_##name;
    RT12_OLD_FUNCTIONS
#undef RT12_OLD
};

// The functions of the driver, which has been loaded. One that the driver lacks returns
// cudaErrorCallRequiresNewerDriver.
const struct rt12_old *rt12_old(void);
