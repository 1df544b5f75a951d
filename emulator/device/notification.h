// SPDX-License-Identifier: MIT
// Functions of the program that a driver calls if the process exceeds its budget of a device's
// memory. The simulated cards have no budgets, so they are registered and never called.
#pragma once
#include <cuda.h>

// Precondition of both: em_lock not held.
CUresult em_notification_register(CUdevice device, CUasyncCallback function, void *data,
                                  CUasyncCallbackHandle *out);
CUresult em_notification_unregister(CUdevice device, CUasyncCallbackHandle handle);
// Ends one of any device.
CUresult em_notification_end(CUasyncCallbackHandle handle);
