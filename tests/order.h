// SPDX-License-Identifier: MIT
// Programs for the ordering checker: work whose calls a test can name, and the reports that it
// expects.
#pragma once
#include "harness.h"

enum { ORDER_B = 64 };

static CUdeviceptr order_p, order_q; // ORDER_B bytes each
static CUstream order_a, order_b;    // non-blocking

static inline CUstream order_stream(unsigned flags)
{
    CUstream s;
    MUST(cuStreamCreate(&s, flags));
    return s;
}

static inline CUevent order_event(void)
{
    CUevent e;
    MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    return e;
}

static inline CUdeviceptr order_memory(size_t size)
{
    CUdeviceptr p;
    MUST(cuMemAlloc(&p, size));
    return p;
}

// With the settings that the test has chosen.
static inline CUcontext order_begin_here(void)
{
    CUcontext c = test_context();
    order_p = order_memory(ORDER_B);
    order_q = order_memory(ORDER_B);
    order_a = order_stream(CU_STREAM_NON_BLOCKING);
    order_b = order_stream(CU_STREAM_NON_BLOCKING);
    return c;
}

static inline CUcontext order_begin(void)
{
    test_setting("CARDLESS_CHECK", "order");
    return order_begin_here();
}

// The number of this thread's next call.
static inline unsigned order_next(void)
{
    unsigned n = 0;
    EXPECT_ERROR(cuMemsetD8Async(0, 0, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    const char *at = strstr(test_last_line(), "\"call\":\"call ");
    EXPECT(at && sscanf(at, "\"call\":\"call %u", &n) == 1);
    return n + 1;
}

// These return the number of their call.
static inline unsigned order_write(CUstream s)
{
    unsigned n = order_next();
    EXPECT_OK(cuMemsetD8Async(order_p, 1, ORDER_B, s));
    return n;
}

static inline unsigned order_read(CUstream s)
{
    unsigned n = order_next();
    EXPECT_OK(cuMemcpyDtoDAsync(order_q, order_p, ORDER_B, s));
    return n;
}

// The last line with this id that a driver has reported in this case, or "".
static inline const char *order_line(const char *id)
{
    char start[32];
    snprintf(start, sizeof start, "{\"id\":\"%s\"", id);
    return test_line_with(start);
}

// Expects that exactly one mistake was reported in this case: a call that is not ordered after an
// older one.
#define EXPECT_UNORDERED(id, older, newer)                                                         \
    do {                                                                                           \
        char old_[64], new_[64];                                                                   \
        snprintf(old_, sizeof old_, "(call %u)", older);                                           \
        snprintf(new_, sizeof new_, "\"call\":\"call %u\"", newer);                                \
        EXPECT_DIAGNOSTIC(id);                                                                     \
        const char *line_ = order_line(#id);                                                       \
        if (!strstr(line_, old_) || !strstr(line_, new_)) {                                        \
            test_failed(__FILE__, __LINE__);                                                       \
            printf("not %s after %s: %s\n", new_, old_, line_);                                    \
        }                                                                                          \
    } while (0)
