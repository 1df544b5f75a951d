// SPDX-License-Identifier: MIT
// Calls functions of the program that may end their thread.
#pragma once
#include <stdbool.h>

// Calls fn(argument). Returns true if it has called pthread_exit, which then ends only this call:
// its clean-up handlers and destructors have run, and the thread goes on. Such a thread can no
// longer be cancelled. Calls may nest, but must not be made by fibers (fiber.h): if a fiber calls
// pthread_exit, the call of its thread that runs the fibers returns true, and dm_fiber_left says
// so to the fibers. Cancellation must be disabled.
bool dm_call_ends_thread(void (*fn)(void *), void *argument);
