// SPDX-License-Identifier: MIT
// The state of a simulated driver with two queues: handles, fences that are signalled, and a line
// of text for each call.
#pragma once
#include "fake_loader.h"

#include <pthread.h>
#include <unistd.h>

#include "hash_table.h"

struct queue {
    void *table;
    const char *name;
};
struct fake_dispatchable {
    void *table;
};

extern struct fake_dispatchable fake_instance, fake_device;
extern struct queue queue_a, queue_b;
#define QUEUE(q) ((VkQueue) & (q))

extern bool has_sync_fd; // the driver imports and exports SYNC_FD

// ---- for the driver: precondition: fake_lock held, apart from time_out ----

enum { SIGNALLED_MOST = 64 };
extern pthread_mutex_t fake_lock;           // guards the rest, and the log
extern uintptr_t signalled[SIGNALLED_MOST]; // fences
extern unsigned signalled_count;

// Add text to the log: any, and the numbers of semaphores with a letter before each.
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void note_list(const char *name, const VkSemaphore *list, uint32_t count);
// Ends the line of a submission, signals the fence, and returns the submission's result.
VkResult end_submission(VkFence fence);
// A wait for something that does not happen.
VkResult time_out(uint64_t timeout_ns);

// ---- for tests ----

// Makes the n-th submission from now fail.
void fail_after(unsigned n, VkResult r);
// Compares and clears the log.
void expect_log(const char *expected);
void clear_log(void);
// Whether a submission's fence is signalled at once, or never.
void signal_fences(bool at_once);
// The number of lines in the log.
int submissions(void);
