// SPDX-License-Identifier: MIT
// The pool of workers. They run no code of the program but kernels that are host functions, take no
// lock but the pool's and those of their parts, and are never required: a thread whose workers are
// busy, or could not be started, does all parts itself.
//
// A job is on the stack of the thread that runs it. While it is in the list, workers may join it:
//
//     job in the list ──▶ worker joins (helpers + 1) ──▶ takes parts ──▶ leaves (helpers - 1)
//     owner takes parts ──▶ takes the job out of the list ──▶ waits until helpers == 0
//
// A child after fork has no workers. It does not need them because the driver refuses to work
// there.
#include "workers.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "guard.h"
#include "lock.h"
#include "mutex.h"
#include "own_thread.h"
#include "pkey.h"
#include "policy.h"
#include "scheduler.h"

enum { WORKERS_MOST = 255 };

struct job {
    em_part_fn *part;
    void *argument;
    uint64_t count, next; // `next` is taken by whoever is free; atomic
    unsigned helpers;     // workers that have joined
    struct job *next_job;
};

// Guarded by `lock`, except for `most` and `cores`, which never change after `cores_once`.
static struct {
    struct dm_mutex lock;
    pthread_cond_t work, left; // there is a new job; a worker has left one
    struct job *jobs;          // that still have parts to take, the oldest first
    unsigned started, idle;
} pool = {.lock = DM_MUTEX_INITIALIZER(LEAF),
          .work = PTHREAD_COND_INITIALIZER,
          .left = PTHREAD_COND_INITIALIZER};

static pthread_once_t cores_once = PTHREAD_ONCE_INIT;
static unsigned most; // workers
static cpu_set_t cores;

// Those of the process, that is, of its first thread: the calling one may be bound to a single
// core.
static void count_cores(void)
{
    int count = sched_getaffinity(getpid(), sizeof cores, &cores) ? 1 : CPU_COUNT(&cores);
    most = count < 2 ? 0 : count - 1 < WORKERS_MOST ? (unsigned)count - 1 : WORKERS_MOST;
}

bool em_workers_may_help(void)
{
    pthread_once(&cores_once, count_cores);
    return most > 0;
}

// ---- parts ----

unsigned em_parts(uint64_t bytes, uint64_t units)
{
    if (units < 2 || !em_scheduler.policy->workers)
        return 1;
    if (!em_workers_may_help())
        return 1;
    uint64_t parts = bytes / (EM_WORKERS_MIN_B / 4);
    parts = parts < EM_PARTS_MAX ? parts : EM_PARTS_MAX;
    return (unsigned)(parts < units ? parts : units);
}

void em_part(uint64_t total, uint64_t unit, unsigned part, unsigned parts, uint64_t *from,
             uint64_t *count)
{
    uint64_t units = total / unit, per = units / parts, rest = units % parts;
    uint64_t first = per * part + (part < rest ? part : rest), end = first + per + (part < rest);
    *from = first * unit;
    *count = (part + 1 < parts ? end * unit : total) - *from;
}

// ---- jobs ----

static bool has_parts(const struct job *job)
{
    return __atomic_load_n(&job->next, __ATOMIC_RELAXED) < job->count;
}

static void take_parts(struct job *job)
{
    uint64_t index;
    while ((index = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED)) < job->count) {
        if (!job->part(job->argument, index)) {
            __atomic_store_n(&job->next, job->count, __ATOMIC_RELAXED);
            return;
        }
    }
}

static struct job *first_with_parts(void)
{
    struct job *job = pool.jobs;
    while (job && !has_parts(job))
        job = job->next_job;
    return job;
}

static void *worker_main(void *unused)
{
    (void)unused;
    dm_mutex_lock(&pool.lock);
    for (;;) {
        struct job *job = first_with_parts();
        if (!job) {
            const struct timespec end = em_own_thread_idle_end();
            pool.idle++;
            const bool in_time = !dm_mutex_wait_until(&pool.lock, &pool.work, &end);
            pool.idle--;
            if (!in_time && !first_with_parts())
                break;
            continue;
        }
        job->helpers++;
        dm_mutex_unlock(&pool.lock);
        uint32_t rights = dm_pkey_enter(); // each thread has its own
        take_parts(job);
        dm_pkey_leave(rights);
        dm_mutex_lock(&pool.lock);
        if (--job->helpers == 0)
            pthread_cond_broadcast(&pool.left);
    }
    pool.started--;
    dm_mutex_unlock(&pool.lock);
    return NULL;
}

static void enter_list(struct job *job)
{
    uint64_t wanted = job->count - 1; // this thread takes parts too
    struct job **at = &pool.jobs;
    dm_mutex_lock(&pool.lock);
    while (*at)
        at = &(*at)->next_job;
    *at = job;
    // On all cores: a thread inherits the cores of the one that starts it.
    while (pool.idle < wanted && pool.started < most &&
           em_own_thread("cardless worker", &cores, worker_main, NULL)) {
        pool.started++;
        wanted--;
    }
    for (uint64_t i = 0; i < wanted && i < pool.idle; i++)
        pthread_cond_signal(&pool.work);
    dm_mutex_unlock(&pool.lock);
}

static void leave_list(struct job *job)
{
    struct job **at = &pool.jobs;
    dm_mutex_lock(&pool.lock);
    while (*at != job)
        at = &(*at)->next_job;
    *at = job->next_job;
    while (job->helpers)
        dm_mutex_wait(&pool.lock, &pool.left);
    dm_mutex_unlock(&pool.lock);
}

void em_workers_run(em_part_fn *part, void *argument, uint64_t count)
{
    em_assert_unlocked();
    struct job job = {.part = part, .argument = argument, .count = count};
    int cancel;
    pthread_once(&cores_once, count_cores);
    // The wait is a cancellation point, and workers use the job on this stack.
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    bool shared = count > 1 && most && em_scheduler.policy->workers;
    if (shared)
        enter_list(&job);
    take_parts(&job);
    if (shared)
        leave_list(&job);
    pthread_setcancelstate(cancel, NULL);
}

// ---- guarded parts ----

struct guarded_job {
    em_guarded_fn *guarded;
    void (*fn)(void *);
    char *parts;
    uint64_t part_B;
    struct dm_mutex lock; // guards the rest
    int status;
    uint64_t part; // that had the fault
    struct dm_fault fault;
};

static bool run_guarded(void *argument, uint64_t index)
{
    struct guarded_job *g = argument;
    struct dm_fault fault;
    int status = g->guarded(g->fn, g->parts + index * g->part_B, &fault);
    if (!status)
        return true;
    dm_mutex_lock(&g->lock);
    if (!g->status || index < g->part) {
        g->status = status;
        g->part = index;
        g->fault = fault;
    }
    dm_mutex_unlock(&g->lock);
    return false;
}

int em_workers_run_guarded(em_guarded_fn *guarded, void (*fn)(void *), void *parts, uint64_t part_B,
                           unsigned count, struct dm_fault *fault)
{
    if (count == 1)
        return guarded(fn, parts, fault);
    struct guarded_job g = {.guarded = guarded,
                            .fn = fn,
                            .parts = parts,
                            .part_B = part_B,
                            .lock = DM_MUTEX_INITIALIZER(LEAF)};
    em_workers_run(run_guarded, &g, count);
    if (g.status)
        *fault = g.fault;
    return g.status;
}
