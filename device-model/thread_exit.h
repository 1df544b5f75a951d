// SPDX-License-Identifier: MIT
// Calls functions of the program that may end their thread.
#pragma once
#include <stdbool.h>

// Calls fn(argument). Returns true if it has called pthread_exit, which then ends only this call:
// its clean-up handlers and destructors have run, and the thread goes on. Such a thread can no
// longer be cancelled. Calls may nest, but must not be made by fibers (fiber.h): if a fiber calls
// pthread_exit, the call of its thread that runs the fibers returns true. `landed`, if it is not
// NULL, is called with `argument` as soon as the thread is on the stack of this call again; it
// should call dm_fiber_left. Cancellation must be disabled.
bool dm_call_ends_thread(void (*fn)(void *), void *argument, void (*landed)(void *argument));
