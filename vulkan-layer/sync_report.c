// SPDX-License-Identifier: MIT
// Reads how long a submission may wait in silence, and says what it waits for.
#include "sync_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"

enum { DEFAULT_MS = 10000, NS_PER_MS = DM_NS_PER_S / 1000 };

static pthread_once_t long_wait_once = PTHREAD_ONCE_INIT;
static uint64_t long_wait_ms = DEFAULT_MS;

// libcuda.so.1 reads the same setting, and reports other values of it.
static void read_long_wait(void)
{
    const char *value = secure_getenv("CARDLESS_DEADLOCK_MS");
    char *end = NULL;
    unsigned long long ms = value ? strtoull(value, &end, 10) : 0;
    if (value && end != value && !*end && ms <= UINT64_MAX / NS_PER_MS)
        long_wait_ms = ms;
}

uint64_t vl_long_wait_ns(void)
{
    pthread_once(&long_wait_once, read_long_wait);
    return long_wait_ms * NS_PER_MS;
}

static void (*report_function)(const char *text);

void vl_report_with(void (*report)(const char *text))
{
    __atomic_store_n(&report_function, report, __ATOMIC_RELEASE);
}

void vl_report_long_wait(VkQueue queue, const struct vl_use *use)
{
    const struct dm_semaphore *s = &use->payload->semaphore;
    char what[120] = "an external binary semaphore to be signalled";
    if (s->kind == DM_SEMAPHORE_TIMELINE)
        snprintf(what, sizeof what,
                 "an external timeline semaphore to reach %" PRIu64 "; its value is %" PRIu64,
                 use->value, dm_semaphore_value(s));
    char text[300];
    snprintf(text, sizeof text,
             "a submission to VkQueue %p has waited for %" PRIu64 " ms for %s. Check that the "
             "producer is alive and signals this semaphore, and that its signal does not itself "
             "wait for this submission",
             (void *)queue, long_wait_ms, what);
    void (*report)(const char *) = __atomic_load_n(&report_function, __ATOMIC_ACQUIRE);
    if (report)
        report(text);
    else
        fprintf(stderr, "cardless: [S05 undefined] %s\n", text);
}
