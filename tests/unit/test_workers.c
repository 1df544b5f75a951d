// SPDX-License-Identifier: MIT
// The pool of workers: every part runs once, several jobs share the pool, faults and stops end a
// job.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard.h"
#include "policy.h"
#include "scheduler.h"
#include "workers.h"

#define CHECK_EQ(got, want)                                                                        \
    do {                                                                                           \
        long long g_ = (long long)(got), w_ = (long long)(want);                                   \
        if (g_ != w_) {                                                                            \
            fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #got, g_, w_);    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { MANY = 10000 };

static bool count_part(void *counts, uint64_t index)
{
    atomic_fetch_add(&((atomic_int *)counts)[index], 1);
    return true;
}

static void test_every_part_once(void)
{
    static atomic_int counts[MANY];
    for (uint64_t count = 0; count <= MANY; count = count * 7 + 1) {
        memset(counts, 0, sizeof counts);
        em_workers_run(count_part, counts, count);
        for (uint64_t i = 0; i < MANY; i++)
            CHECK_EQ(counts[i], i < count);
    }
}

static void *run_many(void *unused)
{
    (void)unused;
    static __thread atomic_int counts[MANY];
    for (int round = 1; round <= 50; round++) {
        em_workers_run(count_part, counts, MANY);
        for (int i = 0; i < MANY; i++)
            CHECK_EQ(counts[i], round);
    }
    return NULL;
}

static void test_jobs_at_once(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, run_many, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

// A job whose parts last until another job is done, as a kernel may that waits for a copy.
static sem_t entered, leave;

static bool stay(void *unused, uint64_t index)
{
    (void)unused;
    (void)index;
    sem_post(&entered);
    sem_wait(&leave);
    sem_post(&leave);
    return true;
}

static void *run_staying(void *unused)
{
    (void)unused;
    em_workers_run(stay, NULL, 64);
    return NULL;
}

static void test_job_beside_a_long_one(void)
{
    static atomic_int counts[MANY];
    pthread_t thread;
    sem_init(&entered, 0, 0);
    sem_init(&leave, 0, 0);
    pthread_create(&thread, NULL, run_staying, NULL);
    sem_wait(&entered);
    em_workers_run(count_part, counts, MANY); // would hang if it waited for the workers
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(counts[i], 1);
    sem_post(&leave);
    pthread_join(thread, NULL);
}

static atomic_int begun;
static bool stop_at_ten(void *unused, uint64_t index)
{
    (void)unused;
    atomic_fetch_add(&begun, 1);
    return index < 10;
}

static void test_stop(void)
{
    em_workers_run(stop_at_ten, NULL, 1000000);
    CHECK_EQ(begun >= 11 && begun < 1000, 1);
}

// ---- faults ----

struct touch {
    volatile char *at;
};
static void touch(void *part)
{
    *((struct touch *)part)->at = 1;
}

static void test_first_fault(void)
{
    static char page[4096];
    struct touch parts[8];
    struct dm_fault fault;
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 8; i++)
            parts[i].at = i >= 3 ? (char *)(uintptr_t)(0x1000 + i) : page + i;
        int r = em_workers_run_guarded(dm_guarded, touch, parts, sizeof *parts, 8, &fault);
        CHECK_EQ(r, -EFAULT);
        // Parts are begun in order, so that the first one that faults is always among them.
        CHECK_EQ(fault.address, 0x1003);
        parts[3].at = page + 3; // a byte of its own
        r = em_workers_run_guarded(dm_guarded, touch, parts, sizeof *parts, 4, &fault);
        CHECK_EQ(r, 0);
    }
}

int main(void)
{
    alarm(60);
    em_scheduler.policy = &em_policy_parallel;
    CHECK_EQ(dm_guard_init(), 0);
    test_every_part_once();
    test_jobs_at_once();
    test_job_beside_a_long_one();
    test_stop();
    test_first_fault();
    printf("ok\n");
    return 0;
}
