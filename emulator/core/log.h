// SPDX-License-Identifier: MIT
// The log of errors: the manual's chapter "Error Log Management Functions". The newest messages
// stay in memory as lines. Each message is also appended to the file of CUDA_LOG_FILE, and passed
// to the program's callbacks when the call that it belongs to returns, because the driver may hold
// its locks before that.
#pragma once
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct em_thread;

// Adds a message. If the thread is in a call, the end of the call adds another one if it fails: the
// code that it returns. Precondition: the lock of error.c held.
void em_log_add(CUlogLevel level, const char *text);

// Where the next message will be: the iterator of the end.
CUlogIterator em_log_end(void);
// Writes the lines from *from on (NULL: all that are kept) into `text`, which has `capacity` bytes,
// with a final 0. If lines are missing at the beginning, the first line says so. Stores the number
// of bytes in *length and the iterator of the end in *end. Returns CUDA_ERROR_INVALID_VALUE if the
// iterator is not that of a message, or if `text` is too small for a message; *length is 0 then.
CUresult em_log_read(const CUlogIterator *from, char *text, size_t capacity, size_t *length,
                     CUlogIterator *end);
// Of the `text` of em_log_read for all lines.
size_t em_log_most(void);

// cuLogsRegisterCallback and cuLogsUnregisterCallback. When the second one returns, no other thread
// is in the callback any more, unless a callback makes the call. Both take em_lock.
CUresult em_log_register(CUlogsCallback function, void *data, CUlogsCallbackHandle *out);
CUresult em_log_unregister(CUlogsCallbackHandle handle);

// A call with messages, `entry`, is about to return: adds its result, and calls the callbacks,
// unless this call was made inside another one.
void em_log_leave(struct em_thread *self, const char *entry, bool inside, CUresult result);
