// SPDX-License-Identifier: MIT
// The library's one mutex.
#pragma once

// Guards the registry, and the driver's functions while they are stored.
//
// A thread must not enter the driver or the dynamic loader while it holds the mutex. Another thread
// that opens a library has the loader's lock, and waits for this mutex to register the library's
// kernels; the driver may wait for that lock, too.
//
// All signals are blocked while a thread holds the mutex. A handler that locked it would wait for
// its own thread, and if the handler forked, the mutex would stay locked in the child for ever.
void rt_lock(void);
void rt_unlock(void);
