// SPDX-License-Identifier: MIT
// Messages for people about errors that the runtime finds itself.
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt.h"

_Static_assert(sizeof(struct rt_messages) == sizeof(cardlessReports), "messages are reports");

enum { SHOWN_MAX = 8 };

bool rt_may_write(unsigned *shown)
{
    const char *setting = secure_getenv("CARDLESS_DIAGNOSTICS");
    const bool wanted = setting && *setting ? strcmp(setting, "off") != 0
                                            : !rt_driver_is_loaded() || rt_cardless.cardlessReport;
    return wanted && __atomic_fetch_add(shown, 1, __ATOMIC_RELAXED) < SHOWN_MAX;
}

void rt_explain(unsigned *shown, cudaError_t code, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (rt_driver_is_loaded() && rt_cardless.cardlessReport) {
        rt_cardless.cardlessReport(shown, rt_cudaGetErrorName(code), text);
        return;
    }
    if (!rt_may_write(shown))
        return;
    const struct rt_entry *entry = rt_thread()->entry;
    fprintf(stderr, "cardless: %s: %s: %s\n", entry ? entry->name : "libcudart",
            rt_cudaGetErrorName(code), text);
}

void rt_messages_begin(struct rt_messages *messages)
{
    messages->text[0] = 0;
    if (rt_driver_is_loaded() && rt_cardless.cardlessReportsBegin)
        rt_cardless.cardlessReportsBegin((cardlessReports *)messages);
}

void rt_messages_end(struct rt_messages *messages)
{
    if (rt_driver_is_loaded() && rt_cardless.cardlessReportsEnd)
        rt_cardless.cardlessReportsEnd((cardlessReports *)messages);
}

cudaError_t rt_fail_held(const struct rt_messages *messages, CUresult result)
{
    const cudaError_t error = rt_error(result);
    if (error != cudaSuccess && messages->text[0])
        return rt_fail(error, "%s", messages->text);
    return error;
}
