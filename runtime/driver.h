// SPDX-License-Identifier: MIT
// The driver that this library is a client of. It is loaded by the first call of the program.
#pragma once
#include <cardless.h>
#include <cuda.h>
#include <stdbool.h>

#include "driver_twins.h"
#include "types.h"

// The functions of graphics APIs, without the headers of those APIs.
#include "cardless/abi/gl.h"
#include "cardless/abi/egl.h"
#include "cudaEGL_functions.h"
#include "cudaGL_functions.h"
#include "cudaVDPAU_functions.h"

// The functions of the driver that the runtime calls, under their own names:
// rt_cu.cuMemAlloc(&pointer, size). cuda.h renames functions that have several forms, and the
// members with them. A function that the driver lacks returns cudaErrorCallRequiresNewerDriver.
struct rt_cu {
// Old calls of the runtime use old calls of the driver.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define RT_CU(name) __typeof__(name) *name;
#include "driver_functions.def"
#undef RT_CU
#pragma GCC diagnostic pop
};
extern struct rt_cu rt_cu;

// The driver is loaded and initialised, and has a device. Read it by rt_driver_error_quietly().
enum rt_driver_state { RT_DRIVER_MISSING, RT_DRIVER_READY };
extern enum rt_driver_state rt_driver_state;

// Loads and initialises the driver. Returns cudaErrorInsufficientDriver if it is missing, or if it
// is older than this runtime; a newer one should work. If the driver has no device, later calls try
// again.
cudaError_t rt_driver_start(void);

// The same without messages, for calls that do not need the driver.
cudaError_t rt_driver_start_quietly(void);

// Whether the driver's functions can be called, also if it has no device. Loads the driver first.
// Returns false if the thread is doing that already: in calls of signal handlers.
bool rt_driver_is_loaded(void);

// The functions that only Cardless's driver exports. They are NULL with another driver, and until
// the driver is loaded. Bodies should work without them.
#define RT_CARDLESS_FUNCTIONS(X)                                                                   \
    X(cardlessGetRecorder)                                                                         \
    X(cardlessMayCall)                                                                             \
    X(cardlessReport)                                                                              \
    X(cardlessReportsBegin)                                                                        \
    X(cardlessReportsEnd)                                                                          \
    X(cardlessThisCaller)                                                                          \
    X(cardlessThisCallSite)
struct rt_cardless {
#define RT_CARDLESS(name) __typeof__(name) *name;
    RT_CARDLESS_FUNCTIONS(RT_CARDLESS)
#undef RT_CARDLESS
};
extern struct rt_cardless rt_cardless;

// Another function that only some drivers export, or NULL. Asks the dynamic loader, so no lock
// should be held.
void *rt_driver_symbol(const char *name);

static inline bool rt_driver_is_ready(void)
{
    return __builtin_expect(__atomic_load_n(&rt_driver_state, __ATOMIC_ACQUIRE) == RT_DRIVER_READY,
                            1);
}

static inline cudaError_t rt_driver_error_quietly(void)
{
    return rt_driver_is_ready() ? cudaSuccess : rt_driver_start_quietly();
}
