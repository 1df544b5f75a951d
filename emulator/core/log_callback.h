// SPDX-License-Identifier: MIT
// Messages of the log that callbacks of the program are due to get.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

struct em_thread;

// Notes that the callbacks should get the message of this number. Precondition: the lock of error.c
// held.
void em_log_due(CUlogIterator number);
// Calls the callbacks for the messages that they should get.
void em_log_deliver(struct em_thread *self);

enum { EM_LOG_MESSAGE_B = 2400 };
struct em_log_message {
    CUlogLevel level;
    size_t length;
    char text[EM_LOG_MESSAGE_B];
};
// Copies a message. Returns false if newer ones have taken its place.
bool em_log_message(CUlogIterator number, struct em_log_message *out);

// Held around a fork, so that the lock is free in the child, which has only the forking thread.
void em_log_lock(void);
void em_log_unlock(void);
// In the child, while the lock is held: other threads are in no callback any more.
void em_log_in_child(void);
