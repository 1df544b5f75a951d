// SPDX-License-Identifier: MIT
// Messages of the log that callbacks of the program are due to get.
#pragma once
#include <cuda.h>
#include <stddef.h>

struct em_thread;

// Notes that the callbacks should get this message. Precondition: the lock of error.c held.
void em_log_due(CUlogLevel level, const char *message, size_t length);
// Calls the callbacks for the messages that they should get.
void em_log_deliver(struct em_thread *self);
