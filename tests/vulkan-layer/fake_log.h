// SPDX-License-Identifier: MIT
// The state of a simulated driver with two queues: handles, fences that are signalled, and a line
// of text for each call.
#pragma once
#include "fake_loader.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "hash_table.h"

struct queue {
    void *table;
    const char *name;
};

static int table;
static struct {
    void *table;
} fake_instance = {&table}, fake_device = {&table};
static struct queue queue_a = {&table, "A"};
static struct queue __attribute__((unused)) queue_b = {&table, "B"};
#define QUEUE(q) ((VkQueue) & (q))

static bool has_sync_fd; // the driver imports and exports SYNC_FD

// Guards the rest.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char log_text[4096];
static uintptr_t handles = 100;
static uintptr_t signalled[64]; // fences
static unsigned signalled_count;
static bool fences_stay;
static unsigned fail_in; // the n-th submission from now fails, if it is not 0
static VkResult failure;

static void note(const char *format, ...)
{
    va_list arguments;
    size_t used = strlen(log_text);
    va_start(arguments, format);
    vsnprintf(log_text + used, sizeof log_text - used, format, arguments);
    va_end(arguments);
}

// Makes the n-th submission from now fail.
static inline void fail_after(unsigned n, VkResult r)
{
    pthread_mutex_lock(&lock);
    fail_in = n;
    failure = r;
    pthread_mutex_unlock(&lock);
}

// Compares and clears the log.
static inline void expect_log(const char *expected)
{
    pthread_mutex_lock(&lock);
    if (strcmp(log_text, expected)) {
        fprintf(stderr, "the driver got:\n%sexpected:\n%s", log_text, expected);
        EXPECT(false);
    }
    log_text[0] = 0;
    pthread_mutex_unlock(&lock);
}

static inline void clear_log(void)
{
    pthread_mutex_lock(&lock);
    log_text[0] = 0;
    pthread_mutex_unlock(&lock);
}

// Whether a submission's fence is signalled at once, or never.
static inline void signal_fences(bool at_once)
{
    pthread_mutex_lock(&lock);
    fences_stay = !at_once;
    pthread_mutex_unlock(&lock);
}

// The number of lines in the log.
static inline int submissions(void)
{
    int n = 0;
    pthread_mutex_lock(&lock);
    for (const char *s = log_text; *s; s++)
        n += *s == '\n';
    pthread_mutex_unlock(&lock);
    return n;
}

// ---- the driver

static void note_list(const char *name, const VkSemaphore *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        note(" %s%d", name, (int)(uintptr_t)list[i]);
}

static VkResult end_submission(VkFence fence)
{
    note(fence ? " fence\n" : "\n");
    if (fail_in && !--fail_in)
        return failure;
    if (fence && !fences_stay)
        signalled[signalled_count++ % 64] = (uintptr_t)fence;
    return VK_SUCCESS;
}

// A wait for something that does not happen.
static VkResult time_out(uint64_t timeout_ns)
{
    while (timeout_ns == UINT64_MAX)
        pause();
    usleep((useconds_t)(timeout_ns / 1000));
    return VK_TIMEOUT;
}
