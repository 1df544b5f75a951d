// SPDX-License-Identifier: MIT
// Messages for people about errors that the runtime finds itself. Those that the driver finds are
// the driver's to explain.
#pragma once
#include <stdbool.h>

#include "types.h"

// Reports why the call that runs fails, and returns `code`. The message names the argument, its
// value, the rule that it breaks and the fix, in this order, and has no full stop at its end.
#define rt_fail(code, ...)                                                                         \
    ({                                                                                             \
        static unsigned rt_shown_;                                                                 \
        const cudaError_t rt_code_ = (code);                                                       \
        rt_explain(&rt_shown_, rt_code_, __VA_ARGS__);                                             \
        rt_code_;                                                                                  \
    })

// Cardless's driver writes the message where CARDLESS_DIAGNOSTICS says. With another driver it goes
// to stderr if that variable is set, and without a driver also if it is not; "off" turns it off.
// `shown` belongs to the place that reports: it counts the messages, because at most 8 are shown.
void rt_explain(unsigned *shown, cudaError_t code, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

// Whether this library should write a message to stderr itself. Counts it in `shown`.
bool rt_may_write(unsigned *shown);

// For calls of the driver that may fail without the program's fault: until rt_messages_end, the
// driver's messages of this thread are stored, one a line, and not written.
struct rt_messages {
    char text[2048];
    void *reserved[2];
};
void rt_messages_begin(struct rt_messages *messages);
void rt_messages_end(struct rt_messages *messages);

// Writes the messages that were held while the driver failed with `result`. Returns its code.
cudaError_t rt_fail_held(const struct rt_messages *messages, CUresult result) __attribute__((cold));
