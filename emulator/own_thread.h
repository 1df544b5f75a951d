// SPDX-License-Identifier: MIT
// Threads of the driver's own.
#pragma once
#include <stdbool.h>

// Starts a thread that nobody waits for. The program's signals are not for it, and the program's exit does not wait for it. False: no thread could
// be made.
bool em_own_thread(void *(*thread_main)(void *), void *arg);
