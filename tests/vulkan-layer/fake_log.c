// SPDX-License-Identifier: MIT
// The state of the simulated driver.
#include "fake_log.h"

#include <stdarg.h>
#include <stdlib.h>

static int table;
struct fake_dispatchable fake_instance = {&table}, fake_device = {&table};
struct queue queue_a = {&table, "A"}, queue_b = {&table, "B"};
bool has_sync_fd;

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
uintptr_t signalled[SIGNALLED_MOST];
unsigned signalled_count;
static char log_text[4096];
static bool fences_stay;
static unsigned fail_in; // the n-th submission from now fails, if it is not 0
static VkResult failure;

void note(const char *format, ...)
{
    va_list arguments;
    size_t used = strlen(log_text);
    va_start(arguments, format);
    vsnprintf(log_text + used, sizeof log_text - used, format, arguments);
    va_end(arguments);
}

void fail_after(unsigned n, VkResult r)
{
    pthread_mutex_lock(&fake_lock);
    fail_in = n;
    failure = r;
    pthread_mutex_unlock(&fake_lock);
}

void expect_log(const char *expected)
{
    pthread_mutex_lock(&fake_lock);
    if (strcmp(log_text, expected)) {
        fprintf(stderr, "the driver got:\n%sexpected:\n%s", log_text, expected);
        EXPECT(false);
    }
    log_text[0] = 0;
    pthread_mutex_unlock(&fake_lock);
}

void clear_log(void)
{
    pthread_mutex_lock(&fake_lock);
    log_text[0] = 0;
    pthread_mutex_unlock(&fake_lock);
}

void signal_fences(bool at_once)
{
    pthread_mutex_lock(&fake_lock);
    fences_stay = !at_once;
    pthread_mutex_unlock(&fake_lock);
}

int submissions(void)
{
    int n = 0;
    pthread_mutex_lock(&fake_lock);
    for (const char *s = log_text; *s; s++)
        n += *s == '\n';
    pthread_mutex_unlock(&fake_lock);
    return n;
}

// ---- the driver

void note_list(const char *name, const VkSemaphore *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        note(" %s%d", name, (int)(uintptr_t)list[i]);
}

VkResult end_submission(VkFence fence)
{
    note(fence ? " fence\n" : "\n");
    if (fail_in && !--fail_in)
        return failure;
    if (fence && !fences_stay)
        signalled[signalled_count++ % SIGNALLED_MOST] = (uintptr_t)fence;
    return VK_SUCCESS;
}

VkResult time_out(uint64_t timeout_ns)
{
    while (timeout_ns == UINT64_MAX)
        pause();
    usleep((useconds_t)(timeout_ns / 1000));
    return VK_TIMEOUT;
}
